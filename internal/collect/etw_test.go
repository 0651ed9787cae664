package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/etw"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// An etwFake is a system whose sessions write an existing trace: the first buffers at
// their start, the rest when they are stopped.
type etwFake struct {
	data    []byte
	first   int
	denied  bool // sessions of the kernel
	stacks  bool // are asked for
	rundown uint64

	mu     sync.Mutex
	paths  map[uint64]string // of sessions that run
	enable []*etw.Enabling
	exited bool // all processes
	kernel uint64
	events []byte // of the kernel's sessions

	handles uint64
	turns   int // how often sessions went on in another file

	noRoom bool // for a session to start
	fills  bool // the disk fills up when a session has run for a second
	dies   bool // the sessions end by themselves then
	asked  int  // how often a session was queried
}

const etwBuffer = 64 << 10 // of the trace

func (f *etwFake) StartTrace(_ string, properties []byte) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	const mode, systemLogger = 0x40, 0x02000000
	isKernel := uint32(properties[mode+3])<<24&systemLogger != 0
	if isKernel && f.denied {
		return 0, etw.StatusDenied
	}
	if f.noRoom {
		return 0, etw.StatusDiskFull
	}
	path := fileNameIn(properties)
	f.handles++
	handle := f.handles
	f.paths[handle] = path
	if isKernel {
		f.kernel = handle
		return handle, os.WriteFile(path, f.data[:etwBuffer], 0o600) // the file header
	}
	return handle, os.WriteFile(path, f.data[:f.first], 0o600)
}

func (f *etwFake) Enable(_ uint64, e *etw.Enabling) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.enable = append(f.enable, e)
	return nil
}

func (f *etwFake) Control(handle uint64, _ string, properties []byte, code uint32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	const stop, update, eventsLost, buffersLost = 1, 2, 0x58, 0x60
	path, ok := f.paths[handle]
	if !ok {
		return etw.StatusNoSession
	}
	properties[eventsLost] = 3
	if f.fills && f.asked > 0 {
		properties[buffersLost] = 1
	}
	switch {
	case code == update:
		f.paths[handle] = fileNameIn(properties)
		f.turns++
		return os.WriteFile(f.paths[handle], f.data[:etwBuffer], 0o600)
	case code != stop:
		return f.query(handle, properties)
	}
	delete(f.paths, handle)
	if handle == f.kernel {
		return nil
	}
	out, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(f.data[f.first:])
	return errors.Join(err, out.Close())
}

// query answers a query of a session, some of whose buffers cannot be written if its disk
// fills up.
func (f *etwFake) query(handle uint64, properties []byte) error {
	const buffersLost = 0x60
	f.asked++
	if f.dies {
		delete(f.paths, handle)
		return etw.StatusNoSession
	}
	if f.fills {
		properties[buffersLost] = 1
	}
	return nil
}

func (f *etwFake) Free(string) (int64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fills && f.asked > 0 {
		return 0, true
	}
	return 1 << 40, true
}

// fileNameIn returns the name behind the properties of a session.
func fileNameIn(properties []byte) string {
	const fileName = 120 + 2*1024
	var units []uint16
	for b := properties[fileName:]; b[0]|b[1] != 0; b = b[2:] {
		units = append(units, uint16(b[0])|uint16(b[1])<<8)
	}
	return string(utf16.Decode(units))
}

func (f *etwFake) SetInformation(_ uint64, _ uint32, info []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, info[0])
	return nil
}

func (f *etwFake) QueryAll([][]byte) (int, error) { return 0, nil }

func (f *etwFake) Runs(int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.exited
}

func newETWFake(t *testing.T) *etwFake {
	t.Helper()
	data := tracetest.Unzipped(t, "../../testdata/net8-win-x64-gcevents.etl.zip")
	// Its session wrote all buffers when it was stopped, 6 s after the first event,
	// because it had no flush timer.
	return &etwFake{data: data, first: etwBuffer, paths: map[uint64]string{}}
}

// record runs an ETW, and returns its notices.
func (f *etwFake) record(ctx context.Context, t *testing.T, plan *Plan, processes []*diag.Process) (notices []Notice, err error) {
	t.Helper()
	e := f.etw(t, plan, processes, &notices)
	err = e.Run(ctx)
	return notices, err
}

