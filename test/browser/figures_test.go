package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestFigures: the figures of a page say which of them are estimates or lower bounds, as the report
// does, and which induced GCs need not have blocked.
func TestFigures(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{1280, 900})
	b.open(pageOf(t, fixture(trace)))
	b.settle()
	figures := eval[map[string]string](b, `Object.fromEntries([...document.querySelectorAll(".figures .figure")].map((f) =>
		[f.querySelector("dt").textContent, f.querySelector("dd").textContent.replaceAll("\u00a0", " ")]))`)
	for label, want := range map[string]string{"allocated": ">1.66 GB", "freed": ">1.65 GB", "induced": "101 not forced"} {
		if !strings.Contains(figures[label], want) {
			t.Errorf("%s is %q, want %q", label, figures[label], want)
		}
	}
	if title := eval[string](b, `[...document.querySelectorAll(".figures abbr")].find((e) => e.textContent === "induced")?.title ?? ""`); !strings.Contains(title, "GC.AddMemoryPressure") {
		t.Errorf("induced is explained as %q", title)
	}
	if got := eval[string](b, `document.querySelector("#chart-rate").ariaLabel`); !strings.Contains(got, ">1.66 GB allocated") {
		t.Errorf("the chart of allocation rates says %q", got)
	}
}

// TestFiguresOfPart: a lower bound of a selection leaves out the error of estimates, as that of the
// report does.
func TestFiguresOfPart(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{1280, 900})
	b.open(pageOf(t, fixture("net10-killed-web.nettrace.gz")))
	b.settle()
	const freed = `[...document.querySelectorAll(".figures .figure")].find((f) => f.querySelector("dt").textContent === "freed").querySelector("dd").textContent.replaceAll("\u00a0", " ")`
	const want = ">2.52 GB"
	if got := eval[string](b, freed); got != want {
		t.Errorf("the process freed %s, want %s", got, want)
	}
	b.focus("#where")
	b.key("pause>0us" + kb.Enter)
	b.hash(true, "where=pause")
	b.settle()
	if got := eval[string](b, freed); got != want {
		t.Errorf("all GCs, selected, freed %s, want %s", got, want)
	}
}
