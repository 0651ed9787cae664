package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// A workbench is a window of VS Code with the packed extension in it.
type workbench struct {
	*tab
	axe       bool     // is in its frames
	forbidden []string // by policies
}

// openFolder shows a folder in VS Code.
func openFolder(t *testing.T, address string) *workbench {
	t.Helper()
	w := &workbench{tab: ownTab(t, 15*time.Minute, size{1400, 900})}
	w.patience = 4 * time.Minute // a busy machine takes a minute for what takes a second
	w.must(chromedp.Listen(w.ctx, w.note))
	w.must2(chromedp.Call(w.ctx, log.Enable, cdp.Empty{}))
	w.axe = w.axeInFrames()
	w.must(chromedp.Do(w.ctx, chromedp.Navigate(address)))
	w.wait(`document.querySelector(".explorer-folders-view .monaco-list-row")`)
	// VS Code opens files as text until it knows the extension, and keeps them so.
	for i := 0; !eval[bool](w.tab, `document.querySelector("iframe.webview") !== null`); i++ {
		w.open([]string{"empty.etl", "notes.nettrace"}[i%2])
		w.wait(`document.querySelector("iframe.webview, .editor-instance .monaco-editor")`)
	}
	return w
}

// step runs a part of a test. Other parts run, too, where it fails, because VS Code starts slowly.
func (w *workbench) step(name string, f func()) {
	w.Helper()
	outer := w.T
	outer.Run(name, func(t *testing.T) {
		w.T = t
		f()
	})
	w.T = outer
	if outer.Failed() {
		w.key(kb.Escape) // what the part has left open
	}
}

