package watch

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
)

// collectionsOf returns the collections of a trace.
func collectionsOf(tb testing.TB, path string) []*gc.Collection {
	tb.Helper()
	var list []*gc.Collection
	var model gc.Model
	for c, err := range model.Collections(nettrace.NewReader(bytes.NewReader(tracetest.Gunzip(tb, path)), nettrace.Options{Want: gc.Wants})) {
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// watching returns a row of a process that was just attached to.
func watching() *row {
	return &row{process: &diag.Process{}, state: Watched, attached: noon, start: noon}
}

// TestAskingEarly: snapshots after each collection do not change later ones.
func TestAskingEarly(t *testing.T) {
	list := collectionsOf(t, "../../testdata/net10-killed-web.nettrace.gz")
	shown := func(r *row) string {
		p := *r.snapshot(noon.Add(time.Hour))
		p.Process, p.Recent, p.Last, p.Sized = nil, nil, nil, nil
		return fmt.Sprintf("%+v", p)
	}
	asked := watching()
	for n := range list {
		asked.add(list[n])
		got := shown(asked)
		fresh := watching()
		for _, c := range list[:n+1] {
			fresh.add(c)
		}
		if want := shown(fresh); got != want {
			t.Fatalf("after %d collections, asked before:\n%s\nasked now:\n%s", n+1, got, want)
		}
	}
}

// repeated returns a row that has seen n collections.
func repeated(list []*gc.Collection, n int) *row {
	r := watching()
	const apart = 10 * time.Millisecond
	for i := range n {
		c := *list[i%len(list)]
		by := apart*time.Duration(i) - c.Start.Or(0)
		c.Number = uint32(i + 1)
		c.Start = gc.Some(c.Start.Or(0) + by)
		c.End = gc.Some(c.End.Or(0) + by)
		c.PauseStart = gc.Some(c.PauseStart.Or(0) + by)
		c.Pauses = append([]gc.Pause(nil), c.Pauses...)
		for j := range c.Pauses {
			c.Pauses[j].Start += by
		}
		r.add(&c)
	}
	return r
}

// TestSnapshotIsBounded: the memory of a snapshot does not grow with the collections so
// far.
func TestSnapshotIsBounded(t *testing.T) {
	list := collectionsOf(t, "../../testdata/net10-killed-web.nettrace.gz")
	allocated := func(n int) uint64 {
		r := repeated(list, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			r.snapshot(noon.Add(time.Hour))
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / 10
	}
	if few, many := allocated(1000), allocated(30_000); many > few+few/4 {
		t.Errorf("%d bytes after 30,000 collections, %d after 1,000", many, few)
	}
}

// BenchmarkSnapshot measures a refresh of top for one process.
func BenchmarkSnapshot(b *testing.B) {
	list := collectionsOf(b, "../../testdata/net10-killed-web.nettrace.gz")
	for _, n := range []int{1000, 30_000, 100_000} {
		r := repeated(list, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.snapshot(noon.Add(time.Hour))
			}
		})
	}
}
