package gc

import (
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// TestOutside checks that the time in which suspensions wait for each other does not count,
// and that the number of remembered suspensions is bounded.
func TestOutside(t *testing.T) {
	const ms = time.Millisecond
	rt := new(runtime)
	rt.init(new(Process), 0, new(Model))
	suspend := func(begin, waited, restart time.Duration) {
		rt.suspended(&suspension{begin: begin, waited: waited, restartBegin: Some(restart)}, PauseOther)
	}
	suspend(10*ms, 0, 12*ms)
	suspend(11*ms, 2*ms, 14*ms)                                                                         // waited for the one before until 13 ms
	rt.windows = append(rt.windows, &suspension{begin: 18 * ms, reason: clr.SuspendReasonSuspendForGC}) // a collection waits for the next
	suspend(16*ms, 0, 19*ms)
	suspend(20*ms, 5*ms, 24*ms) // waited to its end
	want := []Outside{{10 * ms, 12 * ms, 2 * ms}, {13 * ms, 14 * ms, ms}, {16 * ms, 18 * ms, 2 * ms}}
	p := rt.process
	if !slices.Equal(p.Outside, want) {
		t.Errorf("%v, want %v", p.Outside, want)
	}
	if s := p.Suspensions[0]; s.Count != 4 || s.Total != 5*ms || s.Max != 2*ms {
		t.Errorf("in total: %+v", s)
	}
	if got := p.takeOutside(); !slices.Equal(got, want) || len(p.Outside) > 0 {
		t.Errorf("taken: %v, left: %v", got, p.Outside)
	}
	rt.windows = nil
	for i := range time.Duration(10 * maxOutside) {
		suspend(i*ms, 0, i*ms+ms/2)
	}
	var sum time.Duration
	for _, o := range p.Outside {
		sum += o.Suspended
		if o.Suspended > o.To-o.From {
			t.Fatalf("%v is suspended for longer than it lasts", o)
		}
	}
	if len(p.Outside) > maxOutside || sum != 10*maxOutside*ms/2 || !slices.IsSortedFunc(p.Outside, func(a, b Outside) int { return int(a.From - b.From) }) {
		t.Errorf("%d remembered, which take %v", len(p.Outside), sum)
	}
}
