package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestRequests points at requests with the keys and the mouse, and selects the time of one.
func TestRequests(t *testing.T) {
	t.Parallel()
	viewsOf(t, pageOf(t, fixture("net10-wks-requests.nettrace.gz")), func(b *tab) {
		b.wait(`document.querySelector("#chart-requests canvas")`)
		pointed := func() string { return eval[string](b, `document.querySelector(".pointed").textContent`) }
		eval[bool](b, `document.querySelector("#chart-requests").focus() ?? true`)
		b.key(kb.Home)
		const slowest = "GET /report · 18.2 ms · paused 9.44 ms (52.0 %) · trace 5242d63d1f5b17fa5e934c93a955fafd"
		if said := pointed(); !strings.Contains(said, slowest) {
			b.Errorf("the slowest request is %q", said)
		}
		b.key(kb.ArrowDown)
		if said := pointed(); !strings.Contains(said, "12.1 ms") {
			b.Errorf("the next one is %q", said)
		}
		b.key(kb.ArrowUp + kb.Enter)
		b.hash(true, "from=")
		b.settle()
		if n := b.selected(); n != 2 {
			b.Errorf("%d GCs are in the time of the slowest request, which two paused", n)
		}
		b.click(".chip button")
		b.hash(false, "from=")

		b.must(chromedp.Do(b.ctx, chromedp.ScrollIntoView("#chart-requests")))
		found := false
		for down := 0.05; down < 1 && !found; down += 0.1 {
			for across := 0.05; across < 1 && !found; across += 0.05 {
				x, y := b.at("#chart-requests .u-over", across, down)
				b.must(chromedp.Do(b.ctx, chromedp.MouseEvent("mouseMoved", x, y)))
				found = strings.Contains(pointed(), "GET /")
			}
		}
		if !found {
			b.Errorf("no request is found with the mouse")
		}
	})
}
