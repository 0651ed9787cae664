package watch

import (
	"math"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/request"
)

// TestRequests sums up the requests of the last minute, or the latest ones where there are more
// than are kept.
func TestRequests(t *testing.T) {
	start := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	var r requests
	end := func(at, took, paused time.Duration) {
		r.add(&request.Span{Duration: gc.Some(took), Paused: paused}, start.Add(at))
	}
	if sum := r.sum(start, start); sum != nil {
		t.Errorf("figures of no request: %+v", sum)
	}
	end(0, time.Hour, 0) // too long ago, later
	for i := range 200 {
		end(90*time.Second+time.Duration(i)*time.Millisecond, time.Duration(i+1)*time.Millisecond, 0)
	}
	end(91*time.Second, 500*time.Millisecond, 400*time.Millisecond)
	sum := r.sum(start.Add(100*time.Second), start)
	if sum.Count != 201 || sum.P50 != 101*time.Millisecond || sum.P99 != 199*time.Millisecond || sum.Running != 198*time.Millisecond {
		t.Errorf("%+v", sum)
	}
	if want := 400.0 / (199 + 200 + 500); math.Abs(sum.Share-want) > 1e-9 || math.Abs(sum.PerSecond-201/60.0) > 1e-9 {
		t.Errorf("%+v, expected a share of %v", sum, want)
	}
	if sum := r.sum(start.Add(100*time.Second), start.Add(80*time.Second)); math.Abs(sum.PerSecond-201/20.0) > 1e-9 {
		t.Errorf("%v requests a second since it was attached to", sum.PerSecond)
	}
	for i := range maxServed + 10 {
		end(100*time.Second+time.Duration(i)*100*time.Microsecond, time.Millisecond, 0)
	}
	last := start.Add(100*time.Second + (maxServed+9)*100*time.Microsecond)
	if sum := r.sum(last, start); sum.Count != maxServed || sum.PerSecond < 9900 || sum.PerSecond > 10100 || sum.P99 != time.Millisecond {
		t.Errorf("%+v", sum)
	}
}
