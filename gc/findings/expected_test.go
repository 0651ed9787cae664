package findings

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestExpected: a setting states its effect as bounds, never as a point, and nothing if bounds
// are unknown or nobody asked for them.
func TestExpected(t *testing.T) {
	of := &gc.Process{Runtime: ".NET 10.0.1", Server: gc.Some(false), Concurrent: gc.Some(true), Stopped: 10 * time.Second}
	cases := map[bool]*Case{}
	for _, expect := range []bool{false, true} {
		s := Set{Options: Options{Expect: expect}}
		for i := range 10 {
			at := time.Duration(i) * time.Second
			s.Add(&gc.Collection{
				Process: of, Number: uint32(i + 1), Kind: gc.Blocking, Generation: gc.Some(0), Reason: gc.Some(clr.GCReasonAllocSmall),
				Start: gc.Some(at), End: gc.Some(at + 50*time.Millisecond), AllPauses: true, Complete: true,
				Pauses:      []gc.Pause{{Kind: gc.PauseBlocking, Start: at, Duration: 50 * time.Millisecond}},
				Generations: []gc.Generation{{Before: 64 << 20, Out: 1 << 20, Budget: 64 << 20}},
			})
		}
		cases[expect] = s.Judge(Trace{})[0].Case
	}
	larger, _ := gen0Size.of(of)
	words := cases[true].expected(&larger)
	if !strings.HasPrefix(words, "time paused 1.0 % to ") || !strings.Contains(words, "(now 5.0 %), p99 pause ") || !strings.HasSuffix(words, assumed) {
		t.Errorf("%q", words)
	}
	if got := cases[false].expected(&larger); got != "" {
		t.Errorf("without being asked: %q", got)
	}
	if server, _ := serverGC.of(of); cases[true].expected(&server) != "" {
		t.Errorf("of server GC, which collections of workstation GC do not determine: %q", cases[true].expected(&server))
	}
}