// etw returns an ETW that adds its notices to notices.
func (f *etwFake) etw(t *testing.T, plan *Plan, processes []*diag.Process, notices *[]Notice) *ETW {
	t.Helper()
	var mu sync.Mutex
	return &ETW{System: f, Processes: processes, Options: &Options{
		Config: diag.Config{NoStacks: !f.stacks, Rundown: f.rundown, Providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: 1, Level: 4}}},
		Plan:   plan, Output: t.TempDir() + string(os.PathSeparator),
		Notify: func(n Notice) {
			mu.Lock()
			defer mu.Unlock()
			*notices = append(*notices, n)
		},
	}}
}

func wholeETW(t *testing.T, data []byte) (n int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "whole.etl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var m gc.Model
	for _, err := range m.Collections(etl.NewReader(f, int64(len(data)), etl.Options{})) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestETW records until it is interrupted, and until the processes have ended: the
// result has the collections of the whole file.
func TestETW(t *testing.T) {
	for _, c := range []struct {
		name              string
		interrupt, denied bool
	}{{"interrupted", true, false}, {"exited", false, false}, {"not an administrator", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newETWFake(t)
				f.denied = c.denied
				f.exited = !c.interrupt
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				if c.interrupt {
					time.AfterFunc(300*time.Millisecond, stop)
				}
				notices, err := f.record(ctx, t, new(Plan), []*diag.Process{{PID: 7, Name: "web"}})
				if err != nil || len(notices) != 2 || len(f.paths) > 0 {
					t.Fatalf("%v, %+v, still running: %v", err, notices, f.paths)
				}
				started, ok := notices[0].(Recording)
				if !ok || (started.Unnamed != nil) != c.denied || filepath.Ext(started.Path) != ".etl" {
					t.Errorf("%+v", notices[0])
				}
				r := notices[1].(Ended)
				if want := wholeETW(t, f.data); r.Collections != want || want == 0 || r.ETW.Events != 3 || r.Size != int64(len(f.data)) {
					t.Errorf("%d collections, want %d; lost %v, %d bytes", r.Collections, want, *r.ETW, r.Size)
				}
				if kernel := map[bool]uint32{false: 3, true: 0}[c.denied]; r.Kernel.Events != kernel {
					t.Errorf("the kernel's session lost %v, want %d", r.Kernel, kernel)
				}
				if len(f.enable) != 1 || f.enable[0].Provider != clr.RuntimeGUID {
					t.Errorf("enabled: %+v", f.enable)
				}
			})
		})
	}
}

// TestETWUntil ends a session when a collection meets the condition.
func TestETWUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newETWFake(t)
		f.first = len(f.data)
		until, err := selection.ParseCondition("gen>=0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		notices, err := f.record(ctx, t, &Plan{Until: until}, nil)
		if err != nil || ctx.Err() != nil || len(notices) != 3 {
			t.Fatalf("%v, %v, %+v", err, ctx.Err(), notices)
		}
		if n, ok := notices[1].(Triggered); !ok || n.Trigger.Collection == nil {
			t.Errorf("%+v", notices[1])
		}
		if r := notices[2].(Ended); !r.Triggered || r.Collections == 0 {
			t.Errorf("%+v", r)
		}
	})
}

// TestETWBeside records processes of both kinds at once: a failure of one kind does not
// end the other.
func TestETWBeside(t *testing.T) {
	f := newETWFake(t)
	f.exited = true
	var notices []Notice
	e := f.etw(t, new(Plan), []*diag.Process{{PID: 7, Name: "w3wp", Err: diag.ErrFramework}}, &notices)
	s := New(e.Options)
	gone := &diag.Process{PID: 8, Name: "w3wp", Address: filepath.Join(t.TempDir(), "no-socket")}
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	s.Gather(ctx, []*diag.Process{gone}, e)
	var failed, ended int
	for _, n := range notices {
		switch n := n.(type) {
		case Failed:
			failed++
		case Ended:
			ended++
			if want := wholeETW(t, f.data); n.Collections != want {
				t.Errorf("%d collections, want %d", n.Collections, want)
			}
		}
	}
	if failed != 1 || ended != 1 || ctx.Err() != nil || len(s.Status().Captures) != 1 {
		t.Errorf("%d failed, %d ended: %+v", failed, ended, notices)
	}
}

// etwFiles returns the files beside that of a result.
func etwFiles(t *testing.T, n Notice) (names []string) {
	t.Helper()
	return filesIn(t, filepath.Dir(n.(Ended).Path))
}

