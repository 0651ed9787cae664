package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// The amount of work is the first group of the last match of all streams, wherever the
// writes of the program divide its lines.
func TestWorkFinder(t *testing.T) {
	for _, test := range []struct {
		name   string
		writes []string // to both streams in turn
		want   float64
		wrong  string
	}{
		{name: "one line", writes: []string{"requests: 4000\n"}, want: 4000},
		{name: "without an end", writes: []string{"requests: 4000"}, want: 4000},
		{name: "the last line", writes: []string{"requests: 1\nrequests: 2\n", "", "requests: 3\nother\n"}, want: 3},
		{name: "the last of a line", writes: []string{"requests: 1, requests: 2.5\n"}, want: 2.5},
		{name: "in pieces", writes: []string{"reque", "sts: 9\n", "sts: 40", "", "00\n"}, want: 4000},
		{name: "standard error", writes: []string{"requests: 1\n", "requests: 2\n"}, want: 2},
		{name: "after a long line", writes: []string{strings.Repeat("x", 3*maxWorkLine) + " requests: 7\n"}, want: 7},
		{name: "none", writes: []string{"done\n"}, wrong: "no line of the program's output matches"},
		{name: "no number", writes: []string{"requests: .\n"}, wrong: `a number above 0, not "."`},
		{name: "nothing done", writes: []string{"requests: 0\n"}, wrong: "a number above 0"},
	} {
		finder := &workFinder{pattern: regexp.MustCompile(`requests: ([\d.]+)`)}
		streams := []*workStream{finder.stream(), finder.stream()}
		for i, text := range test.writes {
			if n, err := streams[i%2].Write([]byte(text)); n != len(text) || err != nil {
				t.Errorf("%s: wrote %d bytes: %v", test.name, n, err)
			}
		}
		for _, s := range streams {
			s.end()
		}
		got, err := finder.amount()
		if got != test.want || (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: %v (%v), want %v", test.name, got, err, test.want)
		}
	}
}

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
