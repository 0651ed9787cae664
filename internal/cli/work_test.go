package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

func TestAmountsPerRun(t *testing.T) {
	err := amounts{1, 2}.apply([]*compare.Run{{Name: "a"}})
	if want := "--work needs a number for each run: 2 given, 1 run"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestWorkFile(t *testing.T) {
	for trace, want := range map[string]string{
		"runs/run-1.nettrace": "runs/run-1.work", "a.nettrace.gz": "a.work", "a.etl.zip": "a.work", "lttng": "lttng.work", "a.b": "a.b.work",
	} {
		if got := workFile(trace); got != want {
			t.Errorf("%s: %s, want %s", trace, got, want)
		}
	}
}

// A run of a program keeps the amount that the program writes, and totals are then compared
// per unit of it.
func TestRunWork(t *testing.T) {
	program, dir := dotnettest.Install(t, 10), t.TempDir()
	run := func(want int, pattern string) string {
		t.Helper()
		_, talk, code := on(t, 0, "run", "--work", pattern, "-o", dir, "--", program, "web", "1")
		if code != want {
			t.Fatalf("exit %d, want %d: %s", code, want, talk)
		}
		return talk
	}
	run(exitDone, `"total_allocated_bytes":(\d+)`)
	if data, err := os.ReadFile(filepath.Join(dir, "run-1.work")); err != nil || len(data) < 4 {
		t.Errorf("the work is %q: %v", data, err)
	}
	trace := filepath.Join(dir, "run-1.nettrace")
	if out, talk, code := on(t, 0, "diff", "--format", "json", trace, trace); code != exitDone || !strings.Contains(out, `"per":"work"`) {
		t.Errorf("exit %d: %s%s", code, out, talk)
	}
	if talk := run(exitUsage, `requests: (\d+)`); !strings.Contains(talk, "no line of the program's output matches --work") {
		t.Error(talk)
	}
}
