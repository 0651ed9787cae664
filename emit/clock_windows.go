package emit

import (
	"sync"
	"time"
)

// A clock counts nanoseconds since it was started. Package time's moves in steps here,
// of up to half a millisecond, and events of equal times would lose the order in which
// they were raised: no two readings are equal.
type clock struct {
	base time.Time
	mu   sync.Mutex
	step int64 // the latest reading of package time's
	last int64 // and of this
}

func (c *clock) start() { c.base = time.Now() }

func (c *clock) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step = int64(time.Since(c.base))
	c.last = max(c.step, c.last+1)
	return c.last
}

// at returns the clock's reading at a time: in the present step, not before the latest. A
// time without a monotonic reading is compared with the present wall clock.
func (c *clock) at(t time.Time) int64 {
	now := time.Now()
	at := int64(now.Sub(c.base)) - int64(now.Sub(t))
	c.mu.Lock()
	defer c.mu.Unlock()
	if at >= c.step {
		return max(at, c.last)
	}
	return at
}
