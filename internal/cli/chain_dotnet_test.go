//go:build linux

package cli

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/text"
)

// TestFromTailToSetting goes from slow requests to a measured setting by running what each
// command prints: ps, collect, requests, try.
func TestFromTailToSetting(t *testing.T) {
	idle := dotnettest.Start(t, 10, "idle", 600)
	waitForSocket(t, idle.PID)
	code, _, said := gctrail(t.Context(), "ps")
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, said)
	}
	record := nextCommand(t, said, `gctrail collect -p \d+ --requests`)
	if len(record) != 4 {
		t.Errorf("%q, beside process %d", record, idle.PID)
	}

	t.Setenv("DOTNET_GCgen0size", "0x200000") // pauses make the slowest requests slow
	folder := t.TempDir()
	shop := append([]string{"collect", "--requests", "-o", filepath.Join(folder, "shop.nettrace"), "--"}, dotnettest.Shop(t)...)
	code, _, said = gctrail(t.Context(), shop...)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, said)
	}
	code, out, said := gctrail(t.Context(), nextCommand(t, said, "gctrail requests .*")...)
	if code != exitDone || strings.Contains(out, "not why") {
		t.Fatalf("exit code %d: %s%s", code, out, said)
	}
	try := nextCommand(t, out, "gctrail try .*")
	if !slices.Contains(try, "--requests") || slices.Contains(try, "--load") {
		t.Errorf("%q", try)
	}
	quick := slices.Insert(try, 1, "--budget", "8s", "--output-dir", filepath.Join(folder, "try"))
	code, out, said = gctrail(t.Context(), quick...)
	if code != exitDone || !strings.Contains(out, "GCgen0size=") || !strings.Contains(out, "p99 request") {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
}

// nextCommand returns the words of a command in what another one printed, without gctrail.
func nextCommand(t *testing.T, said, pattern string) []string {
	t.Helper()
	command := regexp.MustCompile(pattern).FindString(said)
	if command == "" {
		t.Fatalf("no %s in:\n%s", pattern, said)
	}
	return text.Words(command)[1:]
}
