package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestColumnUnits: the figures of a column are all in one unit, as are percentiles, and no two GCs
// that started at different times have the same start.
func TestColumnUnits(t *testing.T) {
	b := newTab(t, size{1280, 1600})
	b.open(pageOf(t, fixture("net10-wks-fragment-collect.nettrace.gz")))
	b.wait(`document.querySelectorAll(".grid .rows .row").length > 10`)
	units := eval[map[string]string](b, `(() => {
		const rows = [...document.querySelectorAll(".grid .rows .row")].map((r) => [...r.children].map((c) => c.textContent));
		const units = [...document.querySelectorAll("[role=columnheader]")].map((h, i) => [h.textContent.replace(/ [▴▾]/, ""), [...new Set(rows.map((r) => r[i].split(" ")[1]).filter(Boolean))].join(" ")]);
		const percentiles = [...document.querySelectorAll(".percentiles tbody tr:not(:last-child) td")].map((e) => e.textContent.split(" ")[1]).filter(Boolean);
		return Object.fromEntries([...units, ["percentiles", [...new Set(percentiles)].join(" ")]]);
	})()`)
	for _, column := range []string{"start", "pause", "suspend", "before", "after", "freed", "promoted", "allocated", "percentiles"} {
		if units[column] == "" || strings.Contains(units[column], " ") {
			b.Errorf("%s is in %q", column, units[column])
		}
	}
	starts := eval[[]string](b, `[...document.querySelectorAll(".grid .rows .row")].map((r) => r.children[1].textContent)`)
	seen := make(map[string]bool)
	for _, start := range starts {
		if seen[start] {
			b.Errorf("two GCs start at %s", start)
		}
		seen[start] = true
	}
}

// TestTallBarsBehind: where bars of pauses overlap, the taller one is behind the other.
func TestTallBarsBehind(t *testing.T) {
	b := newTab(t, size{360, 740})
	b.must2(chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: barsDrawn}))
	b.open(pageOf(t, fixture("net10-wks-web-collect.nettrace.gz")) + "#axis=linear")
	b.wait(`bars.length > 20`)
	b.settle()
	if rising := eval[int](b, `bars.filter((height, i) => i > 0 && height > bars[i - 1]).length`); rising > 0 {
		b.Errorf("%d of %d bars are drawn over a shorter one", rising, eval[int](b, `bars.length`))
	}
}

// barsDrawn notes the heights of the bars in the chart of pauses, in the order in which they are
// drawn.
const barsDrawn = `
	window.bars = [];
	const fill = CanvasRenderingContext2D.prototype.fillRect;
	CanvasRenderingContext2D.prototype.fillRect = function (...box) {
		if (this.canvas.closest("#chart-pauses")) bars.push(box[3]);
		return fill.apply(this, box);
	};
	const clear = CanvasRenderingContext2D.prototype.clearRect;
	CanvasRenderingContext2D.prototype.clearRect = function (...box) {
		if (this.canvas.closest("#chart-pauses")) bars.length = 0;
		return clear.apply(this, box);
	};
`

// TestWheel: the wheel with Ctrl zooms the charts at the pointer, and without it scrolls the page.
func TestWheel(t *testing.T) {
	b := newTab(t, size{1280, 900})
	b.open(pageOf(t, fixture("net10-wks-web-collect.nettrace.gz")))
	b.wait(`document.querySelector("#chart-pauses .u-over")`)
	const turn = `document.querySelector("#chart-pauses .u-over").dispatchEvent(new WheelEvent("wheel", { deltaY: %d, ctrlKey: %t, cancelable: true }))`
	for _, step := range []struct {
		by           int
		ctrl, zoomed bool
	}{{-120, false, false}, {-120, true, true}, {120, true, false}} {
		if scrolls := eval[bool](b, fmt.Sprintf(turn, step.by, step.ctrl)); scrolls == step.ctrl {
			b.Errorf("the wheel by %d, with Ctrl %t, scrolls the page: %t", step.by, step.ctrl, scrolls)
		}
		b.settle()
		b.hash(step.zoomed, "zoomFrom=")
	}
}
