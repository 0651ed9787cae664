package cli

import (
	"context"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// until waits until something holds. It rests for twice as long as a look takes, so that it leaves
// the processors to the programs that it waits for.
func until(ctx context.Context, t *testing.T, what string, holds func() bool) {
	t.Helper()
	for {
		began := time.Now()
		if holds() {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%s: never", what)
		}
		time.Sleep(max(20*time.Millisecond, 2*time.Since(began)))
	}
}

// patient returns a context that ends with the patience of a test.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), dotnettest.Patience)
	t.Cleanup(cancel)
	return ctx
}
