package browser

import (
	"fmt"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// leads clicks a method and a type of a trace: an editor shows the line of the workspace that
// declares them.
func (w *workbench) leads() {
	w.leadsTo(`.findings td.code`, "<Web>", 5)
	w.leadsTo(`.types td.code button`, "OrderLine", 3, chromedp.ButtonModifiers(chromedp.ModifierCtrl))
}

// leadsTo clicks the first name that a selector finds with a text, and waits for a line of the
// source. All parts of the page are unfolded first, because a name may be in one.
func (w *workbench) leadsTo(selector, text string, line int, opts ...chromedp.MouseOption) {
	w.Helper()
	w.open("stacks.nettrace")
	w.wait(reportedIn(`d.querySelector(".types td.code")`))
	eval[bool](w.tab, reportedIn(`d.querySelectorAll("details").forEach((e) => { e.open = true; }) ?? true`))
	w.clickOn(reportedIn(fmt.Sprintf(`[...d.querySelectorAll(%q)].find((e) => e.textContent.includes(%q))`, selector, text)), opts...)
	w.active("GcLoad.cs")
	w.wait(fmt.Sprintf(`document.getElementById("status.editor.selection")?.textContent.startsWith("Ln %d,")`, line))
}

// keyboard opens a trace, unfolds a finding and leaves the editor with keys alone.
func (w *workbench) keyboard() {
	w.run("View: Close All Editors")
	w.run("File: Focus on Files Explorer")
	w.wait(`document.activeElement?.closest(".explorer-folders-view")`)
	w.key(kb.Home)
	const focused = `document.querySelector(".explorer-folders-view .monaco-list-row.focused")`
	const found = focused + `?.getAttribute("aria-label").startsWith("stacks.nettrace")`
	for i := 0; i < 40 && !eval[bool](w.tab, "!!"+found); i++ {
		before := eval[string](w.tab, focused+`?.id ?? ""`)
		w.key(kb.ArrowDown)
		w.soon(fmt.Sprintf(focused+`?.id !== %q`, before)) // a key is lost while the list is drawn anew
	}
	w.wait(found)
	w.key(kb.Enter)
	w.active("stacks.nettrace")
	w.wait(reportedIn(`d.querySelector(".findings summary")`))
	const finding = `d.querySelector(".findings details:has(> summary:focus)")`
	for range 60 {
		w.key(kb.Tab)
		if eval[bool](w.tab, "!!"+reportedIn(finding)) {
			break
		}
	}
	w.wait(reportedIn(finding))
	open := eval[bool](w.tab, reportedIn(finding+".open"))
	w.key(kb.Enter)
	w.wait(reportedIn(fmt.Sprintf(finding+`.open === %t`, !open)))
	w.palette() // which VS Code opens although the report has the focus
	w.key(kb.Escape)
}

// looks checks with axe that an editor and the report in it have no serious fault, in light and
// dark, wide and narrow windows, and that they fit them.
func (w *workbench) looks() {
	w.open("stacks.nettrace")
	for _, theme := range []string{"light", "dark"} {
		w.wait(reportedIn(fmt.Sprintf(`d.documentElement.dataset.theme === %q`, theme)))
		for _, of := range []size{{1400, 900}, {700, 900}} {
			w.must(chromedp.Do(w.ctx, chromedp.EmulateViewport(of.width, of.height)))
			w.settle()
			w.shoot(fmt.Sprintf("code-%s-%d", theme, of.width))
			w.wait(reportedIn(`d.documentElement.scrollWidth <= d.defaultView.innerWidth`))
			w.accessible(theme)
		}
		w.run("Preferences: Toggle between Light/Dark Themes")
	}
	w.must(chromedp.Do(w.ctx, chromedp.EmulateViewport(1400, 900)))
}

// accessible fails the test for serious and critical violations that axe finds in the editor,
// and in the report in it.
func (w *workbench) accessible(state string) {
	w.Helper()
	if !w.axe {
		w.Skip("axe did not run: npm ci in test/browser installs it")
	}
	w.accessibleFrames(state, viewed("v"), reportedIn("d"))
}
