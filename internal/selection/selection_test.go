package selection_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/trace"
)

// TestLength: no more of a trace is selected than it has.
func TestLength(t *testing.T) {
	info := &trace.Info{Last: 10 * time.Second}
	for want, flags := range map[time.Duration][2]string{
		10 * time.Second: {}, 4 * time.Second: {"2s", "6s"}, 8 * time.Second: {"2s", "1h"}, 0: {"1h", ""},
	} {
		var s selection.Selection
		for i, set := range []func(string) error{s.From.Set, s.To.Set} {
			if flags[i] == "" {
				continue
			}
			if err := set(flags[i]); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.Length(info); got != want {
			t.Errorf("from %q to %q: %v, want %v", flags[0], flags[1], got, want)
		}
	}
}
