//go:build linux

package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/lttng"
)

// TestLTTngErrors: an error that keeps an LTTng session from recording comes with its
// remedy.
func TestLTTngErrors(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	const want = "gctrail: LTTng is not installed: install lttng-tools, or record without it: gctrail collect -p PID\n"
	if code, _, said := gctrail(context.Background(), "collect", "--lttng"); code != exitUnsupported || said != want {
		t.Errorf("exit code %d, %q", code, said)
	}
	if said := noticeText(collect.Recording{Tracer: "LTTng", Relay: "net://a/host/b/c", Path: "x", Plan: new(collect.Plan)}); said != "recording LTTng events of net://a/host/b/c to x; press Ctrl-C to stop" {
		t.Error(said)
	}
	for want, err := range map[string]error{
		"start the program with DOTNET_LTTng=1 and DOTNET_EnableEventLog=1":                 collect.ErrNoTracer,
		"lttng create: permission denied; check that a session daemon runs and accepts you": &lttng.Error{Command: "create", Said: "permission denied"},
	} {
		if said := sentence(err); !strings.Contains(said, want) || exitCodeOf(err) != exitNoProcess {
			t.Errorf("%q, exit code %d", said, exitCodeOf(err))
		}
	}
}
