package live_test

import (
	"testing"

	"github.com/gctrail/gctrail/live"
)

func TestKindString(t *testing.T) {
	for kind, want := range map[live.Kind]string{
		0: "Kind(0)", live.Attached: "attached", live.Collected: "collected", live.Ended: "ended", live.Ended + 1: "Kind(4)", 255: "Kind(255)",
	} {
		if got := kind.String(); got != want {
			t.Errorf("%d: %q, want %q", uint8(kind), got, want)
		}
	}
}
