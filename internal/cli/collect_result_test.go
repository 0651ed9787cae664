package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/nettrace"
)

// TestVerdictOfKept: that there is no collection in what a ring has kept is not said of
// all that was followed.
func TestVerdictOfKept(t *testing.T) {
	for _, tt := range []struct {
		joined   bool
		followed int64
		want     string
	}{
		{false, 0, "No GC happened in 0 ms."},
		{true, 0, "No GC happened in 0 ms."},
		{true, 1, "No GC happened in the 0 ms that are kept; 1 GC happened before. Keep more with --keep."},
		{true, 1600, "No GC happened in the 0 ms that are kept; 1,600 GCs happened before. Keep more with --keep."},
	} {
		var out bytes.Buffer
		std := &stdio{err: text.NewPrinter(&out)}
		p := text.PageOn(std.errTerm)
		r := &collect.Result{
			Trace:  nettrace.NewReader(bytes.NewReader(nil), nettrace.Options{}),
			Joined: tt.joined, Followed: tt.followed,
		}
		writeVerdict(p, r, report.Of(r.Trace, nil))
		if err := std.err.Page(p); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestAgain: the command for another recording starts a program that has ended.
func TestAgain(t *testing.T) {
	const start = "-- /app/web --x"
	found := []findings.Result{{Case: &findings.Case{Summary: stats.Summary{Process: &gc.Process{CommandLine: "/app/web /app/web.dll --x"}}}}}
	for _, tt := range []struct {
		target string
		exited bool
		found  []findings.Result
		want   string
	}{
		{"-p 42", true, found, start},
		{"-n web", true, found, start},
		{"-p 42", false, found, "-p 42"},
		{"-p 42", true, nil, "-p 42"},
		{"-n web -- ./web", true, found, "-n web -- ./web"},
		{"", true, found, ""},
	} {
		if got := again(&collect.Result{Exited: tt.exited, Found: tt.found}, tt.target); got != tt.want {
			t.Errorf("%s, exited %t: %s", tt.target, tt.exited, got)
		}
	}
}
