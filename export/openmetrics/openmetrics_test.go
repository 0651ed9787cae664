package openmetrics_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/export/openmetrics"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/trace"
)

// collection returns one that ends at a time, with a pause of some length, and sizes in
// hundreds of bytes.
func collection(of *gc.Process, number uint32, end, pause time.Duration, hundreds int64) *gc.Collection {
	return &gc.Collection{
		Process: of, Number: number, Generation: gc.Some(1), Kind: gc.Blocking, Start: gc.Some(end - pause), End: gc.Some(end),
		Pauses: []gc.Pause{{Start: end - pause, Duration: pause}}, Allocated: gc.Some(hundreds * 100),
		CommittedBefore: gc.Some(hundreds*100 + 1), CommittedAfter: gc.Some(hundreds*100 + 2),
		Generations: []gc.Generation{{Name: "gen0", After: gc.Some(hundreds*100 + 3), Fragmentation: gc.Some(hundreds*100 + 4)}},
	}
}

// TestPoints compares the points of two collections, a second after the first point and at
// the end of the process, and the points of a process without an id.
func TestPoints(t *testing.T) {
	process := &gc.Process{PID: 17, Name: `"web"`, Runtime: ".NET 10.0.0", Stopped: 2 * time.Second}
	for i := range uint64(2) {
		process.Processor.Read(0, &clr.ProcessThreadTime{RunNanoseconds: i * 2e9})
		process.Processor.Read(0, &clr.GCThreadTime{Threads: 2, ServerNanoseconds: i * 5e8, BackgroundNanoseconds: i * 25e7})
	}
	var out bytes.Buffer
	w := openmetrics.NewWriter(&out, time.Unix(100, 250e6))
	for _, c := range []*gc.Collection{
		collection(process, 1, 500*time.Millisecond, time.Millisecond, 1),
		collection(process, 2, 1250*time.Millisecond, 2*time.Millisecond, 2),
		collection(&gc.Process{PID: trace.UnknownID, Name: "other"}, 1, 3*time.Second, 20*time.Second, 3),
	} {
		if err := w.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	extent.Golden(t, "testdata/points.txt", out.String())
}

// TestThinned checks that points get twice as far apart where a process has more than
// 8,192 of them.
func TestThinned(t *testing.T) {
	process := &gc.Process{PID: 7, Name: "web"}
	var out bytes.Buffer
	w := openmetrics.NewWriter(&out, time.Unix(0, 0))
	for i := range 8200 {
		if err := w.Add(&gc.Collection{Process: process, Number: uint32(i + 1), End: gc.Some(time.Duration(i) * time.Second), CommittedAfter: gc.Some[int64](1)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var at []string
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "dotnet_gc_last_collection_memory_committed_size_bytes{") {
			at = append(at, strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]))
		}
	}
	if n := len(at); n < 4096 || n > 4110 || !slices.Equal(at[:3], []string{"2.000", "4.000", "6.000"}) || at[n-3] != "8196.000" || at[n-2] != "8198.000" {
		t.Errorf("%d points: %v … %v", n, at[:min(n, 5)], at[max(0, n-5):])
	}
}

// TestKernelTime: processor time by the kernel's events is of the whole trace, and has one point.
func TestKernelTime(t *testing.T) {
	process := &gc.Process{PID: 7, Name: "web", Stopped: 5 * time.Second}
	process.Kernel = gc.Some(gc.KernelTime{Source: gc.ContextSwitches, Run: 2 * time.Second, Pausing: 250 * time.Millisecond})
	var out bytes.Buffer
	w := openmetrics.NewWriter(&out, time.Unix(0, 0))
	for i := range uint32(3) {
		if err := w.Add(collection(process, i+1, time.Duration(i+1)*time.Second, time.Millisecond, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"gctrail_gc_cpu_seconds_total": "0.25 5.000", "gctrail_process_cpu_run_time_seconds_total": "2 5.000"} {
		if n := strings.Count(out.String(), "\n"+name+"{"); n != 1 || !strings.Contains(out.String(), name+`{process="web",pid="7"} `+want+"\n") {
			t.Errorf("%d points of %s:\n%s", n, name, out.String())
		}
	}
}
