package etw

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/live"
)

// A traceReplayer is a system whose sessions write an existing trace.
type traceReplayer struct {
	data []byte

	mu      sync.Mutex
	running map[uint64]bool // sessions
	started int
	pids    [][]byte // that were selected, by call
	exited  bool     // all processes
	dead    []int    // processes that are not running
	denied  bool
	full    bool // the disk
}

// pid is that of the process in the trace.
const pid = 179596

func newReplayer(t *testing.T) *traceReplayer {
	t.Helper()
	data := tracetest.Unzipped(t, "../../testdata/net8-win-x64-gcevents.etl.zip")
	return &traceReplayer{data: data, running: map[uint64]bool{}}
}

func (f *traceReplayer) StartTrace(_ string, b []byte) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.denied {
		return 0, StatusDenied
	}
	if len(f.running) > 0 {
		return 0, StatusExists
	}
	f.started++
	handle := uint64(f.started)
	f.running[handle] = true
	return handle, os.WriteFile(properties(b).fileName(), f.data, 0o600)
}

func (f *traceReplayer) Enable(_ uint64, e *Enabling) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []byte
	for _, filter := range e.Parameters.Filters {
		ids = append(ids, filter.Data...)
	}
	f.pids = append(f.pids, ids)
	return nil
}

func (f *traceReplayer) Control(handle uint64, _ string, b []byte, code uint32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.running[handle]:
		return StatusNoSession
	case code == controlStop:
		delete(f.running, handle)
	case code == controlUpdate:
		return os.WriteFile(properties(b).fileName(), f.data[:64<<10], 0o600)
	}
	return nil
}

func (f *traceReplayer) SetInformation(uint64, uint32, []byte) error { return nil }

func (f *traceReplayer) QueryAll([][]byte) (int, error) { return 0, nil }

func (f *traceReplayer) Runs(pid int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.exited && !slices.Contains(f.dead, pid)
}

func (f *traceReplayer) Free(string) (int64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full {
		return 0, true
	}
	return 1 << 40, true
}

// fill has the sessions end because the disk is full.
func (f *traceReplayer) fill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.running)
	f.full = true
}

// kill stops all sessions, as somebody else may.
func (f *traceReplayer) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.running)
}

func (f *traceReplayer) exit() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.exited = true
}

// temporary redirects temporary files to a folder, and checks that none is left.
func temporary(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	t.Cleanup(func() {
		if left, _ := filepath.Glob(filepath.Join(dir, "gctrail-*")); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}

// TestFollowProcess checks that the collections of the process arrive while the session runs,
// followed by the exit of the process, or the reason why the session ended.
func TestFollowProcess(t *testing.T) {
	for name, c := range map[string]struct {
		end func(*traceReplayer)
		why error
	}{
		"exited":    {(*traceReplayer).exit, nil},
		"stopped":   {(*traceReplayer).kill, ErrStopped},
		"disk full": {(*traceReplayer).fill, ErrDiskFull},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				temporary(t)
				f := newReplayer(t)
				follower := NewProcessFollower(f)
				p := &diag.Process{PID: pid, Name: "web"}
				ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
				defer stop()
				var kinds []live.Kind
				var numbers []uint32
				for u, err := range follower.Follow(ctx, p) {
					if err != nil || u.Process != p || u.Kind != live.Ended && u.Err != nil || u.Kind == live.Ended && !errors.Is(u.Err, c.why) {
						t.Fatal(err, u)
					}
					kinds = append(kinds, u.Kind)
					if u.Kind == live.Collected {
						numbers = append(numbers, u.Collection.Number)
						if u.Start.Year() != 2023 {
							t.Errorf("it started at %v", u.Start)
						}
					}
					if len(numbers) == 2 {
						c.end(f)
					}
				}
				if !slices.Equal(kinds, []live.Kind{live.Attached, live.Collected, live.Collected, live.Ended}) || !slices.Equal(numbers, []uint32{1, 2}) {
					t.Errorf("%v, collections %v", kinds, numbers)
				}
				if ctx.Err() != nil || len(f.running) > 0 {
					t.Errorf("%v, %d sessions still run", ctx.Err(), len(f.running))
				}
			})
		})
	}
}

// TestSeveralProcesses: one session serves all processes, selects them, and ends with the last.
// Another one can follow.
func TestSeveralProcesses(t *testing.T) {
	temporary(t)
	f := newReplayer(t)
	follower := NewProcessFollower(f)
	for round := range 2 {
		ctx, stop := context.WithCancel(context.Background())
		var attached, running sync.WaitGroup
		attached.Add(3)
		for i := range 3 {
			running.Go(func() {
				for u, err := range follower.Follow(ctx, &diag.Process{PID: i + 1}) {
					switch {
					case err != nil:
						t.Error(err)
					case u.Kind == live.Attached:
						attached.Done()
					case u.Kind == live.Collected:
						t.Error("a collection of another process")
					}
				}
			})
		}
		attached.Wait()
		if f.started != round+1 || len(f.running) != 1 {
			t.Errorf("%d sessions were started, %d run", f.started, len(f.running))
		}
		if ids := f.pids[len(f.pids)-1]; len(ids) != 3*4 {
			t.Errorf("selected % x", ids)
		}
		stop()
		running.Wait()
		if len(f.running) > 0 {
			t.Errorf("%d sessions still run", len(f.running))
		}
	}
}

// TestDenied: if the session cannot start, each process gets the error.
func TestDenied(t *testing.T) {
	temporary(t)
	f := newReplayer(t)
	f.denied = true
	n := 0
	for _, err := range NewProcessFollower(f).Follow(context.Background(), &diag.Process{PID: 1}) {
		if n++; !errors.Is(err, StatusDenied) {
			t.Error(err)
		}
	}
	if n != 1 {
		t.Errorf("%d updates", n)
	}
}

func TestFollowable(t *testing.T) {
	all := []*diag.Process{{PID: 1, Err: diag.ErrStopped}, {PID: 2, Err: diag.ErrFramework}, {PID: 3, Address: "x"}}
	list := Followable(all)
	if list[0] != all[0] || list[2] != all[2] || list[1].Err != nil || all[1].Err == nil || list[1].PID != 2 {
		t.Errorf("%+v", list)
	}
	if !Needed(list[1]) || Needed(list[2]) {
		t.Error("which process only ETW sees is not known")
	}
}
