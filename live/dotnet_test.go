//go:build linux

package live_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/live"
)

// launch starts a program that waits for its diagnostic port.
func launch(ctx context.Context, t *testing.T, version int, mode string, seconds int, env ...string) (*dotnettest.Program, *diag.Process) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "port")
	l, err := diag.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	variable, err := diag.PortVariable(path, true)
	if err != nil {
		t.Fatal(err)
	}
	program := dotnettest.Start(t, version, mode, seconds, append(env, variable)...)
	r, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Process(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if p.PID != program.PID || p.Name != program.Name {
		t.Errorf("process %d %s, want %d %s", p.PID, p.Name, program.PID, program.Name)
	}
	return program, p
}

// kept returns a tap that keeps the trace where go test -artifacts finds it.
func kept(t *testing.T) func(*diag.Process) io.Writer {
	t.Helper()
	f, err := os.Create(filepath.Join(t.ArtifactDir(), "trace.nettrace"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func(*diag.Process) io.Writer { return f }
}

// TestTruth follows programs from their start, and compares each collection with
// what the runtime itself says of it.
func TestTruth(t *testing.T) {
	for _, version := range dotnettest.Due(t) {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), dotnettest.Patience)
			defer cancel()
			program, p := launch(ctx, t, version, "web", 2, fmt.Sprintf("DOTNET_gcServer=%d", version%2))
			got := make(map[uint32]*gc.Collection)
			for u, err := range live.Follow(ctx, p, live.Options{Tap: kept(t)}) {
				if err != nil {
					t.Fatal(err)
				}
				switch u.Kind {
				case live.Attached:
					if err := p.Client().Resume(ctx); err != nil {
						t.Fatal(err)
					}
				case live.Collected:
					got[u.Collection.Number] = u.Collection
				case live.Ended:
					if u.Err != nil || u.Lost != 0 {
						t.Errorf("ended by %v, %d events lost", u.Err, u.Lost)
					}
				}
			}
			totals := program.Totals()
			truth := program.Truth()
			compareTotals(t, got, program)
			for i := range truth {
				compare(t, got[truth[i].Number], &truth[i])
			}
			t.Logf("%d collections, %d of them compared, %.1f ms", len(got), len(truth), totals.PauseMS)
		})
	}
}

// compareTotals compares sums. They may differ, because a collection that runs while the
// program counts may be missing in its sums, and because on a busy machine a thread may
// lose its processor between the runtime's reading of the clock and its event: as
// comparePauses finds for the collections that the program saw, and at most for as long
// as its threads waited for a processor.
func compareTotals(t *testing.T, got map[uint32]*gc.Collection, program *dotnettest.Program) {
	t.Helper()
	totals := program.Totals()
	seen := 0
	var paused, unfinished time.Duration
	for number, c := range got {
		if int(number) > totals.Collections {
			continue
		}
		seen++
		if c.Complete {
			paused += pauseOf(c)
		} else {
			unfinished += pauseOf(c)
		}
	}
	if seen != totals.Collections || seen == 0 {
		t.Errorf("%d collections, the program counted %d", seen, totals.Collections)
	}
	want := time.Duration(totals.PauseMS * float64(time.Millisecond))
	tolerance := max(want/50, time.Duration(seen)*5*time.Millisecond) + max(comparePauses(t, got, program), program.Waited())
	if paused < want-unfinished-tolerance || paused > want+tolerance {
		t.Errorf("paused for %v, and %v unfinished, the program counted %v, give or take %v", paused, unfinished, want, tolerance)
	}
}

// comparePauses compares most pauses with the runtime's own figures, which leave out the
// restart, and for background collections the way from one thread to another. A difference
// is allowed if the program's threads waited for a processor for longer. It returns the sum
// of the differences.
func comparePauses(t *testing.T, got map[uint32]*gc.Collection, program *dotnettest.Program) (apart time.Duration) {
	t.Helper()
	truth := program.Truth()
	differ := 0
	for i := range truth {
		c := got[truth[i].Number]
		if c == nil || !c.Complete {
			continue
		}
		want := time.Duration(truth[i].Pauses[0]+truth[i].Pauses[1]) * time.Microsecond
		if by := (pauseOf(c) - want).Abs(); by > max(want/50, time.Millisecond) {
			differ++
			apart += by
		}
	}
	if differ > len(truth)/2 && apart > program.Waited() {
		t.Errorf("%d of %d pauses are not as long as the program saw", differ, len(truth))
	}
	return apart
}

