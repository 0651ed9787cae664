//go:build !windows

package emit

import "time"

// A clock counts nanoseconds since it was started.
type clock struct{ base time.Time }

func (c *clock) start() { c.base = time.Now() }

func (c *clock) now() int64 { return int64(time.Since(c.base)) }

// at returns the clock's reading at a time. A time without a monotonic reading is
// compared with the present wall clock.
func (c *clock) at(t time.Time) int64 {
	now := time.Now()
	return int64(now.Sub(c.base)) - int64(now.Sub(t))
}
