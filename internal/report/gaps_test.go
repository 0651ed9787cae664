package report

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/trace"
)

// TestCollectFromTheFramework: processes of .NET Framework are recorded through ETW.
func TestCollectFromTheFramework(t *testing.T) {
	for runtime, want := range map[string]string{
		".NET 10.0.12":                   "gctrail collect -p PID --profile gc-alloc",
		".NET Framework 4.0.30319.34209": "gctrail collect --etw -p PID --profile gc-alloc",
	} {
		process := &gc.Process{PID: 7, Runtime: runtime, Stopped: time.Second}
		var found findings.Set
		found.Add(&gc.Collection{Process: process})
		c := Case{Result: found.Judge(findings.Trace{})[0]}
		rep := &Report{info: new(trace.Info), loss: new(trace.Loss), cases: []Case{c}}
		var commands []string
		for _, g := range rep.gaps(&c) {
			commands = append(commands, g.Command.Or(""))
		}
		if words := strings.Join(append(commands, rep.next()...), "\n"); !strings.Contains(words, want) ||
			strings.Contains(words, "--etw") != strings.Contains(want, "--etw") {
			t.Errorf("%s:\n%s", runtime, words)
		}
	}
}

// TestLossInWords: the evidence line names everything that is missing, and what is a
// lower bound; the gaps say that damage may hide more.
func TestLossInWords(t *testing.T) {
	for _, test := range []struct {
		name     string
		loss     trace.Loss
		evidence string
		gaps     []string
	}{
		{"whole", trace.Loss{Exactness: trace.Exact}, "no events lost", nil},
		{"lost", trace.Loss{Events: 2, Exactness: trace.Exact}, "2 events lost", []string{"2 events lost. This may affect the figures of 1 GC; sums are lower bounds."}},
		{
			"left out",
			trace.Loss{Events: 2000, LeftOut: 2000, Exactness: trace.Exact},
			"2,000 events left out, of processes after the first 1,024",
			[]string{"Other processes with GC events: 2,000 events left out, of processes after the first 1,024."},
		},
		{"lost and left out", trace.Loss{Events: 3, LeftOut: 1, Exactness: trace.Exact}, "2 events lost, 1 event left out, of processes after the first 1,024", []string{
			"2 events lost. This may affect the figures of 1 GC; sums are lower bounds.",
			"Other processes with GC events: 1 event left out, of processes after the first 1,024.",
		}},
		{
			"one lost, and damaged",
			trace.Loss{Events: 1, Exactness: trace.LowerBound, Damaged: 1, Damage: []trace.Damage{{File: "channel0_1", Off: 4096, Err: new(trace.FormatError)}}},
			"at least 1 event lost, damaged (1 unreadable place)",
			[]string{
				"At least 1 event lost. This may affect the figures of 1 GC; sums are lower bounds.",
				"The contents of 1 place that cannot be read, the first at byte 4,096 of channel0_1: whole GCs may be missing.",
			},
		},
		{
			"damaged",
			trace.Loss{Exactness: trace.LowerBound, Damaged: 2, Damage: []trace.Damage{{Err: errors.New("why")}}},
			"damaged (2 unreadable places)",
			[]string{"The contents of 2 places that cannot be read, the first at byte 0 (why): whole GCs may be missing. This may affect the figures of 1 GC; sums are lower bounds."},
		},
	} {
		process := &gc.Process{PID: 7, Stopped: time.Second}
		var found findings.Set
		found.Add(&gc.Collection{Process: process, AffectedByLoss: true})
		c := Case{Result: found.Judge(findings.Trace{})[0]}
		rep := &Report{info: new(trace.Info), loss: &test.loss, cases: []Case{c}}
		if got := rep.completeness(); got != test.evidence {
			t.Errorf("%s: evidence: %q, want %q", test.name, got, test.evidence)
		}
		var got []string
		for _, g := range rep.gaps(&c) {
			if strings.Contains(g.What, "lost") || strings.Contains(g.What, "left out") || strings.Contains(g.What, "cannot be read") {
				got = append(got, g.What)
			}
		}
		if !slices.Equal(got, test.gaps) {
			t.Errorf("%s: gaps: %q, want %q", test.name, got, test.gaps)
		}
	}
}

func TestMissingGCs(t *testing.T) {
	for n, want := range map[int]string{
		1:  "1 GC is missing: the numbers of later ones show that it ran.",
		28: "28 GCs are missing: the numbers of later ones show that they ran.",
	} {
		rep := &Report{info: new(trace.Info), loss: new(trace.Loss)}
		var found findings.Set
		found.Add(&gc.Collection{Process: &gc.Process{PID: 7, Missing: n, Stopped: time.Second}})
		c := &Case{Result: found.Judge(findings.Trace{})[0]}
		if got := rep.missing(c); len(got) != 1 || got[0].What != want {
			t.Errorf("%d missing: %q, want %q", n, got, want)
		}
	}
}
