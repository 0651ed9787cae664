//go:build linux

package cli

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// TestAgentTotals compares the agent's counters with .NET's own: GC.CollectionCount and
// GC.GetTotalPauseDuration of a program that starts while the agent runs, for
// GCTRAIL_AGENT_SECONDS.
func TestAgentTotals(t *testing.T) {
	t.Parallel()
	seconds, _ := strconv.Atoi(cmp.Or(os.Getenv("GCTRAIL_AGENT_SECONDS"), "3"))
	for _, version := range dotnettest.Due(t) {
		t.Run(strconv.Itoa(version), func(t *testing.T) {
			file := dotnettest.Install(t, version)
			a, _ := runAgent(t, "--listen", anyPort, "--name", filepath.Base(file), "--labels", "process")
			program := dotnettest.StartFile(t, file, "web", seconds)
			who := `process="` + program.Name + `"`
			program.Ended()
			s := a.samplesUntil(t, "/metrics", func(s map[string]float64) bool {
				return len(s) > 0 && s[`gctrail_process_attached{`+who+`}`] == 0 && s[`dotnet_gc_pause_time_seconds_total{`+who+`}`] > 0
			})
			compareAgent(t, s, program)
		})
	}
}

// compareAgent compares counters. A collection that runs while the program counts may
// be in its sums or not, an event takes up to a millisecond for each pause, which
// matters in a short run only, and a busy machine delays events by what the program's
// threads wait for a processor.
func compareAgent(t *testing.T, s map[string]float64, program *dotnettest.Program) {
	t.Helper()
	who, totals := `process="`+program.Name+`"`, program.Totals()
	of := func(generation int) int {
		return int(s[`dotnet_gc_collections_total{dotnet_gc_heap_generation="gen`+strconv.Itoa(generation)+`",`+who+`}`])
	}
	gen2 := of(2)
	gen1 := gen2 + of(1)
	gen0 := gen1 + of(0)
	differs := func(seen, counted int) bool { return max(seen-counted, counted-seen) > 1 }
	if differs(gen0, totals.Collections) || differs(gen1, totals.Gen1) || differs(gen2, totals.Gen2) {
		t.Errorf("%d, %d and %d collections; .NET counts %d, %d and %d", gen0, gen1, gen2, totals.Collections, totals.Gen1, totals.Gen2)
	}
	paused, want := s[`dotnet_gc_pause_time_seconds_total{`+who+`}`], totals.PauseMS/1000
	if math.Abs(paused-want) > 0.02*want+0.001*float64(min(gen0, 60))+program.Waited().Seconds() {
		t.Errorf("paused %.3f s; .NET counts %.3f s; its threads waited %v for a processor", paused, want, program.Waited())
	}
	t.Logf("%d collections, paused %.3f s; .NET counts %d, %.3f s", gen0, paused, totals.Collections, want)
}

// TestAgentProcessors compares the agent's counters for a program's threads with the
// kernel's. The agent counts from the time it attached, as long as the program runs.
func TestAgentProcessors(t *testing.T) {
	t.Parallel()
	program := dotnettest.Start(t, dotnettest.Versions[len(dotnettest.Versions)-1], "web", 300)
	a := startAgent(t, "--name", program.Name, "--labels", "process")
	who := `{process="` + program.Name + `"}`
	var latest float64
	for range 2 {
		s := a.samplesUntil(t, "/metrics", func(s map[string]float64) bool {
			return s["gctrail_process_cpu_run_time_seconds_total"+who] > latest
		})
		latest = s["gctrail_process_cpu_run_time_seconds_total"+who]
		if waited, at := s["gctrail_process_cpu_wait_time_seconds_total"+who], max(dotnettest.Waited(program.PID), program.Waited()).Seconds(); waited > at {
			t.Errorf("threads waited %v s for a processor; the kernel counts %v s", waited, at)
		}
	}
}