// filesIn returns the names of the files of a folder, sorted.
func filesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// TestETWKeep keeps the end of a session that continued in another file: it is one trace,
// and no other file is left.
func TestETWKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newETWFake(t)
		ctx, stop := context.WithTimeout(context.Background(), 3*time.Second)
		defer stop()
		plan := (&Stop{Keep: Limits{Time: 32 * time.Second}}).Plan()
		notices, err := f.record(ctx, t, plan, nil)
		if err != nil || len(notices) != 2 || f.turns == 0 {
			t.Fatalf("%v, %d times another file, %+v", err, f.turns, notices)
		}
		r := notices[1].(Ended)
		if want := wholeETW(t, f.data); r.Collections != want || !r.Joined || r.RingCut {
			t.Errorf("%d collections, want %d: %+v", r.Collections, want, r.Result)
		}
		if files := etwFiles(t, notices[1]); len(files) != 2 { // with that of the kernel
			t.Errorf("files: %q", files)
		}
	})
}

// TestETWRepeat makes as many traces as requested, each with a session of its own.
func TestETWRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newETWFake(t)
		f.first = len(f.data)
		until, err := selection.ParseCondition("gen>=0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
		defer stop()
		after := time.Duration(0)
		notices, err := f.record(ctx, t, (&Stop{Until: until, After: &after, Files: 2}).Plan(), nil)
		if err != nil || ctx.Err() != nil || len(notices) != 6 || f.handles != 4 {
			t.Fatalf("%v, %v, %d sessions, %+v", err, ctx.Err(), f.handles, notices)
		}
		for nth, n := range []Notice{notices[2], notices[5]} {
			r := n.(Ended)
			if !r.Triggered || !r.Joined || r.Collections == 0 || !strings.HasSuffix(r.Path, fmt.Sprintf("-%d.etl", nth+1)) {
				t.Errorf("%+v", r.Result)
			}
		}
		if files := etwFiles(t, notices[5]); len(files) != 4 {
			t.Errorf("files: %q", files)
		}
	})
}

// TestETWStoppingEvent ends a session at an event.
func TestETWStoppingEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newETWFake(t)
		f.first = len(f.data)
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		event := &StoppingEvent{Provider: clr.RuntimeProvider, Name: "GC/Start"}
		if err := event.Filter.Set("Depth:2"); err != nil {
			t.Fatal(err)
		}
		notices, err := f.record(ctx, t, (&Stop{Event: event}).Plan(), nil)
		if err != nil || ctx.Err() != nil || len(notices) != 3 {
			t.Fatalf("%v, %v, %+v", err, ctx.Err(), notices)
		}
		if n, ok := notices[1].(Triggered); !ok || n.Trigger.Event != event || n.Process.PID != 179596 {
			t.Errorf("%+v", notices[1])
		}
		if r := notices[2].(Ended); !r.Triggered || r.Joined {
			t.Errorf("%+v", r.Result)
		}
	})
}

// TestETWRundown: with stacks, and only then, the methods of the same processes and the
// mapped files are listed at the end.
func TestETWRundown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, stacks := range []bool{false, true} {
			f := newETWFake(t)
			f.stacks, f.rundown = stacks, diag.RundownMethods
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			time.AfterFunc(300*time.Millisecond, stop)
			if _, err := f.record(ctx, t, new(Plan), []*diag.Process{{PID: 7}}); err != nil {
				t.Fatal(err)
			}
			const process, images = 1, 4
			if want := map[bool]byte{false: process, true: process | images}[stacks]; len(f.events) != 1 || f.events[0] != want {
				t.Errorf("stacks %t: events of the kernel %#x, want %#x", stacks, f.events, want)
			}
			if !stacks {
				if len(f.enable) != 1 || f.enable[0].Parameters.Property != 0 {
					t.Errorf("enabled without stacks: %+v", f.enable)
				}
				continue
			}
			const stackTrace = 4
			if len(f.enable) != 2 || f.enable[0].Parameters.Property != stackTrace {
				t.Fatalf("enabled: %+v", f.enable)
			}
			last := f.enable[1]
			if last.Provider != clr.RundownGUID || last.Level != 5 || last.Any != diag.RundownMethods || !reflect.DeepEqual(last.Parameters.Filters, f.enable[0].Parameters.Filters) {
				t.Errorf("rundown: %+v", last)
			}
		}
	})
}

