package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/text"
)

// onTerminal runs gctrail on a terminal of 80 × 24, where standard output and
// standard error are the same.
func onTerminal(t *testing.T, args ...string) (string, int) {
	t.Helper()
	t.Setenv("LC_ALL", "C.UTF-8")
	var screen bytes.Buffer
	is := text.Terminal{Is: true, Width: 80, Height: 24}
	std := &stdio{out: &screen, outTerm: is, errTerm: is, status: text.NewPrinter(io.Discard)}
	std.talk = &aside{std: std, w: &screen}
	std.err = text.NewPrinter(std.talk)
	cmd := newRootCmd(std)
	cmd.SetArgs(args)
	code := std.complain(std.execute(t.Context(), cmd))
	return screen.String(), code
}

const pagedTrace = "../../testdata/net10-wks-web-collect.nettrace.gz"

// TestPager checks which output goes through the pager.
func TestPager(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs sed")
	}
	const trace = pagedTrace
	file := filepath.Join(t.TempDir(), "out.txt")
	const ours = "sed s/^/PAGED:/"
	for _, tt := range []struct {
		args  string
		paged bool
		has   string
	}{
		{"report " + trace, true, "PAGED:Longest pauses"},
		{"gcs " + trace, true, "PAGED:94"},
		{"events --limit 40 " + trace, true, `PAGED:{"time_ms"`},
		{"diff " + trace + " " + trace, true, "PAGED:"},
		{"report --explain all", true, "PAGED:"},
		{"demo", true, "PAGED:This is the report"},

		{"gcs --min-pause 30ms " + trace, false, "GC "}, // fits the screen
		{"report --explain pause", false, "pause"},
		{"pins " + trace, false, "no pinned object events"},

		{"events --format jsonl --limit 40 " + trace, false, `{"time_ms"`},
		{"report --format json --full " + trace, false, "{"},
		{"report --format markdown " + trace, false, "|"},
		{"gcs --format csv " + trace, false, "pid,"},
		{"report --no-pager " + trace, false, "Longest pauses"},
		{"gcs --no-pager " + trace, false, "GC "},
		{"report -o " + file + " " + trace, false, ""},
		{"--help", false, "Exit codes"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Setenv("GCTRAIL_PAGER", ours)
			got, code := onTerminal(t, strings.Fields(tt.args)...)
			if paged := strings.Contains(got, "PAGED:"); code != exitDone || paged != tt.paged || !strings.Contains(got, tt.has) {
				t.Errorf("exit %d, paged %v, want %v and %q:\n%s", code, paged, tt.paged, tt.has, got)
			}
		})
	}
	if b, err := os.ReadFile(file); err != nil || bytes.Contains(b, []byte("PAGED")) || !bytes.Contains(b, []byte("Longest pauses")) {
		t.Errorf("%v: %s", err, b)
	}
	if out, _, code := on(t, 0, "report", trace); code != exitDone || strings.Contains(out, "PAGED") {
		t.Errorf("in a pipe: exit %d: %s", code, out)
	}
}

// TestPagerFails: without a pager the text comes all the same, and one that
// ends early is not a failure.
func TestPagerFails(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs head")
	}
	const trace = pagedTrace
	for _, tt := range []struct {
		pager, args string
		code        int
		has         string
	}{
		{"", "report " + trace, exitDone, "Longest pauses"},
		{"cat", "report " + trace, exitDone, "Longest pauses"},
		{"nosuchpager", "report " + trace, exitDone, "Longest pauses"},
		{"nosuchpager 'with an argument'", "report " + trace, exitDone, "Longest pauses"},
		{"head -n 1", "report " + trace, exitDone, "Pauses took"},
		{"head -n 1", "events " + trace, exitDone, "time_ms"},
		{"exit 3;", "events " + trace, exitDone, ""},
		{"head -n 1", "report nosuch.nettrace " + trace, exitUnreadable, "no such file or directory; check the path"},
	} {
		t.Run(tt.pager+" "+tt.args, func(t *testing.T) {
			t.Setenv("GCTRAIL_PAGER", tt.pager)
			got, code := onTerminal(t, strings.Fields(tt.args)...)
			if code != tt.code || !strings.Contains(got, tt.has) || strings.Contains(got, "pipe") {
				t.Errorf("exit %d, want %d and %q:\n%s", code, tt.code, tt.has, got)
			}
		})
	}
}

// TestMessagesWaitForPager: messages about a trace come when the pager has ended.
func TestMessagesWaitForPager(t *testing.T) {
	if _, err := exec.LookPath("sed"); err != nil {
		t.Skip(err)
	}
	t.Setenv("GCTRAIL_PAGER", "cat; echo THE END")
	path := filepath.Join(t.TempDir(), "cut.nettrace.gz")
	whole, err := os.ReadFile(pagedTrace)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)*3/4], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"gcs", path}, {"gcs", "--min-pause", "25ms", path}} {
		got, code := onTerminal(t, args...)
		_, after, _ := strings.Cut(got, "THE END\n")
		if len(args) > 2 { // nothing is paged
			after = got[strings.LastIndex(got, "AllocSmall"):]
		}
		if code != exitDone || !strings.Contains(after, "truncated") || strings.Count(got, "truncated") != 1 {
			t.Errorf("%v: exit %d:\n%s", args, code, got)
		}
	}
}
