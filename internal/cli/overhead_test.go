//go:build linux

package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// overheadSeconds is how long each program runs.
const overheadSeconds = 2

// overheadPlans are the measurements: in each round every mode runs alone and with each
// profile.
var overheadPlans = []struct {
	version         int
	modes, profiles string
}{
	{10, "all web leak loh pin handles finalizers induced pressure background fragment idle", "gc-collect gc-verbose"},
	{9, "web pin handles", "gc-collect gc-verbose"},
	{8, "web pin handles", "gc-collect gc-verbose"},
	{10, "web", "dotnet-common dotnet-sampled-thread-time"},
	{10, "all web pin handles finalizers", "gc-alloc"},
	{8, "web pin handles", "gc-alloc"},
	{10, "web leak loh pin handles finalizers", "gc-ticks"},
	{8, "web leak pin finalizers", "gc-ticks"},
}

// A run holds how much a program allocated, and the cost of collecting from it.
type run struct {
	allocated int64         // bytes
	cpu       time.Duration // of the program
	trace     int64         // bytes
	ours      time.Duration // CPU time of gctrail
	resident  int64         // bytes, at most, of gctrail
}

// TestOverhead measures the cost of collecting for the programs, and prints the tables of
// docs/overhead.md, which has the command. Other load on the machine affects all modes
// alike, because their order changes each round.
func TestOverhead(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("GCTRAIL_OVERHEAD"))
	if rounds == 0 {
		t.Skip("GCTRAIL_OVERHEAD says in how many rounds to measure, each of two to three minutes")
	}
	type of struct {
		plan          int
		mode, profile string
	}
	runs := make(map[of][]run)
	for round := range rounds {
		for n, plan := range overheadPlans {
			for mode := range strings.FieldsSeq(plan.modes) {
				profiles := append(strings.Fields(plan.profiles), alone)
				for i := range profiles {
					profile := profiles[(i+round)%len(profiles)]
					t.Run(fmt.Sprint(plan.version, " ", mode, " ", profile), func(t *testing.T) {
						r := measureRun(t, plan.version, mode, profile)
						t.Logf("%+v", r)
						runs[of{n, mode, profile}] = append(runs[of{n, mode, profile}], r)
					})
				}
			}
		}
	}
	if t.Failed() {
		return
	}
	for n, plan := range overheadPlans {
		fmt.Printf("\n.NET %d, medians of %d rounds, with the first and the third quartile\n\n", plan.version, rounds)
		fmt.Println("| mode | profile | MB/s alone | MB/s | CPU per MB | trace MB/s | gctrail's CPU s | resident MiB |")
		fmt.Println("|---|---|---|---|---|---|---|---|")
		for mode := range strings.FieldsSeq(plan.modes) {
			without := runs[of{n, mode, alone}]
			for profile := range strings.FieldsSeq(plan.profiles) {
				with := runs[of{n, mode, profile}]
				if len(with) == 0 || len(without) == 0 {
					continue // -run left it out
				}
				fmt.Printf("| %s | %s | %.0f | %s | %s | %.1f | %.2f | %.0f |\n", mode, profile, median(without, (*run).rate),
					change(without, with, (*run).rate), change(without, with, (*run).price),
					median(with, (*run).traceRate), median(with, (*run).ourSeconds), median(with, (*run).ourMemory))
			}
		}
	}
}

// alone stands for no profile.
const alone = "alone"

// rate returns a program's allocation in MB a second.
func (r *run) rate() float64 { return float64(r.allocated) / 1e6 / overheadSeconds }

// price returns a program's CPU seconds per allocated MB.
func (r *run) price() float64 { return r.cpu.Seconds() / (float64(r.allocated) / 1e6) }

func (r *run) traceRate() float64 { return float64(r.trace) / 1e6 / overheadSeconds }

func (r *run) ourSeconds() float64 { return r.ours.Seconds() }

func (r *run) ourMemory() float64 { return float64(r.resident) / (1 << 20) }

func median(runs []run, figure func(*run) float64) float64 {
	all := make([]float64, len(runs))
	for i := range runs {
		all[i] = figure(&runs[i])
	}
	return quartile(all, 2)
}

// change is by how much a figure changes from a run to the one of the same round:
// the median, and in brackets the first and the third quartile.
func change(from, to []run, figure func(*run) float64) string {
	all := make([]float64, len(from))
	for i := range from {
		all[i] = 100 * (figure(&to[i])/figure(&from[i]) - 1)
	}
	return fmt.Sprintf("%+.0f %% (%+.0f to %+.0f)", quartile(all, 2), quartile(all, 1), quartile(all, 3))
}

// quartile returns the value that n quarters of all are not above.
func quartile(all []float64, n int) float64 {
	slices.Sort(all)
	return math.Round(100*all[n*(len(all)-1)/4])/100 + 0
}

// measureRun runs a program, and gctrail collect unless it is to run alone.
func measureRun(t *testing.T, version int, mode, profile string) run {
	t.Helper()
	if profile == alone {
		return ranAs(dotnettest.Start(t, version, mode, overheadSeconds))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	port := filepath.Join(t.TempDir(), "port")
	variable, err := diag.PortVariable(port, true)
	if err != nil {
		t.Fatal(err)
	}
	c := newCollecting(ctx, t, "--diagnostic-port", port, "--profile", profile).start()
	dotnettest.Until(ctx, t, "gctrail listens at the port", func() bool {
		_, err := os.Stat(port)
		return err == nil
	})
	r := ranAs(dotnettest.Start(t, version, mode, overheadSeconds, variable))
	c.ends(exitDone)
	info, err := os.Stat(c.path)
	if err != nil {
		t.Fatal(err)
	}
	r.trace = info.Size()
	r.ours = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.resident = usage.Maxrss << 10
	}
	if err := os.Remove(c.path); err != nil {
		t.Fatal(err)
	}
	return r
}

func ranAs(p *dotnettest.Program) run {
	allocated := p.Totals().Allocated
	return run{allocated: cmp.Or(allocated, 1), cpu: p.ProcessState.UserTime() + p.ProcessState.SystemTime()}
}
