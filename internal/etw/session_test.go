package etw

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// TestLayout compares the structures with the output of a C program with the headers of
// mingw-w64 (evntrace.h, evntprov.h) for the same values.
func TestLayout(t *testing.T) {
	p := newProperties("s", "f", 1024)
	le.PutUint32(p[offBufferSize:], 0x1234)
	le.PutUint32(p[offEnableFlags:], 1)
	le.PutUint32(p[0x50:], 0x21) // NumberOfBuffers
	le.PutUint32(p[0x54:], 0x22) // FreeBuffers
	le.PutUint32(p[offEventsLost:], 0x0e)
	le.PutUint32(p[offWritten:], 0x0b)
	le.PutUint32(p[offBuffersLost:], 0x0c)
	le.PutUint32(p[0x64:], 0x0d) // RealTimeBuffersLost
	const address = 0x1122334455667788
	parameters := Parameters{Property: propertyStacks, Filters: make([]Filter, 2)}
	filter := onlyPIDs([]int{1, 2})
	for _, c := range []struct{ name, got, want string }{
		{
			"EVENT_TRACE_PROPERTIES", hex.EncodeToString(p[:sizeProperties]),
			"3412000000000000000000000000000000000000000000000000000000000000000000000000000001000000000002004000000000040000" +
				"0a050000000000000100000801000000010000000000000021000000220000000e0000000b0000000c0000000d0000000000000000000000" +
				"7808000078000000",
		},
		{"EVENT_FILTER_DESCRIPTOR", hex.EncodeToString(filter.Descriptor(address)), "88776655443322110800000004000080"},
		{
			"ENABLE_TRACE_PARAMETERS", hex.EncodeToString(parameters.Bytes(address)),
			"020000000400000000000000000000000000000000000000000000000000000088776655443322110200000000000000",
		},
		{"PIDs", hex.EncodeToString(filter.Data), "0100000002000000"},
		{"EVENT_FILTER_EVENT_ID", hex.EncodeToString(onlyEvents([]uint32{1, 0x102}, false).Data), "0100020001000201"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
}

func gcOnly() Provider { return Provider{GUID: clr.RuntimeGUID, Level: 4, Keywords: 1} }

// TestSequence compares all calls with PerfView's for /GCCollectOnly: a session with the
// runtime's keyword GC at level Informational, and one with the kernel's processes.
func TestSequence(t *testing.T) {
	f := newRecorder()
	path := filepath.Join(t.TempDir(), "x.etl")
	s, err := Start(f, &Options{Path: path, Providers: []Provider{gcOnly()}, PIDs: []int{4711, 4712}})
	if err != nil {
		t.Fatal(err)
	}
	k, err := StartKernel(f, KernelPath(path), Limits{}, false)
	if err != nil {
		t.Fatal(err)
	}
	f.lost = Loss{3, 1}
	if err := errors.Join(s.Stop(), k.Stop(), s.Stop()); err != nil || s.Loss() != f.lost {
		t.Errorf("%v, lost %v", err, s.Loss())
	}
	name := fmt.Sprintf("gctrail-%d", os.Getpid())
	want := []string{
		"StartTrace " + name + " buffer 64 KB, 1024 to 1290, mode 0x8000001, flush 1 s, clock 1, flags 0x20000, session flags 0x0",
		"EnableTraceEx2 0x101 provider 230d3ce1bccc124e931bd9cc2eee27e4 code 1 level 4 any 0x1 all 0x0 timeout 0 property 0x0",
		"  filter 0x80000004 6712000068120000",
		"StartTrace " + name + "-kernel buffer 64 KB, 64 to 90, mode 0xa000001, flush 1 s, clock 1, flags 0x20000, session flags 0x0",
		"TraceSetInformation 0x102 class 4 0100000000000000",
		"ControlTrace 0x101 " + name + " code 1",
		"ControlTrace 0x102 " + name + "-kernel code 1",
	}
	if d := cmp.Diff(want, f.calls); d != "" {
		t.Error(d)
	}
}

// TestSequenceStacks: with stacks, the kernel's session lists images too and has the same
// buffers, as PerfView does for /GCCollectOnly with /GCTriggeredStacks.
func TestSequenceStacks(t *testing.T) {
	f := newRecorder()
	k, err := StartKernel(f, filepath.Join(t.TempDir(), "x.kernel.etl"), Limits{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Stop()
	want := []string{
		"StartTrace " + k.name + " buffer 64 KB, 1024 to 1290, mode 0xa000001, flush 1 s, clock 1, flags 0x20000, session flags 0x0",
		"TraceSetInformation 0x101 class 4 0500000000000000",
	}
	if d := cmp.Diff(want, f.calls); d != "" {
		t.Error(d)
	}
}

func TestFilters(t *testing.T) {
	f := newRecorder()
	p := gcOnly()
	p.Events, p.Stacks = []uint32{1, 2, 4}, true
	q := gcOnly()
	q.Except = []uint32{9}
	s, err := Start(f, &Options{Path: "x.etl", Providers: []Provider{p, q}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	calls := strings.Join(f.calls, "\n")
	for _, want := range []string{"property 0x4\n  filter 0x80000200 01000300010002000400", "property 0x0\n  filter 0x80000200 000001000900"} {
		if !strings.Contains(calls, want) {
			t.Errorf("%s is not in\n%s", want, calls)
		}
	}
	for _, o := range []Options{
		{Path: "x.etl", Providers: []Provider{gcOnly()}, PIDs: make([]int, MaxPIDs+1)},
		{Path: "x.etl", Providers: []Provider{{Events: make([]uint32, MaxEventIDs+1)}}},
		{Path: strings.Repeat("x", maxName)},
	} {
		f := newRecorder()
		if _, err := Start(f, &o); err == nil || len(f.started) > 0 {
			t.Errorf("%v, still running: %d", err, len(f.started))
		}
	}
}

// TestOrphanSessions: sessions of gctrail processes that were killed are stopped, others are
// not; one with the name of the new session is replaced.
func TestOrphanSessions(t *testing.T) {
	own := fmt.Sprintf("gctrail-%d", os.Getpid())
	f := newRecorder()
	f.dead = []int{11, 12}
	for _, name := range []string{"gctrail-11", "gctrail-12-kernel", "gctrail-13", "gctrail-x", "NT Kernel Logger", own} {
		f.started[name] = newProperties(name, "", 1)
	}
	s, err := Start(f, &Options{Path: "x.etl"})
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for name := range f.started {
		left = append(left, name)
	}
	slices.Sort(left)
	want := []string{"NT Kernel Logger", "gctrail-13", own, "gctrail-x"}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
	_ = s.Stop()
}

func TestErrors(t *testing.T) {
	for _, status := range []Status{StatusDenied, StatusNoResources} {
		f := newRecorder()
		f.fail["StartTrace"] = status
		if _, err := Start(f, &Options{Path: "x.etl"}); !errors.Is(err, status) {
			t.Errorf("%v, want %v", err, status)
		}
	}
	f := newRecorder()
	f.fail["Enable"] = StatusDenied
	if _, err := Start(f, &Options{Path: "x.etl", Providers: []Provider{gcOnly()}}); !errors.Is(err, StatusDenied) || len(f.started) > 0 {
		t.Errorf("%v, still running: %d", err, len(f.started))
	}
	f.fail["SetInformation"] = StatusDenied
	if _, err := StartKernel(f, "x.kernel.etl", Limits{}, false); !errors.Is(err, StatusDenied) || len(f.started) > 0 {
		t.Errorf("%v, still running: %d", err, len(f.started))
	}
}

// TestNoFile: a system that only claims to have started a session, like Wine, is
// detected, and the session is stopped.
func TestNoFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRecorder()
		s, err := Start(f, &Options{Path: filepath.Join(t.TempDir(), "x.etl")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := FollowFiles(context.Background(), s); !errors.Is(err, ErrNoFile) || len(f.started) > 0 {
			t.Errorf("%v, still running: %d", err, len(f.started))
		}
	})
}

// TestFollowFiles reads a file that a session writes, until ctx is done, or somebody else
// has stopped the session.
func TestFollowFiles(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %t", killed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := tracetest.NewETL()
				file.Header.Time = 0
				for i := range 4 {
					b := file.Buffer(0)
					b.Flushed = int64(i+1) * 10_000_000
					b.Event(tracetest.ETLEvent{Type: tracetest.ETLEvent64, Time: b.Flushed - 1, PID: 7, TID: 1, Provider: tracetest.RuntimeGUID, ID: 1})
				}
				data := file.Bytes()
				const buffer = 0x1000
				f := newRecorder()
				f.first = data[:buffer+100]
				path := filepath.Join(t.TempDir(), "x.etl")
				s, err := Start(f, &Options{Path: path})
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithTimeout(context.Background(), time.Minute)
				defer stop()
				follower, err := FollowFiles(ctx, s)
				if err != nil {
					t.Fatal(err)
				}
				defer follower.Close()
				if err := os.WriteFile(path, data[:3*buffer], 0o600); err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, err := range follower.Reader(etl.Options{Want: func(d *trace.Descriptor) bool { return d.Provider == clr.RuntimeProvider }}).Events() {
					if err != nil {
						t.Fatal(err)
					}
					if n++; n == 2 { // both were emitted because nothing more was written
						if err := os.WriteFile(path, data, 0o600); err != nil {
							t.Fatal(err)
						}
						if killed {
							_ = s.system.Control(0, s.name, forControl(), controlStop)
						} else {
							stop()
						}
					}
				}
				if n != 4 || len(f.started) > 0 || follower.Err() != nil || follower.Bytes() != int64(len(data)) {
					t.Errorf("%d events, still running: %d, error %v, %d bytes", n, len(f.started), follower.Err(), follower.Bytes())
				}
			})
		})
	}
}

// TestLagCoversFlushTimer checks that a session writes all of its buffers, at the latest
// when the timer ends, before events are assumed to be complete, because buffers of
// different processors have events of the same time.
func TestLagCoversFlushTimer(t *testing.T) {
	const writing = 100 * time.Millisecond
	if flush := flushSeconds * time.Second; lag < flush+writing || idleTime < flush+writing {
		t.Errorf("events are taken to be complete after %v, or %v of silence; buffers are written after up to %v", lag, idleTime, flush)
	}
}
