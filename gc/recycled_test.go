package gc_test

import (
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// TestReuse checks that the figures of collections do not depend on whether these have memory of
// their own. Live, because otherwise small traces end before any memory is free.
func TestReuse(t *testing.T) {
	for name, of := range map[string]func(t *testing.T, live, reuse bool) string{"traces": figuresOfTraces, "parts": figuresOfParts} {
		if of(t, true, true) != of(t, true, false) {
			t.Errorf("%s: other figures with Reuse", name)
		}
	}
}

// TestReuseMemory checks that Reuse saves most allocations, and that each collection has its own
// memory without it.
func TestReuseMemory(t *testing.T) {
	path := gunzipped(t, "../testdata/net10-wks-induced-collect.nettrace.gz")
	var allocs [2]float64
	for i, reuse := range []bool{false, true} {
		n := 0
		allocs[i] = testing.AllocsPerRun(1, func() {
			m := gc.Model{Live: true, Reuse: reuse}
			in, err := open.File(path, open.Options{Want: pass.Wants(&m), Head: pass.Head(&m), Runs: pass.Runs(&m)})
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			n = 0
			distinct := make(map[*gc.Collection]bool)
			for c, err := range m.Collections(in.Source) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				distinct[c] = true
			}
			if reuse == (len(distinct) == n) {
				t.Errorf("Reuse %v: %d collections in the memory of %d", reuse, n, len(distinct))
			}
		})
		allocs[i] /= float64(n)
	}
	if allocs[1] > allocs[0]/2 {
		t.Errorf("%.1f allocations a collection, %.1f with Reuse", allocs[0], allocs[1])
	}
	t.Logf("%.1f allocations a collection, %.1f with Reuse", allocs[0], allocs[1])
}
