package handle_test

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// A heap is a model that passes on the statistics that the runtime raises after each
// collection, so that a test can compare them with its own counts.
type heap func(*clr.GCHeapStats)

func (heap) Kinds() []clr.Kind { return []clr.Kind{clr.KindGCHeapStats} }

func (h heap) Event(e *pass.Event) {
	if v, ok := pass.Decode[clr.GCHeapStats](e); ok {
		h(v)
	}
}

// read has a model and then a heap read a real trace.
func read(t *testing.T, name string, m pass.Model, h heap) {
	t.Helper()
	path := filepath.Join(cmp.Or(os.Getenv("GCTRAIL_SHARED"), "../../../shared"), "traces", "eventpipe", name+".nettrace.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skip("needs a large real trace: ", err)
	}
	in, err := open.File(path, open.Options{Want: pass.Wants(m, &h)})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := pass.Run(t.Context(), in.Source, m, &h); err != nil {
		t.Fatal(err)
	}
}

// The pins of each collection are as many as the runtime counts.
func TestPinsOfEachCollection(t *testing.T) {
	var pins handle.Pins
	var before int64
	collections := 0
	read(t, "net10-wks-pin-verbose", &pins, func(stats *clr.GCHeapStats) {
		collections++
		var all int64
		if p := pins.Processes(); len(p) > 0 {
			all = p[0].Count
		}
		if got := all - before; got != int64(stats.PinnedObjectCount) {
			t.Errorf("collection %d: %d pins, the runtime counts %d", collections, got, stats.PinnedObjectCount)
		}
		before = all
	})
	if collections < 250 {
		t.Errorf("%d collections, expected 257", collections)
	}
}

// TestOpenHandlesAtEachCollection: after each collection, as many handles are open as the
// runtime counts, except for the ones from before the trace, whose number follows from
// the first collection.
func TestOpenHandlesAtEachCollection(t *testing.T) {
	var handles handle.Handles
	collections := 0
	read(t, "net10-wks-handles-verbose", &handles, func(stats *clr.GCHeapStats) {
		collections++
		p := handles.Processes()
		if len(p) != 1 {
			t.Fatalf("%d processes, expected 1", len(p))
		}
		if c := p[0]; c.Before.Or(0)+c.Open.Or(0) != int64(stats.GCHandleCount) {
			t.Errorf("collection %d: %v open and %v from before, the runtime counts %d", collections, c.Open, c.Before, stats.GCHandleCount)
		}
	})
	if collections < 2 {
		t.Errorf("%d collections", collections)
	}
}
