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

// A without is a source that leaves out the events between two times.
type without struct {
	trace.Source
	from, to time.Duration
}

func (w without) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		for ev, err := range w.Source.Events() {
			if err == nil && w.from <= ev.Time() && ev.Time() <= w.to {
				continue
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// TestBackgroundStartLost leaves the first pause of each background collection out of
// a trace.
func TestBackgroundStartLost(t *testing.T) {
	const file = "../testdata/net10-wks-background-collect.nettrace.gz"
	read := func(from, to time.Duration) (all []*gc.Collection) {
		in, err := open.File(file, open.Options{Want: gc.Wants})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var m gc.Model
		for c, err := range m.Collections(without{in.Source, from, to}) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		return all
	}
	whole := read(-1, -1)
	byNumber := make(map[uint32]*gc.Collection)
	for _, c := range whole {
		byNumber[c.Number] = c
	}
	lost := 0
	for _, c := range whole[1:] {
		if c.Kind != gc.Background || len(c.Pauses) != 2 {
			continue
		}
		lost++
		p := &c.Pauses[0]
		for _, o := range read(p.Start, p.End()+p.Restart.Or(0)) {
			if w := byNumber[o.Number]; o.SinceLast.Known() && o.SinceLast != w.SinceLast {
				t.Errorf("start of GC %d lost: GC %d: %v since the last, want %v", c.Number, o.Number, o.SinceLast, w.SinceLast)
			}
			if o.Number == c.Number && (len(o.Pauses) != 1 || o.Pauses[0].Kind != gc.PauseFinal || o.Pauses[0].Duration != c.Pauses[1].Duration || o.Complete) {
				t.Errorf("start of GC %d lost: %+v", c.Number, o)
			}
		}
	}
	if lost < 10 {
		t.Errorf("%d background collections", lost)
	}
}

// TestSinceLostBackground: a collection that begins while a background one of unknown start
// sweeps follows the final pause of that one.
func TestSinceLostBackground(t *testing.T) {
	for name, final := range map[string]func(s *script){
		"after a foreground one": func(s *script) {
			s.ephemeral(40, 4, clr.GCTypeForegroundGC)
			s.prepare(60, 2, 3)
		},
		"without a foreground one": func(s *script) { s.prepare(60, 2, 3) },
	} {
		s := newScript()
		s.blocking(10, 1, 1)
		s.blocking(20, 1, 2)
		final(s)
		s.ephemeral(70, 5, clr.GCTypeForegroundGC)
		s.end(80, 2, 3, 2)
		s.stats(80, 2, 700)
		s.ephemeral(90, 6, clr.GCTypeNonConcurrentGC)
		s.prepare(95, 2, 6) // adds a heap
		got, _, m := s.run(t)
		if since, known := got[5].SinceLast.Get(); known && ms(since) != 70-0.1-61 {
			t.Errorf("%s: %v since the final pause", name, since)
		}
		if bg := got[3]; bg.Kind != gc.Background || len(bg.Pauses) != 1 || bg.Complete || !bg.AffectedByLoss {
			t.Errorf("%s: %+v", name, bg)
		}
		if other := m.Processes()[0].Suspensions; len(other) != 1 || other[0].Count != 1 {
			t.Errorf("%s: outside collections: %+v", name, other)
		}
	}
}
