package profiler

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
)

const (
	// maxEvents bounds the events that a process raises for its profile in a second, because
	// each costs it 5 to 12 µs. Of sampled allocations, it is 100 MB.
	maxEvents = 1000
	// burst is for how many seconds such events may come at once.
	burst = 1 * time.Second
)

// restAfter returns how long a process should raise no events after a session that had this many.
func restAfter(events uint64, took time.Duration) time.Duration {
	return max(0, time.Duration(min(events, 1<<32))*time.Second/maxEvents-took)
}

// window returns after how long the next session is to end: when it has a burst of events, if
// they come as fast as the ones of a session with so many. It is zero if reading the events
// finds that soon enough.
func window(events uint64, took time.Duration) time.Duration {
	if events == 0 {
		return 0
	}
	d := max(leastSampled, time.Duration(float64(took)*burst.Seconds()*maxEvents/float64(events)))
	if d >= polling {
		return 0
	}
	return d
}

// A bounded session is asked to end when its events are too many. It is read to its end, because
// the events until then cost the process as much as the ones before.
type bounded struct {
	*diag.Session
	tooMany func() bool
	full    atomic.Bool
	stop    context.CancelFunc
	end     func() error // waits for the end
}

// bound returns a session that ends with ctx at the latest.
func bound(ctx context.Context, s *diag.Session) *bounded {
	ctx, stop := context.WithCancel(ctx)
	return &bounded{Session: s, stop: stop, end: s.EndWith(ctx, endTime)}
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.tooMany() {
		b.fill()
	}
	return b.Session.Read(p)
}

// fill begins to end the session.
func (b *bounded) fill() {
	b.full.Store(true)
	b.stop()
}

// close ends the session if it has not ended, waits until it has, and makes the runtime stop
// sampling. A process that does not answer is left alone, because it would be waited for again.
func (b *bounded) close(client *diag.Client) {
	defer b.stop()
	if b.end() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	_ = collect.Settle(ctx, client) // fails if the process has ended
}
