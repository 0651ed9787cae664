package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/watch"
)

// TestRequestParts describes requests, and nothing where there are none.
func TestRequestParts(t *testing.T) {
	if parts := RequestParts(nil); parts != nil {
		t.Errorf("%q", parts)
	}
	r := &watch.Requests{Count: 90, PerSecond: 1.5, P50: 2 * time.Millisecond, P99: 95 * time.Millisecond, Running: 71 * time.Millisecond, Share: 0.25}
	const want = "1.5 requests/s, p50 2.00 ms, p99 95.0 ms, 71.0 ms without pauses, GC 25.0 % of the slowest 1 %"
	if got := strings.Join(RequestParts(r), ", "); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}
