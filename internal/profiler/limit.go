package profiler

import (
	"context"
	"sync"
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
	stopped func() error // ends the session once
}

func bound(s *diag.Session) *bounded {
	return &bounded{Session: s, stopped: sync.OnceValue(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		err := s.Stop(ctx)
		if err != nil {
			s.Close()
		}
		return err
	})}
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.tooMany() {
		b.fill()
	}
	return b.Session.Read(p)
}

// fill begins to end the session.
func (b *bounded) fill() {
	if !b.full.Swap(true) {
		go func() { _ = b.stopped() }()
	}
}

// close ends the session if it has not ended, waits until it has, and makes the runtime stop
// sampling. A process that does not answer is left alone, because it would be waited for again.
func (b *bounded) close(client *diag.Client, running func() bool) {
	var err error
	if !running() || b.full.Load() {
		err = b.stopped()
	}
	b.Session.Close()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	_ = collect.Settle(ctx, client) // fails if the process has ended
}
