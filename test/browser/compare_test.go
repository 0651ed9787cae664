package browser

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestCompare uses the controls of a comparison by mouse and keyboard: the selection
// narrows the figures of both sides, and each run opens as a page of its own.
func TestCompare(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "diff.html")
	gctrail(t, "diff", "--format", "html", "-o", path, fixture("net10-srv-web-1.nettrace.gz"), fixture("net10-srv-web-2.nettrace.gz"))
	viewsOf(t, "file://"+path, func(b *tab) {
		counts := func() string {
			b.settle()
			return eval[string](b, `[...document.querySelectorAll(".distribution tbody tr:nth-child(1) td")].map((e) => e.textContent).slice(0, 2).join(" ")`)
		}
		for _, part := range []string{".verdict .sentence", ".metrics tbody tr", "#chart-pauses canvas", "#chart-heap canvas", "#chart-rate canvas", ".shares path"} {
			b.at(part, 0.5, 0.5)
		}
		all := counts()
		for _, chart := range []string{"pauses", "heap", "rate"} {
			x0, y0 := b.at("#chart-"+chart+" .u-over", 0.3, 0.5)
			x1, _ := b.at("#chart-"+chart+" .u-over", 0.6, 0.5)
			b.must(chromedp.Do(b.ctx, chromedp.DragAndDropXY(x0, y0, x1, y0)))
			b.hash(true, "from=")
			if part := counts(); part == all {
				b.Errorf("dragging across %s selects all: %s", chart, part)
			}
			b.focus("#chart-" + chart)
			b.key("+")
			b.hash(true, "zoomFrom=")
			b.key("-")
			b.hash(false, "zoomFrom=")
			b.key(kb.Escape)
			b.hash(false, "from=")
			b.key(kb.ArrowRight)
			b.key(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift))
			b.hash(true, "from=")
			b.key(kb.Escape)
			b.hash(false, "from=")
		}
		b.focus("#where")
		b.key("gen=1" + kb.Enter)
		b.hash(true, "where=gen")
		if part := counts(); part == all {
			b.Errorf("a condition selects all: %s", part)
		}
		b.click(".toolbar .buttons button:nth-child(3)")
		b.hash(false, "where=")
		if again := counts(); again != all {
			b.Errorf("%s are selected after a reset, want %s", again, all)
		}
		if over := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			b.Errorf("the page is %d pixels too wide", over)
		}
		if cut := eval[int](b, `innerWidth > 620 ? 0 : document.querySelector(".metrics").scrollWidth - document.querySelector(".metrics").parentElement.clientWidth`); cut > 0 {
			b.Errorf("%d pixels of the metrics are cut", cut)
		}
		b.shoot("compare-" + filepath.Base(b.Name()))
		b.click(".processes tbody tr:nth-child(2) button")
		b.wait(`document.querySelector(".findings") && document.querySelector(".grid .rows .row")`)
		b.focus(".bar button")
		b.key(kb.Enter)
		b.wait(`document.querySelector(".metrics")`)
	})
}