func pauseOf(c *gc.Collection) (sum time.Duration) {
	for _, p := range c.Pauses {
		sum += p.Duration
	}
	return sum
}

// compare holds sizes to the byte.
func compare(t *testing.T, c *gc.Collection, truth *dotnettest.Truth) {
	t.Helper()
	if c == nil {
		t.Errorf("collection %d was not seen", truth.Number)
		return
	}
	if !c.Complete || c.AffectedByLoss || c.Generation != gc.Some(truth.Generation) || len(c.Generations) != len(truth.Generations) ||
		c.PinnedObjects != gc.Some(truth.Pinned) || (c.Kind == gc.Background) != truth.Concurrent {
		t.Errorf("collection %d: %+v, want %+v", truth.Number, c, truth)
		return
	}
	for i, g := range c.Generations {
		if want := truth.Generations[i]; g.Before != want[0] || g.After != gc.Some(want[2]) || g.Fragmentation != gc.Some(want[3]) {
			t.Errorf("collection %d, %s: %d before, %d after, %d free, want %v", c.Number, g.Name, g.Before, g.After.Or(0), g.Fragmentation.Or(0), want)
		}
	}
	if c.Kind != gc.Background && c.Promoted != gc.Some(truth.Promoted) {
		t.Errorf("collection %d: promoted %d, want %d", c.Number, c.Promoted.Or(0), truth.Promoted)
	}
}

// find waits until a program can be reached.
func find(ctx context.Context, t *testing.T, program *dotnettest.Program) *diag.Process {
	t.Helper()
	var p *diag.Process
	dotnettest.Until(ctx, t, "the program can be reached", func() bool {
		var err error
		p, err = diag.Find(ctx, program.PID)
		return err == nil
	})
	return p
}

// TestAgain: a program that is killed is followed again when it was started
// again.
func TestAgain(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), dotnettest.Patience)
	defer cancel()
	program := dotnettest.Start(t, 10, "web", 600)
	attached, collected := 0, 0
	for u, err := range live.Follow(ctx, find(ctx, t, program), live.Options{Reattach: true}) {
		if err != nil {
			t.Fatal(err)
		}
		switch u.Kind {
		case live.Attached:
			attached++
			collected = 0
			if u.Process.PID != program.PID {
				t.Errorf("attached to %d, want %d", u.Process.PID, program.PID)
			}
		case live.Collected:
			if collected++; collected == 5 && attached == 1 {
				program.Process.Kill()
				program.Wait()
			} else if collected == 5 {
				cancel()
			}
		case live.Ended:
			if attached == 1 {
				if !errors.Is(u.Err, live.ErrTruncated) {
					t.Errorf("ended by %v", u.Err)
				}
				program = program.Restart("web", 600)
			}
		}
	}
	if attached != 2 {
		t.Errorf("attached %d times", attached)
	}
}

// TestPrompt checks that collections come soon after their end, apart from the time that
// the program and this test wait for a processor.
func TestPrompt(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), dotnettest.Patience)
	defer cancel()
	program := dotnettest.Start(t, 10, "web", 600)
	var late time.Duration
	n := 0
	for u, err := range live.Follow(ctx, find(ctx, t, program), live.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Kind != live.Collected || !u.Collection.Complete {
			continue
		}
		if late = max(late, time.Since(u.Start.Add(u.Collection.End.Or(0)))); n == 20 {
			break
		}
		n++
	}
	// It is 0.3 s on a machine that has nothing else to do.
	if waited := program.Waited() + dotnettest.Waited(os.Getpid()); late > 5*time.Second+waited {
		t.Errorf("a collection came %v after its end; threads waited %v for a processor", late, waited)
	}
	t.Logf("the slowest of %d came %v after its end", n, late)
}

// TestStopped: a process that is stopped while it is followed keeps nobody.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), dotnettest.Patience)
	defer cancel()
	program := dotnettest.Start(t, 9, "web", 600)
	var stopped time.Time
	var last *live.Update
	for u, err := range live.Follow(ctx, find(ctx, t, program), live.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		if last = u; u.Kind == live.Collected && stopped.IsZero() {
			stopped = time.Now()
			program.Stop()
			if _, err := diag.Find(ctx, program.PID); !errors.Is(err, diag.ErrStopped) {
				t.Errorf("a stopped process: %v", err)
			}
			cancel()
		}
	}
	if last.Kind != live.Ended || last.Err == nil {
		t.Errorf("%+v after %v", last, time.Since(stopped))
	}
}
