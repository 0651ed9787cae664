package profiler

import (
	"io"
	"time"

	"github.com/gctrail/gctrail/diag"
)

const (
	// maxEvents bounds the events that a process raises for its profile in a second, because
	// each costs it about 10 µs. Of sampled allocations, it is half a gigabyte.
	maxEvents = 5000
	// burst is for how many seconds such events may come at once.
	burst = 1 * time.Second
)

// restAfter returns how long a process is to raise no events after a session with so many, zero
// if they are not too many.
func restAfter(events uint64, took time.Duration) time.Duration {
	rest := time.Duration(min(events, 1<<32))*time.Second/maxEvents - took
	if rest <= burst {
		return 0
	}
	return rest
}

// A bounded session ends for its reader when its events are too many.
type bounded struct {
	*diag.Session
	ends func() bool
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.ends() {
		return 0, io.EOF
	}
	return b.Session.Read(p)
}
