package diag

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestAwaitSocket: a young process has a second to create its socket, and is found soon after that.
// Any other process, and any other reason, is reported at once.
func TestAwaitSocket(t *testing.T) {
	const late = 300 * time.Millisecond
	for _, test := range []struct {
		name          string
		before, after error // what find returns before and after some time
		old           bool
		want          error
		least, most   time.Duration
	}{
		{name: "late", before: ErrNotDotnet, least: late, most: late + longestRest},
		{name: "has no socket yet", before: ErrNoSocket, least: late, most: late + longestRest},
		{name: "does not listen yet", before: &ConnectError{"a", connectionRefused}, least: late, most: late + longestRest},
		{name: "not .NET", before: ErrNotDotnet, after: ErrNotDotnet, want: ErrNotDotnet, least: socketTime, most: socketTime + longestRest},
		{name: "ends", before: ErrNotDotnet, after: ErrNoProcess, want: ErrNoProcess, least: late, most: late + longestRest},
		{name: "old", before: ErrNotDotnet, old: true, want: ErrNotDotnet},
		{name: "stopped", before: ErrStopped, want: ErrStopped},
		{name: "answers"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				_, err := awaitSocket(t.Context(), func() (*Process, error) {
					if time.Since(begun) < late {
						return nil, test.before
					}
					return nil, test.after
				}, func() bool { return !test.old })
				if took := time.Since(begun); !errors.Is(err, test.want) || took < test.least || took > test.most {
					t.Errorf("%v after %v, want %v after %v to %v", err, took, test.want, test.least, test.most)
				}
			})
		})
	}
}

// TestAwaitSocketCancelled: waiting ends with the context.
func TestAwaitSocketCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := awaitSocket(ctx, func() (*Process, error) { return nil, ErrNotDotnet }, func() bool { return true })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
