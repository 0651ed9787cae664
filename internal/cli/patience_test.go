package cli

import (
	"context"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// patient returns a context that ends with the patience of a test.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), dotnettest.Patience)
	t.Cleanup(cancel)
	return ctx
}