// note records each violation of a policy, because the listeners of a webview's document are gone
// when it is written.
func (w *workbench) note(ev any) {
	entry, ok := ev.(*log.EventEntryAdded)
	if !ok || !strings.Contains(entry.Entry.Text, "Content Security Policy") {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forbidden = append(w.forbidden, entry.Entry.Text)
}

// The document of the webview that is shown.
const webview = `([...document.querySelectorAll("iframe.webview")].find((f) => f.checkVisibility({ visibilityProperty: true }))?.contentDocument?.querySelector("#active-frame")?.contentDocument)`

// viewed returns an expression that is evaluated with v as the document of the extension's editor.
func viewed(expression string) string {
	return `((v) => v?.body && (` + expression + `))(` + webview + `)`
}

// reportedIn returns an expression that is evaluated with d as the document of the report in an
// editor of the extension.
func reportedIn(expression string) string {
	return `((d) => d?.documentElement?.dataset.ready !== undefined && (` + expression + `))(` + webview + `?.querySelector("iframe")?.contentDocument)`
}

// row is the row of a file in the Explorer.
func row(name string) string {
	return fmt.Sprintf(`.explorer-folders-view .monaco-list-row[aria-label^=%q]`, name)
}

// click clicks an element of VS Code.
func (w *workbench) click(selector string, opts ...chromedp.MouseOption) {
	w.Helper()
	w.wait(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility()`, selector))
	x, y := w.at(selector, 0.5, 0.5)
	w.must(chromedp.Do(w.ctx, chromedp.MouseClickXY(x, y, opts...)))
}

// open clicks a file in the Explorer, and waits until an editor shows it.
func (w *workbench) open(name string) {
	w.Helper()
	w.click(row(name))
	w.active(name)
}

// active waits until the editor with a title is the active one.
func (w *workbench) active(title string) {
	w.Helper()
	w.wait(fmt.Sprintf(`((tab) => [tab?.dataset.resourceName, tab?.getAttribute("aria-label")].includes(%q))(document.querySelector(".tab.active"))`, title))
}

// clickOn clicks the element that an expression returns, which may be in frames.
func (w *workbench) clickOn(element string, opts ...chromedp.MouseOption) {
	w.Helper()
	w.wait(element)
	at := eval[[]float64](w.tab, fmt.Sprintf(`(() => {
		const e = %s;
		e.scrollIntoView({ block: "center", behavior: "instant" });
		const r = e.getBoundingClientRect();
		let [x, y] = [r.left + r.width / 2, r.top + r.height / 2];
		for (let frame = e.ownerDocument.defaultView.frameElement; frame; frame = frame.ownerDocument.defaultView.frameElement) {
			const outer = frame.getBoundingClientRect();
			[x, y] = [x + outer.left, y + outer.top];
		}
		return [x, y];
	})()`, element))
	w.must(chromedp.Do(w.ctx, chromedp.MouseClickXY(at[0], at[1], opts...)))
}

// press clicks the button of the extension's editor whose text begins with words.
func (w *workbench) press(words string) {
	w.Helper()
	w.clickOn(viewed(fmt.Sprintf(`[...v.querySelectorAll("button")].find((e) => e.textContent.startsWith(%q) && !e.disabled)`, words)))
}

// asking is an expression that is true while VS Code asks something with the words.
func asking(words string) string {
	return fmt.Sprintf(`((e) => e?.contains(document.activeElement) && (e.textContent + e.querySelector("input")?.placeholder).includes(%q))(document.querySelector(".quick-input-widget"))`, words)
}

// answer replaces the text that VS Code proposes with another, and takes it.
func (w *workbench) answer(question, text string) {
	w.Helper()
	w.wait(asking(question))
	w.key("a", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	w.key(text + kb.Enter)
}

// run runs a command of the palette. VS Code closes the palette when anything else takes the
// focus, as a report does that has just been read, so that it is opened again then.
func (w *workbench) run(command string) {
	w.Helper()
	for range 10 {
		if w.offered(command) {
			w.key(kb.Enter)
			return
		}
		w.key(kb.Escape)
	}
	w.Fatalf("the palette does not offer %q", command)
}

// offered opens the palette, types a command and reports whether the palette offers it.
func (w *workbench) offered(command string) bool {
	w.Helper()
	const typed = `document.activeElement?.closest(".quick-input-widget") && document.activeElement.value`
	w.key(kb.F1)
	if !w.soon(typed + ` === ">"`) {
		return false
	}
	w.key(command)
	return w.soon(fmt.Sprintf(typed+` === %q && document.querySelector(".quick-input-list .monaco-list-row.focused")?.textContent.includes(%q)`, ">"+command, command))
}

// soon reports whether an expression becomes true within some seconds.
func (w *workbench) soon(js string) bool {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 20*time.Second)
	defer cancel()
	return dotnettest.Poll(ctx, func() bool { return eval[bool](w.tab, "!!("+js+")") })
}

// palette opens the list of all commands.
func (w *workbench) palette() {
	w.Helper()
	w.key(kb.F1)
	w.wait(`document.activeElement?.closest(".quick-input-widget") && document.activeElement.value === ">"`)
}

// menu chooses an entry of an element's menu, and waits for its effect. VS Code closes menus when
// anything else takes the focus, and a menu that has just opened takes no button, so that both are
// tried again.
func (w *workbench) menu(selector, words, effect string) {
	w.Helper()
	w.wait(fmt.Sprintf(`(() => {
		if (%s) return true;
		if (performance.now() < window.again) return false;
		const entry = [...document.querySelectorAll(".context-view .action-label")].find((e) => e.textContent === %q);
		if (entry) {
			entry.dispatchEvent(new MouseEvent("mouseup", { bubbles: true, cancelable: true, view: window }));
			window.again = performance.now() + 3000;
			return false;
		}
		const e = document.querySelector(%q);
		const r = e.getBoundingClientRect();
		e.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true, button: 2, clientX: r.left + 9, clientY: r.top + 9, view: window }));
		window.again = performance.now() + 500;
		return false;
	})()`, effect, words, selector))
}

// notified waits for a notification that contains words, and removes it, because it would cover
// buttons.
func (w *workbench) notified(words string) {
	w.Helper()
	const all = `[...document.querySelectorAll(".notification-list-item")]`
	w.wait(fmt.Sprintf(all+`.some((e) => e.textContent.includes(%q))`, words))
	w.run("Notifications: Clear All Notifications")
	w.wait(all + `.length === 0`)
}

// blameless fails the test where VS Code or an editor did something that a policy forbids.
func (w *workbench) blameless() {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, what := range w.forbidden {
		w.Error(what)
	}
}
