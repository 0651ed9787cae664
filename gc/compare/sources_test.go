package compare_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/compare"
)

// TestTimeSources: the GC's processor time by the kernel's events is compared like that by
// readings, with its bounds, and a note says where it is from.
func TestTimeSources(t *testing.T) {
	kernel := func(k gc.KernelTime) *gc.Process { return &gc.Process{Kernel: gc.Some(k)} }
	samples := gc.KernelTime{Source: gc.CPUSamples, Run: time.Second, Pausing: 100 * time.Millisecond, Samples: 1000, GCSamples: 100, Interval: time.Millisecond, Whole: true}
	least := samples
	least.Whole = false
	exact := gc.KernelTime{Source: gc.ContextSwitches, Run: time.Second, Pausing: 100 * time.Millisecond, Whole: true}
	read := &gc.Process{Server: gc.Some(true)}
	for i := range uint64(2) {
		read.Processor.Read(time.Duration(i)*time.Second, &clr.ProcessThreadTime{RunNanoseconds: i * 1e9})
		read.Processor.Read(time.Duration(i)*time.Second, &clr.GCThreadTime{Threads: 2, ServerNanoseconds: i * 3e8})
	}
	for name, tt := range map[string]struct {
		before, after *gc.Process
		low, high     float64 // of the run before, in percent
		note          string
	}{
		"samples":      {kernel(samples), kernel(samples), 8.1, 12.2, "from CPU samples, with bounds of 95 % confidence."},
		"at least":     {kernel(least), kernel(least), 8.1, math.Inf(1), "from CPU samples, with bounds of 95 % confidence."},
		"switches":     {kernel(exact), kernel(exact), 10, 10, "from context switches."},
		"mixed":        {kernel(exact), read, 10, 10, "from context switches in some runs, in others from the times of its threads."},
		"readings":     {read, read, 30, 30, ""},
		"not recorded": {new(gc.Process), kernel(samples), math.NaN(), math.NaN(), ""},
	} {
		before, after := &compare.Run{Name: "a", Process: tt.before}, &compare.Run{Name: "b", Process: tt.after}
		note := ""
		for _, n := range compare.Compare([]*compare.Run{before}, []*compare.Run{after}).Notes {
			if n.Kind == "gc_cpu_source" {
				note = n.Text
			}
		}
		if !strings.HasSuffix(note, tt.note) || (note == "") != (tt.note == "") {
			t.Errorf("%s: %q, want %q", name, note, tt.note)
		}
		for _, m := range compare.Metrics() {
			if m.Name != "gc_cpu_pct" {
				continue
			}
			near := func(got, want float64) bool {
				return got == want || math.Abs(got-want) < 0.1 || math.IsNaN(got) && math.IsNaN(want)
			}
			if b := m.Bounds(before, compare.PerRun); !near(b.Low, tt.low) || !near(b.High, tt.high) {
				t.Errorf("%s: %v, want %v to %v", name, b, tt.low, tt.high)
			}
		}
	}
}
