package cli

import (
	"context"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// until waits until something holds.
func until(ctx context.Context, t *testing.T, what string, holds func() bool) {
	t.Helper()
	for !holds() {
		if ctx.Err() != nil {
			t.Fatalf("%s: never", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// patient returns a context that ends with the patience of a test.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), dotnettest.Patience)
	t.Cleanup(cancel)
	return ctx
}
