package compare_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/nettrace"
)

// record runs a program for some seconds, with more variables in its
// environment, and reads the trace that its runtime writes.
func record(t *testing.T, file, mode string, seconds int, env ...string) *compare.Run {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "run.nettrace")
	cmd := exec.Command(file, mode, fmt.Sprint(seconds))
	cmd.Env = append(append(os.Environ(),
		"DOTNET_EnableEventPipe=1", "DOTNET_EventPipeOutputPath="+trace,
		"DOTNET_EventPipeConfig=Microsoft-Windows-DotNETRuntime:0x1:4"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	r := &compare.Run{Name: mode}
	var model gc.Model
	for c, err := range model.Collections(nettrace.NewReader(bytes.NewReader(data), nettrace.Options{Want: gc.Wants})) {
		if err != nil {
			t.Fatal(err)
		}
		r.Add(c)
	}
	return r
}

// TestPrograms makes the tables of docs/compare.md: pairs of equal runs of real
// programs, of which at most one in twenty may be called changed, and changes
// that must be found. It takes a quarter of an hour.
func TestPrograms(t *testing.T) {
	if os.Getenv("GCTRAIL_COMPARE") == "" {
		t.Skip("runs programs for a quarter of an hour: set GCTRAIL_COMPARE=1")
	}
	file := dotnettest.Install(t, 10)
	const seconds, side, pairs = 3, 5, 4
	random := rand.New(rand.NewPCG(30, 30))
	alarms, all := 0, 0
	ordinary := make(map[string][]*compare.Run)
	for _, mode := range []string{"web", "loh", "pin", "finalizers", "background"} {
		runs := make([]*compare.Run, 2*side*pairs)
		// The machine's other load changes with time: sides are drawn by lot.
		for _, i := range random.Perm(len(runs)) {
			runs[i] = record(t, file, mode, seconds)
		}
		ordinary[mode] = runs
		for i := range pairs {
			pair := runs[2*side*i:]
			c := compare.Compare(pair[:side], pair[side:2*side])
			all++
			if c.Verdict == compare.Changed {
				alarms++
			}
			report(t, mode, c)
		}
		for i := range len(runs) / 2 {
			c := compare.Compare(runs[2*i:2*i+1], runs[2*i+1:2*i+2])
			if c.Verdict == compare.Changed {
				report(t, mode+", one run a side", c)
			}
		}
	}
	t.Logf("%d of %d equal pairs called changed", alarms, all)
	if alarms > 1 {
		t.Errorf("%d of %d equal pairs called changed, want at most 1", alarms, all)
	}

	for _, test := range []struct {
		mode, env, metric string
	}{
		{"web", "DOTNET_GCgen0size=0x4000000", "collections"},
		{"web", "DOTNET_GCConserveMemory=8", "pause_pct"},
		{"web", "DOTNET_gcServer=1", "collections"},
	} {
		var after []*compare.Run
		for range side {
			after = append(after, record(t, file, test.mode, seconds, test.env))
		}
		c := compare.Compare(ordinary[test.mode][:side], after)
		report(t, test.mode+" "+test.env, c)
		if verdict(c, test.metric) != compare.Changed {
			t.Errorf("%s: %s is %s", test.env, test.metric, verdict(c, test.metric))
		}
	}
}

func verdict(c *compare.Comparison, metric string) compare.Verdict {
	for _, ch := range c.Changes {
		if ch.Name == metric {
			return ch.Verdict
		}
	}
	return ""
}

func report(t *testing.T, name string, c *compare.Comparison) {
	t.Helper()
	for _, ch := range c.Changes {
		if ch.Of == "" || ch.Verdict == compare.Changed {
			t.Logf("%-30s %-11s %-24s %12.4g %12.4g %+7.1f %% (%+.1f to %+.1f) p %.3f, %d more, %s",
				name, ch.Verdict, ch.Name, ch.Before, ch.After, ch.Percent, ch.Low, ch.High, ch.P, ch.RunsNeeded, ch.Reason)
		}
	}
}
