package gc_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// TestMissingStream: if collections are missing in a trace of several streams, without a loss
// of its own, other events of a missing stream may be missing anywhere.
func TestMissingStream(t *testing.T) {
	const n = 40
	for name, test := range map[string]struct {
		format     string
		unknown    bool     // whether the trace has all streams
		gone       []uint32 // collections
		halved     uint32   // collection without its end
		lost       bool     // events are lost where the first of gone was
		everywhere bool
	}{
		"nothing is missing":                  {format: "CTF 1.8", unknown: true},
		"a collection is missing":             {format: "CTF 1.8", unknown: true, gone: []uint32{30}, everywhere: true},
		"an end is missing":                   {format: "CTF 1.8", unknown: true, halved: 30, everywhere: true},
		"a loss explains it":                  {format: "CTF 1.8", unknown: true, gone: []uint32{30}, lost: true},
		"one of all streams":                  {format: "CTF 1.8", gone: []uint32{30}},
		"many collections of all streams":     {format: "CTF 1.8", gone: []uint32{20, 25, 30}, everywhere: true},
		"many collections, with a loss":       {format: "CTF 1.8", gone: []uint32{20, 25, 30}, lost: true},
		"many collections of a single stream": {format: "nettrace V5", gone: []uint32{20, 25, 30}},
	} {
		s := newScript()
		s.info.Format, s.loss.StreamsUnknown = test.format, test.unknown
		for i := uint32(1); i <= n; i++ {
			at := float64(10 * i)
			if len(test.gone) > 0 && i == test.gone[0] && test.lost {
				s.loss.Add(1, time.Duration(at-5)*time.Millisecond, time.Duration(at+4)*time.Millisecond)
			}
			if slices.Contains(test.gone, i) {
				continue
			}
			first := len(s.events)
			s.blocking(at, 1, i)
			s.events[first].Payload[4] = byte(i - 1)
			if i == test.halved {
				s.events = slices.DeleteFunc(s.events, func(e trace.Event) bool {
					return e.Desc.ID == clr.KindGCEnd.ID() && e.Time() > s.events[first].Time()
				})
			}
		}
		got, _, _ := s.run(t)
		for _, number := range []uint32{1, 15, n} {
			if c := got[number]; c.AffectedByLoss != test.everywhere {
				t.Errorf("%s: collection %d is affected: %v", name, number, c.AffectedByLoss)
			}
		}
		if want := test.unknown || test.everywhere; s.loss.StreamsUnknown != want {
			t.Errorf("%s: streams are unknown: %v", name, s.loss.StreamsUnknown)
		}
	}
}
