package perfetto

import (
	"testing"
	"time"
)

// Slices of a lane never overlap, whatever their order.
func TestLanes(t *testing.T) {
	p := &process{lanes: make(map[string][]lane)}
	for _, c := range []struct {
		from, to time.Duration
		want     string
	}{
		{0, 10, "A"},
		{100, 120, "A"}, // the last pause of a background collection
		{10, 20, "A"},
		{15, 30, "A, overlapping 1"},
		{12, 18, "A, overlapping 2"},
		{90, 101, "A, overlapping 1"},
		{90, 100, "A"},
		{20, 20, "A"},
	} {
		if got := p.lane("A", c.from, c.to); got != c.want {
			t.Errorf("from %d to %d is %q, expected %q", c.from, c.to, got, c.want)
		}
	}
	for i := range time.Duration(1000) {
		if got := p.lane("B", 10*i, 10*i+9); got != "B" {
			t.Fatalf("slice %d is on %q", i, got)
		}
	}
	if got := p.lane("B", 9990, 9995); got != "B, overlapping 1" {
		t.Errorf("a slice over the last one is on %q", got)
	}
	busy := p.lanes["B"][0].busy
	if n := len(busy); n > maxBusy {
		t.Errorf("%d slices are kept", n)
	}
	if first := busy[0].from; first != 10*(1000-maxBusy) {
		t.Errorf("the first slice that is kept begins at %d", first)
	}
}
