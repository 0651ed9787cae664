package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingSelected: where a selection has nothing of a trace, every command names what
// the trace has instead, and none advises to record what may be there.
func TestNothingSelected(t *testing.T) {
	const (
		one  = "../../testdata/net10-wks-stacks.nettrace.gz"
		many = "../../testdata/net31-net9-lttng.trace.zip"
	)
	commands := [][]string{
		{"report"},
		{"gcs"},
		{"allocs"},
		{"pins"},
		{"requests"},
		{"handles"},
		{"finalizers"},
		{"heap"},
		{"objects"},
		{"pauses"},
		{"joins"},
		{"joins", "--tunings"},
		{"phases"},
		{"events"},
		{"convert", "-o", filepath.Join(t.TempDir(), "out.csv")},
	}
	for _, tt := range []struct {
		path string
		flag []string
		want string
	}{
		{one, []string{"--pid", "1"}, "pid 5564"},
		{one, []string{"--process", "x*"}, "pid 5564"},
		{one, []string{"--from", "100s"}, "the trace is 1.93 s long, from 2026-"},
		{one, []string{"--to", "2020-01-01T00:00:00Z"}, "the trace is 1.93 s long, from 2026-"},
		{many, []string{"--pid", "1"}, "dotnet (pid 21385)"},
	} {
		for _, command := range commands {
			args := append(append(append([]string{}, command...), tt.flag...), tt.path)
			out, talk, code := on(t, 0, args...)
			said := strings.Join(strings.Fields(out+talk), " ")
			if code != exitDone || !strings.Contains(said, tt.want) || strings.Contains(said, "gctrail collect") {
				t.Errorf("%s: exit %d: %.300s", args, code, said)
			}
		}
	}
}

// TestReportNothingSelected: the commands that an empty report suggests show something.
func TestReportNothingSelected(t *testing.T) {
	for _, tt := range []struct {
		path string
		flag []string
	}{
		{"../../testdata/net10-wks-stacks.nettrace.gz", []string{"--pid", "1"}},
		{"../../testdata/net10-wks-stacks.nettrace.gz", []string{"--from", "100s"}},
		{"../../testdata/net31-net9-lttng.trace.zip", []string{"--process", "x*"}},
	} {
		suggested := suggestions(t, tt.path, tt.flag...)
		if len(suggested) == 0 {
			t.Errorf("%s: nothing is suggested", tt.flag)
		}
		for _, s := range suggested {
			args := accepted(t, s.command)
			if out, _, code := on(t, 0, args...); code != exitDone || out == "" || strings.HasPrefix(out, "None of") {
				t.Errorf("%s: exit %d: %.100s", s.command, code, out)
			}
		}
	}
}
