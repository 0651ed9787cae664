package gc_test

import (
	"slices"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// numberedScript raises blocking collections, and a background one with foreground ones,
// whose suspensions carry the numbers that the runtime gives them. It returns the indexes
// of the first events of the collections.
func numberedScript() (s *script, first []int) {
	s = newScript()
	s.info.Format = "nettrace V4"
	ephemeral := func(ms float64, latest byte, number uint32, kind clr.GCType) {
		at := len(s.events)
		first = append(first, at)
		s.ephemeral(ms, number, kind)
		s.events[at].Payload[4] = latest
	}
	ephemeral(10, 0, 1, clr.GCTypeNonConcurrentGC)
	ephemeral(20, 1, 2, clr.GCTypeNonConcurrentGC)
	first = append(first, len(s.events))
	s.suspendBegin(30, 1, clr.SuspendReasonSuspendForGC)
	s.numbered(2)
	s.suspendEnd(30.1, 1)
	s.start(30.2, 1, 3, 2, clr.GCTypeBackgroundGC)
	s.restartBegin(30.5, 1)
	s.restartEnd(30.6, 1)
	ephemeral(40, 3, 4, clr.GCTypeForegroundGC)
	s.prepare(50, 2, 3)
	ephemeral(60, 3, 5, clr.GCTypeForegroundGC)
	s.history(64, 2, 2, clr.GlobalMechanismsConcurrent, [5]size{{before: 1000, after: 100, out: 100}})
	s.end(65, 2, 3, 2)
	s.stats(65, 2, 700)
	ephemeral(70, 3, 6, clr.GCTypeNonConcurrentGC) // the background one's number, up to the next start
	for n := range 5 {
		ephemeral(80+10*float64(n), byte(6+n), uint32(7+n), clr.GCTypeNonConcurrentGC)
	}
	return s, first
}

// TestDamagedNumbers damages each event of a trace in turn: each bit of the numbers and of the
// kinds of collections, threads and processes, and events that are gone or come twice. Each
// collection that differs from the undamaged trace's is marked.
func TestDamagedNumbers(t *testing.T) {
	read := func(s *script) (all []*gc.Collection) {
		for c, err := range new(gc.Model).Collections(s) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		return all
	}
	undamaged, first := numberedScript()
	whole := make(map[uint32]*gc.Collection)
	for _, c := range read(undamaged) {
		whole[c.Number] = c
		if !c.Complete || c.AffectedByLoss {
			t.Fatalf("GC %d: complete %v, affected %v", c.Number, c.Complete, c.AffectedByLoss)
		}
	}
	same := func(c, w *gc.Collection) bool {
		return c.Start == w.Start && c.End == w.End && c.Pause() == w.Pause() && c.Kind == w.Kind && c.Generation == w.Generation &&
			(!c.SinceLast.Known() || c.SinceLast == w.SinceLast) && c.HeapAfter == w.HeapAfter
	}
	check := func(name string, i int, damage func(s *script)) {
		s, _ := numberedScript()
		damage(s)
		for _, c := range read(s) {
			if w := whole[c.Number]; c.Complete && !c.AffectedByLoss && (w == nil || !same(c, w)) {
				t.Errorf("%s of event %d (%d at %v): %v without a mark", name, i, undamaged.events[i].Desc.ID, undamaged.events[i].Time(), c)
			}
		}
	}
	remove := func(i, n int) func(s *script) {
		return func(s *script) { s.events = slices.Delete(s.events, i, min(i+n, len(s.events))) }
	}
	numbers := map[uint32]int{1: 16, 2: 8, 9: 8} // bytes of an event with numbers and kinds
	for i, e := range undamaged.events {
		for bit := range 8 * numbers[e.Desc.ID] {
			check("a bit", i, func(s *script) { s.events[i].Payload[bit/8] ^= 1 << (bit % 8) })
		}
		check("another thread", i, func(s *script) { s.events[i].TID ^= 64 })
		check("the other thread", i, func(s *script) { s.events[i].TID ^= 3 })
		check("another process", i, func(s *script) { s.events[i].PID ^= 1 })
		check("a repetition", i, func(s *script) { s.events = slices.Insert(s.events, i, s.events[i]) })
		check("lack", i, remove(i, 1))
		check("lack of two", i, remove(i, 2))
	}
	for _, i := range first[5:9] {
		check("lack of a collection's rest", i+6, remove(i+6, 9)) // its statistics and restart are those of the next one
		check("lack of all between the restarts", i+2, remove(i+2, 4))
		check("lack of the time between", i+6, remove(i+6, 4))
	}
}
