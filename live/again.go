package live

import (
	"context"
	"time"

	"github.com/gctrail/gctrail/diag"
)

// poll is how often a process is looked for that has ended.
const poll = time.Second

// next waits for a process that replaces the ended one, and follows it. It returns
// false if ctx ends first.
func (f *follower) next(ctx context.Context) bool {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		for _, p := range diag.List(ctx) {
			if succeeds(p, f.process) {
				f.process = p
				return true
			}
		}
	}
}

// succeeds reports whether p is old, whose trace somebody else has ended, or a
// process of the same name that was started after it.
func succeeds(p, old *diag.Process) bool {
	if p.Info == nil || p.Name != old.Name {
		return false
	}
	if old.Info != nil && p.Info.Cookie == old.Info.Cookie {
		return true
	}
	return p.Started.After(old.Started)
}
