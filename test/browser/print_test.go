package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A paper is the state of the page while it is printed.
type paper struct {
	Folded int     `json:"folded"` // findings
	Widths []int   `json:"widths"` // of charts
	Ink    float64 `json:"ink"`    // the lightest opaque pixel beside the first chart, of 255
}

// noteBeforePrint notes the state of the page each time it is printed, after the page has
// changed it.
const noteBeforePrint = `(() => {
	window.papers = [];
	addEventListener("beforeprint", () => {
		const charts = [...document.querySelectorAll(".chart canvas")];
		const { data } = charts[0].getContext("2d").getImageData(0, 0, 50 * devicePixelRatio, charts[0].height);
		let ink = 0;
		for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) ink = Math.max(ink, (data[i] + data[i + 1] + data[i + 2]) / 3);
		papers.push({
			folded: document.querySelectorAll(".findings details:not([open])").length,
			widths: charts.map((c) => Math.round(c.width / devicePixelRatio)),
			ink,
		});
	});
	return true;
})()`

// TestPrintAgain: a second printing, after the page was used, is as the first: all findings are
// open, and charts are dark on white and as wide as paper. Afterwards everything is as before.
func TestPrintAgain(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{1280, 900})
	b.media("dark", "")
	b.open(pageOf(t, fixture(trace)))
	b.wait(`document.querySelector("#chart-committed canvas") && document.querySelector(".grid .rows .row")`)
	b.settle()
	eval[bool](b, noteBeforePrint)
	const open = `document.querySelectorAll(".findings details[open]").length`
	const wide = `[...document.querySelectorAll(".chart canvas")].every((c) => c.width > 900 * devicePixelRatio)`
	before := eval[int](b, open)
	print := func(opened int) paper {
		b.Helper()
		if pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF()); err != nil || len(pdf) < 10_000 {
			b.Errorf("%d bytes: %v", len(pdf), err)
		}
		b.wait(wide)
		if got := eval[int](b, open); got != opened {
			b.Errorf("%d findings are open after printing, were %d", got, opened)
		}
		papers := eval[[]paper](b, "papers")
		return papers[len(papers)-1]
	}
	first := print(before)
	b.click(".findings li:nth-child(4) summary")
	b.focus("#where")
	b.key("gen=2" + kb.Enter)
	b.hash(true, "where=gen")
	b.settle()
	second := print(before + 1)
	for _, p := range []paper{first, second} {
		if p.Folded > 0 || p.Ink > 120 || len(p.Widths) < 5 || p.Widths[0] > 690 {
			b.Errorf("printed: %+v", p)
		}
	}
	if got := eval[int](b, "papers.length"); got != 2 {
		b.Errorf("%d papers", got)
	}
}
