package compare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/nettrace"
)

// record runs a program for some seconds, with more variables in its environment, and
// reads the trace that its runtime writes. The work done is the program's own count of
// allocated GB.
func record(t *testing.T, file, mode string, seconds int, env ...string) *compare.Run {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "run.nettrace")
	cmd := exec.Command(file, mode, fmt.Sprint(seconds))
	cmd.Env = append(append(os.Environ(),
		"DOTNET_EnableEventPipe=1", "DOTNET_EventPipeOutputPath="+trace,
		"DOTNET_EventPipeConfig=Microsoft-Windows-DotNETRuntime:0x1:4"), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var counted struct {
		Allocated float64 `json:"total_allocated_bytes"`
	}
	if err := json.Unmarshal(out, &counted); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	r := &compare.Run{Name: mode, Work: counted.Allocated / 1e9}
	var model gc.Model
	for c, err := range model.Collections(nettrace.NewReader(bytes.NewReader(data), nettrace.Options{Want: gc.Wants})) {
		if err != nil {
			t.Fatal(err)
		}
		r.Add(c)
	}
	return r
}

// timed returns copies of runs without their work, so that they are compared by run or by
// second.
func timed(runs []*compare.Run) []*compare.Run {
	copies := make([]*compare.Run, len(runs))
	for i, r := range runs {
		c := *r
		c.Work = 0
		copies[i] = &c
	}
	return copies
}

// verdicts counts the verdicts of comparisons.
type verdicts map[compare.Verdict]int

func (v verdicts) String() string {
	return fmt.Sprintf("%d changed, %d same, %d cannot tell", v[compare.Changed], v[compare.Same], v[compare.CannotTell])
}

// TestPrograms prints the tables of docs/compare.md: pairs of equal runs of real
// programs, of which at most one in twenty may be called changed, and changes that must
// be found. It takes a quarter of an hour, and needs an idle machine because other load
// would disturb it.
func TestPrograms(t *testing.T) {
	extent.Full(t, "runs programs for a quarter of an hour")
	file := dotnettest.Install(t, 10)
	const seconds, side, pairs = 3, 5, 4
	random := rand.New(rand.NewPCG(30, 30))
	ordinary := make(map[string][]*compare.Run)
	byWork, byTime, single := verdicts{}, verdicts{}, verdicts{}
	t.Log("| mode | 5 runs a side, by work | by time | one run a side, by work |\n|---|---|---|---|")
	for _, mode := range []string{"web", "loh", "pin", "finalizers", "background"} {
		runs := make([]*compare.Run, 2*side*pairs)
		// Draw the order of sides by lot, because the machine's other load changes with
		// time.
		for _, i := range random.Perm(len(runs)) {
			runs[i] = record(t, file, mode, seconds)
		}
		ordinary[mode] = runs
		work, time, one := verdicts{}, verdicts{}, verdicts{}
		for i := range pairs {
			before, after := runs[2*side*i:][:side], runs[2*side*i+side:][:side]
			work[explain(t, mode, compare.Compare(before, after))]++
			time[explain(t, mode+" by time", compare.Compare(timed(before), timed(after)))]++
		}
		for i := range len(runs) / 2 {
			one[compare.Compare(runs[2*i:2*i+1], runs[2*i+1:2*i+2]).Verdict]++
		}
		t.Logf("| %s | %s | %s | %s |", mode, work, time, one)
		for _, v := range []compare.Verdict{compare.Changed, compare.Same, compare.CannotTell} {
			byWork[v] += work[v]
			byTime[v] += time[v]
			single[v] += one[v]
		}
	}
	t.Logf("| all | %s | %s | %s |", byWork, byTime, single)
	if n := byWork[compare.Changed]; n > 1 {
		t.Errorf("%d equal pairs called changed, want at most 1", n)
	}
	if n := byTime[compare.Changed]; n > 1 {
		t.Errorf("%d equal pairs called changed by time, want at most 1", n)
	}

	t.Log("| web with | metric | verdict | change | 95 % interval |\n|---|---|---|---:|---|")
	for _, test := range []struct {
		env, metric string
	}{
		{"DOTNET_GCgen0size=0x4000000", "collections"},
		{"DOTNET_GCgen0size=0x8000000", "collections"},
		{"DOTNET_GCConserveMemory=8", "heap_after_mean_bytes"},
		{"DOTNET_gcServer=1", "collections"},
	} {
		var after []*compare.Run
		for range side {
			after = append(after, record(t, file, "web", seconds, test.env))
		}
		c := compare.Compare(ordinary["web"][:side], after)
		for _, ch := range c.Changes {
			if ch.Verdict == compare.Changed && ch.Explains == "" || ch.Name == test.metric {
				t.Logf("| `%s` | %s | %s | %+.0f %% | %+.0f to %+.0f %% |", test.env, ch.Text, ch.Verdict, ch.Percent, ch.Low, ch.High)
			}
			if ch.Name == test.metric && ch.Verdict != compare.Changed {
				t.Errorf("%s: %s is %s", test.env, test.metric, ch.Verdict)
			}
		}
	}
}

// explain returns a comparison's verdict, and logs the changes.
func explain(t *testing.T, name string, c *compare.Comparison) compare.Verdict {
	t.Helper()
	for _, ch := range c.Changes {
		if ch.Verdict == compare.Changed {
			t.Logf("%s: %s %.4g, then %.4g: %+.1f %% (%+.1f to %+.1f), p %.3f", name, ch.Name, ch.Before.Low, ch.After.Low, ch.Percent, ch.Low, ch.High, ch.P)
		}
	}
	return c.Verdict
}
