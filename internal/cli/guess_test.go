package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"fromat", "format", 1}, {"colums", "columns", 1}, {"kitten", "sitting", 3}, {"gsc", "gcs", 1}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q, %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestTraceOnStandardInput: gctrail < FILE reports on it, and an empty file is
// not a trace.
func TestTraceOnStandardInput(t *testing.T) {
	run := func(path string, args ...string) (string, error) {
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), "GCTRAIL_TEST_MAIN=1")
		cmd.Stdin = in
		out, err := cmd.Output()
		return string(out), err
	}
	if out, err := run(pagedTrace); err != nil || !strings.HasPrefix(out, "Pauses took") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run(pagedTrace, "--no-pager", "--format=json"); err != nil || !strings.HasPrefix(out, "{") {
		t.Errorf("with flags: %v: %.100s", err, out)
	}
	if out, err := run(pagedTrace, "--format", "json", "--no-pager"); err != nil || !strings.HasPrefix(out, "{") {
		t.Errorf("with the value of a flag after it: %v: %.100s", err, out)
	}
	if out, err := run(pagedTrace, "--format", "json", "nosuch.nettrace"); err == nil || out != "" {
		t.Errorf("with a file: %v: %.100s", err, out)
	}
	if out, err := run(pagedTrace, "--version"); err != nil || strings.Contains(out, "Pauses took") {
		t.Errorf("--version: %v: %.100s", err, out)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := run(empty); err != nil || strings.Contains(out, "Pauses took") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestUnknownColumn checks that a typing error names the column that was meant.
func TestUnknownColumn(t *testing.T) {
	for name, want := range map[string]string{
		"pauze":       `unknown column "pauze"; did you mean pause`,
		"gc_handle":   `unknown column "gc_handle"; did you mean gc_handles`,
		"gen2_after":  `unknown column "gen2_after"; did you mean gen2_after_bytes`,
		"total_pause": `unknown column "total_pause"; did you mean pause or pause_start_ms or pause_ms or longest_pause_ms`,
		"gen2size":    `unknown column "gen2size"; did you mean gen2_before_bytes or gen2_after_bytes or gen2_in_bytes or gen2_out_bytes`,
		"xyz":         `unknown column "xyz"`,
	} {
		if err := unknownColumn(name, columnWords()); err.Error() != want {
			t.Errorf("%s: %.120s", name, err)
		}
	}
	if err := unknownColumn("xyz", list.Names(finalizerFields)); err.Error() != `unknown column "xyz"; valid columns: pid, count, type` {
		t.Error(err)
	}
}

// TestHelpBefore checks that --help before a command is that command's.
func TestHelpBefore(t *testing.T) {
	for _, args := range [][]string{{"-h", "gcs"}, {"--help", "gcs"}, {"gcs", "-h"}, {"-h", "nosuch.nettrace"}} {
		want := []string{"gcs", args[0]}
		if args[1] != "gcs" {
			want = []string{"report", "nosuch.nettrace", args[0]}
		}
		if args[0] == "gcs" {
			want = args
		}
		if got := implied(newRootCmd(&stdio{out: io.Discard, err: text.NewPrinter(io.Discard)}), args); !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", args, got, want)
		}
	}
}
