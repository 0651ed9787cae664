package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/gctrail/gctrail/internal/extent"
)

// sizes are the sizes of a phone, a laptop and a large screen.
var sizes = []size{{360, 740}, {1280, 900}, {3840, 2160}}

// TestOpens opens the page from a file: it shows everything, fits the window, and
// asks nobody for anything.
func TestOpens(t *testing.T) {
	t.Parallel()
	url := pageOf(t, fixture("net10-wks-stacks.nettrace.gz"))
	for i, of := range sizes {
		for j, scheme := range schemes {
			if !extent.Due(i+j, len(schemes)) {
				continue
			}
			t.Run(fmt.Sprintf("%d %s", of.width, scheme), func(t *testing.T) {
				b := newTab(t, of)
				b.media(scheme, "")
				b.open(url)
				for _, part := range []string{".verdict .sentence", ".figures", ".findings li", ".evidence", "#chart-pauses canvas", "#chart-heap canvas", "#chart-rate canvas", "#chart-committed canvas", ".percentiles td", ".histogram rect", ".grid .rows .row", ".allocations .types tr", ".flame canvas"} {
					b.at(part, 0.5, 0.5)
				}
				if over := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
					b.Errorf("the page is %d pixels too wide", over)
				}
				b.settle()
				b.shoot(fmt.Sprintf("opens-%d-%s", of.width, scheme))
				b.blameless("GET " + url)
			})
		}
	}
}

// TestWithoutScript: a browser that runs no scripts shows the same verdict, figures and
// findings.
func TestWithoutScript(t *testing.T) {
	t.Parallel()
	for _, name := range []string{trace, "net10-lossy-handles.nettrace.gz", "net10-killed-web.nettrace.gz", "net8-srv-background.nettrace.gz"} {
		t.Run(name, func(t *testing.T) {
			url := pageOf(t, fixture(name))
			const shown = `[".verdict .sentence", ".figures dt", ".figures dd", ".findings .title", ".findings .rule", ".findings details > p:first-of-type"]
				.map((s) => s + ": " + [...document.querySelectorAll(s)].map((e) => e.innerText.replaceAll("\u00a0", " ").replaceAll("\n", " ")).join(" | ")).join("\n")`
			b := newTab(t, size{360, 740})
			b.must2(chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
			b.must(chromedp.Do(b.ctx, chromedp.Navigate(url)))
			without := eval[string](b, shown)
			if !eval[bool](b, `document.documentElement.dataset.ready === undefined && document.querySelector(".unscripted").innerText.includes("need JavaScript")`) {
				t.Error("the page does not say that it lacks scripts")
			}
			if over := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				b.Errorf("the page is %d pixels too wide", over)
			}
			b.shoot("without-script-" + name)
			b.must2(chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{}))
			b.open(url)
			if with := eval[string](b, shown); with != without {
				t.Errorf("without scripts:\n%s\nwith scripts:\n%s", without, with)
			}
		})
	}
}
