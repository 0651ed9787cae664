package whatif

import (
	"math"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

func TestGrowth(t *testing.T) {
	for _, tt := range []struct {
		survival, limit, most, want float32
	}{
		{0, 9, 20, 9},
		{0.05, 9, 20, 15.545455},
		{0.0644, 9, 20, 20}, // from 11/171 on
		{1, 9, 20, 20},
		{0, 1.2, 1.8, 1.2},
		{1, 1.2, 1.8, 1.8},
	} {
		if got := growth(tt.survival, tt.limit, tt.most); math.Abs(float64(got-tt.want)) > 1e-3 {
			t.Errorf("survival %g, limit %g: %g, want %g", tt.survival, tt.limit, got, tt.want)
		}
	}
}

func TestLinear(t *testing.T) {
	for _, tt := range []struct{ used, seconds, want float64 }{
		{1, 1, 100}, {0.95, 1, 100}, {0, 1, 100}, {0.5, 0, 150}, {0.5, 150, 125}, {0.5, 300, 100}, {0.5, 900, 100},
	} {
		if got := linear(tt.used, 100, 200, tt.seconds); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%g used, %g s ago: %g, want %g", tt.used, tt.seconds, got, tt.want)
		}
	}
}

func TestStatic(t *testing.T) {
	if s := statics(true)[gen0]; s.Limit != 20 || s.MaxLimit != 40 {
		t.Errorf("gen 0 of server GC: %+v", s)
	}
	if s := statics(false); s[gen0].Limit != 9 || s[gen1].Min != 256*kib {
		t.Errorf("workstation GC: %+v", s)
	}
}

// TestAdapted has the examples of the documentation of DATAS: an application of 1 GB has
// 474 MB, one of 1 MB ten times its size.
func TestAdapted(t *testing.T) {
	for size, want := range map[float64]float64{1e9: 474e6, 1e6: 10e6} {
		if got := adapted(size, 5); math.Abs(got-want) > 1e6 {
			t.Errorf("%g bytes: %g, want %g", size, got, want)
		}
	}
}

func TestOld(t *testing.T) {
	s := statics(false)
	for _, tt := range []struct {
		name string
		g    int
		in   inputs
		want float64
	}{
		{"empty", gen2, inputs{used: 1}, 256 * kib},
		{"all survive", gen2, inputs{begin: 100e6, out: 100e6, size: 100e6, used: 1}, 80e6},
		{"free space", gen2, inputs{begin: 100e6, out: 100e6, size: 100e6, free: 100e6, used: 1}, 80e6 / 3.0},
		{"memory conserved", gen2, inputs{begin: 100e6, out: 100e6, size: 100e6, free: 100e6, used: 1, conserve: 5}, 50e6},
		{"large objects", loh, inputs{begin: 10e6, out: 10e6, size: 10e6, used: 1}, 35e6},
		{"as much as gen 2", loh, inputs{begin: 10e6, out: 1, size: 1, used: 1, gen2: 60e6}, 60e6},
	} {
		if got := s[tt.g].old(tt.g, &tt.in); math.Abs(got-tt.want) > 64 {
			t.Errorf("%s: %.0f, want %.0f", tt.name, got, tt.want)
		}
	}
}

// TestOddBudgets gives a Recomputer collections as damaged traces have them: without generations,
// heaps, times, numbers in order.
func TestOddBudgets(t *testing.T) {
	part := func(n int) gc.HeapPart { return gc.HeapPart{Generations: make([]gc.Generation, n)} }
	full := part(generations)
	for i := range full.Generations {
		full.Generations[i] = gc.Generation{Before: 10, FreeBefore: 20, Out: 1 << 50, In: 5, Budget: 1 << 40, After: gc.Some(int64(3)), Fragmentation: gc.Some(int64(9))}
	}
	var l BudgetLearner
	p := &gc.Process{Server: gc.Some(true), Adaptation: gc.Adaptation{Tunings: 1}, Settings: new(clr.GCSettingsRundown)}
	r := NewRecomputer(l.Limits(p))
	number := uint32(9)
	for _, heaps := range [][]gc.HeapPart{nil, {part(0)}, {part(2)}, {part(3), full}, {full}, {full, full}} {
		for _, generations := range [][]gc.Generation{nil, make([]gc.Generation, 1), full.Generations} {
			for _, kind := range []gc.Kind{gc.Blocking, gc.Background, gc.Foreground} {
				for g := -1; g < 3; g++ {
					c := gc.Collection{Process: p, Number: number, Kind: kind, PerHeap: heaps, Generations: generations}
					if g >= 0 {
						c.Generation = gc.Some(g)
					}
					number = number*7 + 3
					l.Add(&c)
					for _, b := range append(r.Next(&c), r.End()...) {
						if math.IsNaN(b.Recomputed) || b.Recomputed < 0 {
							t.Errorf("%+v", b)
						}
					}
				}
			}
		}
	}
}