func TestETWProviders(t *testing.T) {
	for name, want := range map[string]string{
		"Microsoft-Windows-DotNETRuntime":        "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
		"microsoft-windows-dotnetruntimeprivate": "763fd754-7086-4dfe-95eb-c01a46faf4ca",
		"{22FB2CD6-0E7B-422B-A0C7-2FAD1FD0E716}": "22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716",
		"System.Runtime":                         "",
		"{22fb2cd6}":                             "",
	} {
		guid, ok := guidOf(name)
		if ok != (want != "") || ok && guid.String() != want {
			t.Errorf("%s: %v %t", name, guid, ok)
		}
	}
	f := newETWFake(t)
	e := &ETW{System: f, Options: &Options{Config: diag.Config{Providers: []diag.Provider{{Name: "System.Runtime"}}}}}
	if err := e.Run(context.Background()); !errors.Is(err, ErrNoGUID) {
		t.Error(err)
	}
}

// TestETWEnds: a trace of a session that has ended by itself, because the disk is full or
// somebody has stopped it, has what came until then. On a full disk, it is the last.
func TestETWEnds(t *testing.T) {
	until, err := selection.ParseCondition("pause>1h")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		stop        *Stop
		fills, dies bool
	}{
		"full":          {&Stop{}, true, false},
		"full, died":    {&Stop{}, true, true},
		"full ring":     {&Stop{Keep: Limits{Time: time.Minute}}, true, false},
		"full, waiting": {&Stop{Until: until, Files: 3}, true, true},
		"stopped":       {&Stop{}, false, true},
		"stopped ring":  {&Stop{Keep: Limits{Time: time.Minute}}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newETWFake(t)
				f.first, f.fills, f.dies = len(f.data), c.fills, c.dies
				ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
				defer stop()
				notices, err := f.record(ctx, t, c.stop.Plan(), nil)
				if ctx.Err() != nil || len(f.paths) > 0 || f.handles != 2 {
					t.Fatalf("%v, still running: %v, %d sessions", ctx.Err(), f.paths, f.handles)
				}
				output, isOutput := errors.AsType[*OutputError](err)
				if isOutput != c.fills || c.fills != errors.Is(err, etw.ErrDiskFull) || !c.fills && err != nil {
					t.Fatal(err)
				}
				r, ok := notices[len(notices)-1].(Ended)
				if !ok || (r.Failed != nil) != c.fills || r.Displaced == c.fills || r.Joined != c.stop.Plan().Ring {
					t.Fatalf("%+v", notices)
				}
				if c.fills && output.Name != r.Path || c.fills && !c.dies && r.ETW.Buffers == 0 {
					t.Errorf("%v, lost %+v", err, *r.ETW)
				}
				if want := wholeETW(t, f.data); r.Collections != want {
					t.Errorf("%d collections, want %d", r.Collections, want)
				}
				if files := etwFiles(t, r); len(files) != 2 {
					t.Errorf("files: %q", files)
				}
			})
		})
	}
}

// TestETWNoRoom: a session that cannot start because the disk is full leaves an earlier
// trace at the path, and nothing else. One that has run replaces both files of it.
func TestETWNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newETWFake(t)
		var notices []Notice
		e := f.etw(t, new(Plan), nil, &notices)
		path := filepath.Join(t.TempDir(), "x.etl")
		e.Options.Output = path
		kernel := etw.KernelPath(path)
		for _, name := range []string{path, kernel} {
			if err := os.WriteFile(name, []byte("earlier"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f.noRoom = true
		if err := e.Run(context.Background()); !errors.Is(err, etw.StatusDiskFull) || len(notices) > 0 {
			t.Fatalf("%v, %+v", err, notices)
		}
		for _, name := range []string{path, kernel} {
			if b, err := os.ReadFile(name); err != nil || string(b) != "earlier" {
				t.Fatalf("%s: %q, %v", name, b, err)
			}
		}
		f.noRoom, f.denied = false, true
		ctx, stop := context.WithCancel(context.Background())
		time.AfterFunc(300*time.Millisecond, stop)
		if err := e.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != int64(len(f.data)) {
			t.Errorf("%v, %v", info, err)
		}
		if files := etwFiles(t, Ended{&Result{Path: path}}); len(files) != 1 {
			t.Errorf("files: %q", files)
		}
	})
}
