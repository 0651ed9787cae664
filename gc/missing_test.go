package gc_test

import (
	"encoding/binary"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestDamagedEvents makes one event of three collections another one, as a single
// flipped bit does: what is then missing is reported, and its collection is affected
// by loss, whichever collection it is.
func TestDamagedEvents(t *testing.T) {
	const each = 9 // events of a collection
	const (
		suspendBegin = iota
		suspendEnd
		start
		_
		_
		end
		stats
		restartBegin
		restartEnd
	)
	for name, test := range map[string]struct {
		event int
		flip  func(s *script, i int)
	}{
		"an end for a start":             {start, as(end)},
		"a start for an end":             {end, as(start)},
		"a suspension for a restart":     {suspendBegin, as(restartEnd)},
		"statistics for a suspension":    {suspendBegin, as(stats)},
		"suspended for a restart":        {restartBegin, as(suspendEnd)},
		"a restart for its end":          {restartBegin, as(restartEnd)},
		"a restart for suspended":        {suspendEnd, as(restartBegin)},
		"a start of another number":      {start, number},
		"an end of another number":       {end, number},
		"a restart by another thread":    {restartBegin, func(s *script, i int) { s.events[i].TID ^= 64 }},
		"a suspension by another thread": {suspendBegin, func(s *script, i int) { s.events[i].TID ^= 64 }},
		"a start in another runtime":     {start, func(s *script, i int) { s.events[i].Payload[16] ^= 4 }},
		"a restart in another runtime":   {restartBegin, func(s *script, i int) { s.events[i].Payload[0] ^= 4 }},
	} {
		for n := range 3 {
			s := newScript()
			s.info.Format = "nettrace V4"
			for i := range 3 {
				s.blocking(float64(10*i+10), 1, uint32(i+1))
			}
			if len(s.events) != 3*each {
				t.Fatal("a collection has", len(s.events)/3, "events")
			}
			test.flip(s, n*each+test.event)
			whole := 0
			for c, err := range new(gc.Model).Collections(s) {
				if err != nil {
					t.Fatal(err)
				}
				if c.Complete {
					whole++
				} else if !c.AffectedByLoss {
					t.Errorf("%s in collection %d: %d is not affected", name, n+1, c.Number)
				}
			}
			if whole != 2 {
				t.Errorf("%s in collection %d: %d are complete", name, n+1, whole)
			}
			if len(s.loss.Ranges()) == 0 {
				t.Errorf("%s in collection %d: nothing is missing", name, n+1)
			}
		}
	}
}

// as makes an event one of the kind of another event of a collection.
func as(event int) func(*script, int) {
	return func(s *script, i int) { s.events[i].Desc = s.events[i-i%9+event].Desc }
}

// number flips a bit of the number of a collection.
func number(s *script, i int) {
	binary.LittleEndian.PutUint32(s.events[i].Payload, binary.LittleEndian.Uint32(s.events[i].Payload)^1<<20)
}

// TestUnwantedEvents checks that nothing is missing where the session does not raise
// an event, as LTTng enables events by name.
func TestUnwantedEvents(t *testing.T) {
	kinds := []clr.Kind{
		clr.KindGCSuspendEEBegin, clr.KindGCSuspendEEEnd, clr.KindGCStart, clr.KindGCEnd, clr.KindGCHeapStats,
		clr.KindGCRestartEEBegin, clr.KindGCRestartEEEnd, clr.KindGCGlobalHeapHistory, clr.KindGCPerHeapHistory,
	}
	for without := range 1 << len(kinds) {
		s := newScript()
		for i := range 8 {
			s.blocking(float64(10*i+10), 1, uint32(i+1))
		}
		events := s.events[:0]
		for _, ev := range s.events {
			for i, k := range kinds {
				if ev.Desc.ID == k.ID() && without>>i&1 == 0 {
					events = append(events, ev)
				}
			}
		}
		s.events = events
		for range new(gc.Model).Collections(s) {
		}
		if r := s.loss.Ranges(); len(r) > 0 {
			var wanted []clr.Kind
			for i, k := range kinds {
				if without>>i&1 == 0 {
					wanted = append(wanted, k)
				}
			}
			t.Errorf("of %v: missing in %v", wanted, r)
		}
	}
}
