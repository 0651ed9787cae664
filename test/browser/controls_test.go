package browser

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/condition"
	"github.com/gctrail/gctrail/open"
)

const trace = "net10-wks-induced-collect.nettrace.gz"

// selected is how many collections are selected.
func (b *tab) selected() int {
	b.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(eval[string](b, `document.querySelector(".status b")?.textContent ?? "-1"`), ",", ""))
	b.must(err)
	return n
}

// opened opens the page of a trace.
func opened(t *testing.T, of size) *tab {
	t.Helper()
	b := newTab(t, of)
	b.open(pageOf(t, fixture(trace)))
	return b
}

// TestMouse uses every control with the mouse.
func TestMouse(t *testing.T) {
	for _, of := range sizes {
		t.Run(strconv.FormatInt(of.width, 10), func(t *testing.T) {
			b := opened(t, of)
			all := b.selected()

			x0, y0 := b.at("#chart-pauses .u-over", 0.3, 0.5)
			x1, _ := b.at("#chart-pauses .u-over", 0.6, 0.5)
			b.must(chromedp.Do(b.ctx, chromedp.DragAndDropXY(x0, y0, x1, y0)))
			b.wait(`location.hash.includes("from=") && location.hash.includes("to=")`)
			part := b.selected()
			if part <= 0 || part >= all {
				b.Errorf("dragging selects %d of %d", part, all)
			}
			b.click(".toolbar .buttons button:nth-child(1)")
			b.wait(`location.hash.includes("zoomFrom=")`)
			b.click(".toolbar .buttons button:nth-child(2)")
			b.wait(`!location.hash.includes("zoomFrom=")`)
			b.click(".percentiles tbody tr:nth-child(3) td button")
			b.wait(`location.hash.includes("pick=pause")`)
			if n := b.selected(); n <= 0 || n >= part {
				b.Errorf("p99 selects %d of %d", n, part)
			}
			b.click(".chip button")
			b.settle()
			b.click(".toolbar .buttons button:nth-child(3)")
			b.wait(`location.hash === ""`)
			if n := b.selected(); n != all {
				b.Errorf("%d are selected after a reset, want %d", n, all)
			}
			b.click(".findings li:nth-child(1) summary")
			b.click(".findings li:nth-child(1) summary")
			b.click(".show")
			b.wait(`location.hash.includes("pick=number")`)
			b.click(".show")
			b.wait(`!location.hash.includes("pick=")`)
			b.click(`.histogram g:nth-of-type(2)`)
			b.wait(`location.hash.includes("pick=pause")`)
			b.click(".chip button")
			b.click(".grid [role=columnheader]:nth-child(6) button")
			b.wait(`location.hash.includes("sort=-pause")`)
			b.click(".chooser summary")
			b.click(".chooser label:nth-of-type(1) input")
			b.wait(`location.hash.includes("columns=")`)
			b.click(".chooser summary")
			b.click(".grid .rows .row:nth-child(2)")
			b.wait(`document.querySelector(".details")`)
			b.click(`.details [aria-label="Next GC"]`)
			b.click(`.details [aria-label="Close the details"]`)
			b.wait(`!document.querySelector(".details")`)
			b.click(`.themes label:nth-of-type(3)`)
			b.wait(`document.documentElement.dataset.theme === "dark"`)
			b.shoot(fmt.Sprintf("mouse-%d", of.width))
			if len(b.faults) > 0 {
				b.Errorf("%q", b.faults)
			}
		})
	}
}

