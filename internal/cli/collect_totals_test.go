//go:build linux

package cli

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
)

// Modes of gcload, and the modes that count collections without events:
// TryStartNoGCRegion takes a number.
var (
	modes = []string{
		"all", "web", "leak", "loh", "pin", "handles", "finalizers", "induced", "pressure", "background", "fragment", "idle",
	}
	uncounted = map[string]bool{"all": true, "induced": true}
)

// TestCollectTotals collects programs from a suspended start to their end, and compares the
// totals of the file with the program's own: one of three in each turn, in a full run every mode,
// runtime and kind of collector.
func TestCollectTotals(t *testing.T) {
	t.Parallel()
	if extent.Pick(true, true, false) {
		for _, run := range extent.Share([]func(){
			func() { collectTotals(t, 8, "web", "DOTNET_gcServer=0") },
			func() { collectTotals(t, 9, "induced", "DOTNET_gcServer=0") },
			func() { collectTotals(t, 10, "web", "DOTNET_gcServer=1") },
		}, 3) {
			run()
		}
		return
	}
	for _, version := range dotnettest.Versions {
		for _, mode := range modes {
			for _, kind := range []string{"DOTNET_gcServer=0", "DOTNET_gcServer=1", "DOTNET_gcConcurrent=0"} {
				collectTotals(t, version, mode, kind)
			}
		}
	}
}

func collectTotals(t *testing.T, version int, mode, setting string) {
	t.Run(fmt.Sprintf("%d/%s/%s", version, mode, setting), func(t *testing.T) {
		ctx := patient(t)
		dir := t.ArtifactDir()
		port := portFor(t)
		program := dotnettest.Start(t, version, mode, 2, setting, "DOTNET_DiagnosticPorts"+"="+port)
		code, _, talk := gctrail(ctx, "collect", "--diagnostic-port", port, "-o", filepath.Join(dir, "{pid}.nettrace"))
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, talk)
		}
		rows := gcsRows(ctx, t, filepath.Join(dir, fmt.Sprint(program.PID, ".nettrace")))
		compareTotals(t, rows, program, uncounted[mode], setting == "DOTNET_gcServer=1")
		compareWithTruth(t, rows, program.Truth())
	})
}

// compareWithTruth compares the collections with the program's records from
// GC.GetGCMemoryInfo. It leaves out a background collection that is closely followed by
// another, because the runtime reports it with the number of the later one.
func compareWithTruth(t *testing.T, rows []gcsRow, truth []dotnettest.Truth) {
	t.Helper()
	seen := make(map[uint32]*gcsRow)
	for i := range rows {
		seen[rows[i].Number] = &rows[i]
	}
	compared := 0
	for i := range truth {
		row := seen[truth[i].Number]
		if row != nil && truth[i].Concurrent && row.Kind != "background" {
			continue
		}
		compareRow(t, row, &truth[i])
		compared++
	}
	if skipped := len(truth) - compared; skipped > 1+len(truth)/10 {
		t.Errorf("%d of %d lines of truth could not be compared", skipped, len(truth))
	}
	t.Logf("%d of %d lines of truth compared", compared, len(truth))
}

// portFor returns a path for a port: t.TempDir may be too long for a socket.
func portFor(t *testing.T) string {
	dir, err := os.MkdirTemp("/tmp", "gctrail-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "port")
}

// compareTotals compares sums. A collection that runs while the program counts
// may be in its sums or not. With a server's collector, whose threads have to wait
// for a processor between the runtime's look at the clock and its event, pauses
// are longer by up to half a millisecond; and it counts the second pause of some
// background collections from before it asks threads to stop. On a busy machine any
// thread may lose its processor there, for as long as comparePauses finds, and at most
// for as long as the threads waited for one.
func compareTotals(t *testing.T, rows []gcsRow, program *dotnettest.Program, uncounted, server bool) {
	t.Helper()
	totals := program.Totals()
	seen, paused, unfinished := 0, 0.0, 0.0
	for _, r := range rows {
		switch {
		case int(r.Number) > totals.Collections:
			continue
		case r.Complete:
			paused += r.PauseMS
		default:
			unfinished += r.PauseMS
		}
		seen++
	}
	gaps := totals.Collections - seen
	if gaps < 0 || gaps > 0 && !uncounted {
		t.Errorf("%d collections, the program counted %d", seen, totals.Collections)
	}
	below := max(totals.PauseMS/50, 5)
	above := below
	if server {
		below, above = max(below, 5*float64(seen)), max(above, float64(seen))
	}
	apart := comparePauses(t, rows, program)
	waited := float64(program.Waited()) / 1e6
	below, above = below+max(apart, waited), above+max(apart, waited)
	if paused < totals.PauseMS-unfinished-below || paused > totals.PauseMS+above {
		t.Errorf("paused for %.1f ms, and %.1f unfinished, the program counted %.1f ms, give or take %.1f ms for pauses that it saw", paused, unfinished, totals.PauseMS, apart)
	}
	t.Logf("%d collections and %d gaps of %d, paused %.1f ms of %.1f (%+.2f %%)", seen, gaps, totals.Collections,
		paused+unfinished, totals.PauseMS, 100*((paused+unfinished)/max(totals.PauseMS, 0.001)-1))
}

// comparePauses compares most blocking pauses with the program's own measurements. A
// difference is allowed if the program's threads waited for a processor for longer. It
// returns the sum, in milliseconds, of the differences that exceed the time of an event.
func comparePauses(t *testing.T, rows []gcsRow, program *dotnettest.Program) (apart float64) {
	t.Helper()
	truth := program.Truth()
	seen := make(map[uint32]*gcsRow)
	for i := range rows {
		seen[rows[i].Number] = &rows[i]
	}
	compared, differ := 0, 0
	for i := range truth {
		r := seen[truth[i].Number]
		if r == nil || !r.Complete || truth[i].Concurrent != (r.Kind == "background") {
			continue
		}
		want := float64(truth[i].Pauses[0]+truth[i].Pauses[1]) / 1000
		by := math.Abs(r.PauseMS - want)
		if by > max(want/50, 1) {
			apart += by
		}
		if !truth[i].Concurrent {
			compared++
			if by > max(want/50, 1) {
				differ++
			}
		}
	}
	if differ > compared/2 && apart > float64(program.Waited())/1e6 {
		t.Errorf("%d of %d pauses are not as long as the program saw", differ, compared)
	}
	return apart
}
