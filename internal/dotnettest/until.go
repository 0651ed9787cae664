package dotnettest

import (
	"context"
	"testing"
	"time"
)

// Patience is how long a test waits for an event that must come. It only ends tests that
// hang, and is long enough for the busiest machine.
const Patience = 3 * time.Minute

// longestRest is the longest that Poll rests after a look that takes no time.
const longestRest = 20 * time.Millisecond

// Until polls until a condition holds, and fails the test if it does not within Patience, or
// before ctx ends. It is for the state of other programs and of the system, which a test cannot
// be notified of.
func Until(ctx context.Context, t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	if !Poll(ctx, holds) {
		t.Fatalf("%s: never", what)
	}
}

// Poll is Until for tests that do more than fail: it reports whether the condition held before
// ctx ended. After each look it rests, longer each time, and for twice as long as the look took,
// so that it leaves the processors to the programs that it waits for.
func Poll(ctx context.Context, holds func() bool) bool {
	for rest := time.Millisecond; ; rest = min(2*rest, longestRest) {
		began := time.Now()
		if holds() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(max(rest, 2*time.Since(began))):
		}
	}
}