// TestKeyboard uses every control with the keyboard alone.
func TestKeyboard(t *testing.T) {
	for _, of := range sizes {
		t.Run(strconv.FormatInt(of.width, 10), func(t *testing.T) {
			b := opened(t, of)
			all := b.selected()

			b.focus("#where")
			b.key("gen=2" + kb.Enter)
			b.wait(`location.hash.includes("where=gen")`)
			b.settle()
			if n := b.selected(); n <= 0 || n >= all {
				b.Errorf("a condition selects %d of %d", n, all)
			}
			b.key(kb.Escape)
			b.wait(`location.hash === ""`)

			b.focus("#chart-heap")
			b.key(kb.Home)
			b.key(kb.ArrowRight)
			for range 5 {
				b.key(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift))
			}
			b.wait(`location.hash.includes("from=")`)
			b.settle()
			if n := b.selected(); n < 5 || n > 7 {
				b.Errorf("the keys select %d", n)
			}
			b.key("+")
			b.wait(`location.hash.includes("zoomFrom=")`)
			b.key("-")
			b.wait(`!location.hash.includes("zoomFrom=")`)
			b.key(kb.Enter)
			b.wait(`document.activeElement?.classList.contains("details")`)
			b.key(kb.ArrowRight)
			b.key(kb.Escape)
			b.wait(`!document.querySelector(".details") && document.activeElement?.id === "chart-heap"`)
			b.key(kb.Escape)
			b.wait(`location.hash === ""`)

			b.focus(".percentiles tbody tr:nth-child(2) button")
			b.key(kb.Enter)
			b.wait(`location.hash.includes("pick=pause")`)
			b.key(kb.Enter)
			b.wait(`!location.hash.includes("pick=")`)
			b.focus(".histogram g[tabindex='0']")
			b.key(kb.ArrowRight)
			b.key(kb.Enter)
			b.wait(`location.hash.includes("pick=pause")`)
			b.key(kb.Escape)
			b.wait(`!location.hash.includes("pick=")`)

			b.focus(".grid")
			b.key(kb.End)
			b.key(kb.ArrowUp)
			b.key(kb.Enter)
			b.wait(fmt.Sprintf(`location.hash.includes("gc=%d")`, all-2))
			b.key(kb.Escape)
			b.wait(`document.activeElement?.classList.contains("grid")`)

			// Everything else that can be used is reached by the tab key.
			reached := map[string]bool{}
			b.must(chromedp.Do(b.ctx, chromedp.Focus(chromedp.CSS(".skip"))))
			for range 250 {
				b.key(kb.Tab)
				at := eval[string](b, `(() => { const e = document.activeElement; return e.closest("section, header")?.className.split(" ")[0] ?? ""; })()`)
				reached[at] = true
				if at == "collections" && reached["distribution"] {
					break
				}
			}
			for _, part := range []string{"findings", "evidence", "toolbar", "charts", "distribution", "collections"} {
				if !reached[part] {
					b.Errorf("the tab key does not reach %s: %v", part, reached)
				}
			}
			if len(b.faults) > 0 {
				b.Errorf("%q", b.faults)
			}
		})
	}
}

// TestConditions: the page selects by a condition what gc/condition does, and refuses
// with the same words.
func TestConditions(t *testing.T) {
	in, err := open.File(fixture(trace), open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var model gc.Model
	var all []*gc.Collection
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	b := opened(t, size{1280, 900})
	for _, text := range []string{
		"pause>1ms", "pause <= 0.5 ms or gen=2 and kind!=background", "(gen=1 or gen=0) and heap>1MB", "reason=Induced", "reason != induced and suspend>=10.5us",
		"number>100 and number<=200", "promoted>1MiB", "rate>100MB/s", "load>=1%", "pinned>0", "committed<40MB and before>5MB", "freed>1kB and allocated>1kB", "duration<1s",
		"gen=3", "pause>5", "pauses>1ms", "kind>blocking", "(gen=1", "gen=1 or", "reason=Nothing", "gen=2)", "heap>1ms",
	} {
		eval[bool](b, fmt.Sprintf(`(() => { location.hash = new URLSearchParams({ where: %q }).toString(); return true; })()`, text))
		b.settle()
		want, err := condition.Parse(text)
		if err != nil {
			if got := eval[string](b, `document.querySelector(".status .error")?.textContent ?? ""`); got != err.Error() {
				t.Errorf("%s: %q, want %q", text, got, err)
			}
			continue
		}
		n := 0
		for _, c := range all {
			if want.Holds(c) {
				n++
			}
		}
		if got := b.selected(); got != n {
			t.Errorf("%s selects %d, want %d", text, got, n)
		}
	}
}

// TestLink: the address holds what is shown.
func TestLink(t *testing.T) {
	b := newTab(t, size{1280, 900})
	b.open(pageOf(t, fixture(trace)) + "#from=500000&to=1500000&where=gen%3D2&sort=-pause&columns=number,pause,after&theme=dark")
	if n := b.selected(); n <= 0 {
		t.Errorf("%d are selected", n)
	}
	if got := eval[string](b, `document.querySelector("#where").value + " " + document.documentElement.dataset.theme + " " + document.querySelectorAll("[role=columnheader]").length`); got != "gen=2 dark 3" {
		t.Error(got)
	}
}

// TestPrint: what is printed is light and has no controls.
func TestPrint(t *testing.T) {
	b := opened(t, size{1280, 900})
	b.media("dark", "print")
	if got := eval[string](b, `getComputedStyle(document.body).backgroundColor + " " + getComputedStyle(document.querySelector(".toolbar")).display`); got != "rgb(255, 255, 255) none" {
		t.Error(got)
	}
	b.shoot("print")
	if pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF()); err != nil || len(pdf) < 10_000 {
		t.Errorf("%d bytes: %v", len(pdf), err)
	}
}
