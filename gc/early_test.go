package gc_test

import (
	"iter"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// numbered sets the collection number in the latest SuspendEEBegin.
func (s *script) numbered(number byte) { s.events[len(s.events)-1].Payload[4] = number }

// prepare raises a suspension of 1 ms that prepares a collection.
func (s *script) prepare(ms float64, tid uint64, number byte) {
	s.suspendBegin(ms, tid, clr.SuspendReasonSuspendForGCPrep)
	s.numbered(number)
	s.suspendEnd(ms+0.1, tid)
	s.restartBegin(ms+1, tid)
	s.restartEnd(ms+1.2, tid)
}

// ephemeral raises a collection of gen0 of the given kind, in 1.2 ms.
func (s *script) ephemeral(ms float64, number uint32, kind clr.GCType) {
	first := len(s.events)
	s.blocking(ms, 1, number)
	for i := range s.events[first:] {
		if e := &s.events[first+i]; e.Desc.ID == 1 {
			e.Payload[12] = byte(kind)
		}
	}
}

// TestTraceBeginsInBackground checks whose pause a suspension for the preparation of a
// collection is, if a background collection may have begun before the trace.
func TestTraceBeginsInBackground(t *testing.T) {
	end := func(s *script) { s.end(40, 2, 5, 2); s.stats(40, 2, 700) }
	for _, tt := range []struct {
		name   string
		events func(s *script)
		of     uint32 // the collection whose pause it is
		other  int    // suspensions that belong to none
	}{
		{"it ends", func(s *script) { s.prepare(10, 2, 5); end(s) }, 5, 0},
		{"a foreground one begins later", func(s *script) { s.prepare(10, 2, 5); s.ephemeral(20, 8, clr.GCTypeForegroundGC) }, 5, 0},
		{"one began earlier", func(s *script) { s.ephemeral(5, 8, clr.GCTypeForegroundGC); s.prepare(10, 2, 5); end(s) }, 5, 0},
		{"it ends before a heap is added", func(s *script) {
			s.ephemeral(5, 8, clr.GCTypeForegroundGC)
			end(s)
			s.prepare(45, 2, 5)
		}, 0, 1},
		{"a heap is added after its end", func(s *script) { s.prepare(10, 2, 5); end(s); s.prepare(45, 2, 5) }, 5, 1},
		{"the heap is walked", func(s *script) { s.prepare(10, 2, 5); s.prepare(20, 2, 5); end(s) }, 5, 1},
		{"none runs", func(s *script) { s.prepare(10, 2, 5); s.ephemeral(20, 6, clr.GCTypeNonConcurrentGC) }, 0, 1},
		{"a blocking one of another number ends", func(s *script) {
			s.prepare(10, 2, 5)
			s.end(12, 1, 6, 2)
			s.ephemeral(20, 7, clr.GCTypeNonConcurrentGC)
		}, 0, 1},
		{"before the first collection", func(s *script) { s.prepare(10, 2, 0); s.ephemeral(20, 1, clr.GCTypeForegroundGC) }, 0, 1},
		{"undecided", func(s *script) { s.prepare(10, 2, 5); s.suspendBegin(50, 3, clr.SuspendReasonSuspendOther) }, 0, 0},
	} {
		s := newScript()
		tt.events(s)
		got, _, m := s.run(t)
		if c := got[tt.of]; tt.of > 0 && (c == nil || c.Kind != gc.Background || c.Generation != gc.Some(2) || len(c.Pauses) != 1 || c.Complete || c.Pause().Known()) {
			t.Errorf("%s: %#v", tt.name, c)
		} else if tt.of > 0 {
			pauses(t, c, gc.PauseFinal, 1.0)
			if p := &c.Pauses[0]; p.Start != 10*time.Millisecond || ms(p.Restart.Or(0)) != 0.2 || c.PauseStart.Known() {
				t.Errorf("%s: %+v, first pause %v", tt.name, p, c.PauseStart)
			}
		}
		n := 0
		for _, s := range m.Processes()[0].Suspensions {
			n += s.Count
		}
		if n != tt.other {
			t.Errorf("%s: %d suspensions outside collections, want %d", tt.name, n, tt.other)
		}
	}
}

// A since is a source that leaves out the events before a time.
type since struct {
	trace.Source
	from time.Duration
}

func (s since) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		for ev, err := range s.Source.Events() {
			if err == nil && ev.Time() < s.from {
				continue
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// TestCutInBackground cuts a trace between the two pauses of each of its background
// collections.
func TestCutInBackground(t *testing.T) {
	const file = "../testdata/net10-wks-background-collect.nettrace.gz"
	read := func(from time.Duration) (all []*gc.Collection, p *gc.Process) {
		in, err := open.File(file, open.Options{Want: gc.Wants})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var m gc.Model
		for c, err := range m.Collections(since{in.Source, from}) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		return all, m.Processes()[0]
	}
	whole, _ := read(0)
	byNumber := make(map[uint32]*gc.Collection)
	for _, c := range whole {
		byNumber[c.Number] = c
	}
	cut := 0
	for _, c := range whole {
		if c.Kind != gc.Background || len(c.Pauses) != 2 {
			continue
		}
		cut++
		part, p := read((c.Pauses[0].End() + c.Pauses[0].Restart.Or(0) + c.Pauses[1].Start) / 2)
		for _, s := range p.Suspensions {
			if s.Reason == clr.SuspendReasonSuspendForGCPrep {
				t.Errorf("GC %d: outside collections: %+v", c.Number, s)
			}
		}
		for _, o := range part {
			w := byNumber[o.Number]
			switch {
			case o.Number == c.Number && (len(o.Pauses) != 1 || o.Pauses[0].Duration != c.Pauses[1].Duration || o.SinceLast.Known() || o.Allocated.Known()):
				t.Errorf("GC %d: %+v", o.Number, o)
			case o.AllocatedQuality == gc.Exact && (o.Allocated != w.Allocated || w.AllocatedQuality != gc.Exact):
				t.Errorf("cut in GC %d: GC %d allocated %v, want %v (%v)", c.Number, o.Number, o.Allocated, w.Allocated, w.AllocatedQuality)
			}
		}
	}
	if cut < 3 {
		t.Errorf("%d cuts", cut)
	}
}
