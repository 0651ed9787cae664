package browser

import (
	"math"
	"testing"
)

// TestPercentileCondition: a percentile in a condition is the nearest rank of all GCs.
func TestPercentileCondition(t *testing.T) {
	t.Parallel()
	b := opened(t, size{1280, 900})
	all := b.selected()
	for text, share := range map[string]float64{"pause>p99": 0.99, "pause>P50": 0.5, "pause>p99.9": 0.999, "heap>p90 and gen>p0": -1, "gen=0 and pause>p99": -2} {
		b.where(text)
		if said := eval[string](b, `document.querySelector(".status .error")?.textContent ?? ""`); said != "" {
			t.Errorf("%s: %s", text, said)
		}
		got := b.selected()
		if want := all - int(math.Ceil(share*float64(all))); share > 0 && got != want { // no two of these pauses are equally long
			t.Errorf("%s selects %d of %d, want %d", text, got, all, want)
		}
		if share < 0 && got >= all/2 {
			t.Errorf("%s selects %d of %d", text, got, all)
		}
	}
}

// TestMove: W zooms in around the cursor, A and D move by a quarter, and S zooms out until all
// is shown.
func TestMove(t *testing.T) {
	t.Parallel()
	b := opened(t, size{1280, 900})
	b.focus("#chart-pauses")
	times := func() (from, to float64) {
		at := eval[[]float64](b, `["zoomFrom", "zoomTo"].map((k) => Number(new URLSearchParams(location.hash.slice(1)).get(k)))`)
		return at[0], at[1]
	}
	b.key("w")
	b.hash(true, "zoomFrom=")
	b.settle()
	from, to := times()
	b.key("d")
	b.settle()
	later, end := times()
	if step := (to - from) / 4; math.Abs(later-from-step) > 2 || math.Abs(end-to-step) > 2 {
		t.Errorf("D moves from %v, %v to %v, %v", from, to, later, end)
	}
	for range 5 {
		b.key("a")
	}
	b.settle()
	if from, to = times(); from != 0 || math.Abs(to-(end-later)) > 2 {
		t.Errorf("A moves to %v, %v", from, to)
	}
	b.key("s")
	b.hash(false, "zoomFrom=")
}
