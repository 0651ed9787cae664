package report

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/text"
)

// TestGCTimeWords states bounds as bounds, and nothing where nothing is known.
func TestGCTimeWords(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		server, background float64 // ms, of 1,000
		paused             time.Duration
		missing            int
		want               string
	}{
		{290, 10, 500 * ms, 0, " The GC used at least 30.0 % of the program's processor time: 300 ms on threads of its own."},
		{0, 80, 50 * ms, 0, " The GC used at least 8.0 % of the program's processor time: 80.0 ms on threads of its own; at most 13.0 %, with its pauses."},
		{0, 80, 50 * ms, 1, " The GC used at least 8.0 % of the program's processor time: 80.0 ms on threads of its own."},
		{0, 0, 50 * ms, 0, " The GC used at most 5.0 % of the program's processor time, by its pauses."},
		{0, 0, 50 * ms, 1, ""},
		{0, 0.2, 50 * ms, 0, " The GC used at most 5.0 % of the program's processor time, by its pauses."},
		{0, 0.2, 50 * ms, 1, ""},
		{0, 1, 50 * ms, 0, " The GC used at least 0.1 % of the program's processor time: 1.00 ms on threads of its own; at most 5.1 %, with its pauses."},
	} {
		p := gc.Process{Missing: tt.missing}
		if says := gcTime(&p); says != "" {
			t.Errorf("not read: %q", says)
		}
		for i := range uint64(2) {
			at := time.Duration(i) * time.Second
			p.Processor.Read(at, &clr.ProcessThreadTime{RunNanoseconds: i * 1e9})
			p.Processor.Read(at, &clr.GCThreadTime{Threads: 2, ServerNanoseconds: i * uint64(tt.server*1e6), BackgroundNanoseconds: i * uint64(tt.background*1e6)})
			p.Processor.Paused(at+ms, at+ms+tt.paused)
		}
		if says := gcTime(&p); says != tt.want {
			t.Errorf("%+v: %q", tt, says)
		}
	}
}

// TestKernelTimeWords names the source of the time, and states an estimate with its bounds.
func TestKernelTimeWords(t *testing.T) {
	const ms = time.Millisecond
	samples := gc.KernelTime{
		Source: gc.CPUSamples, Run: 2000 * ms, Pausing: 180 * ms, Background: 20 * ms, Samples: 2000, GCSamples: 200, Interval: ms, Whole: true,
	}
	with := func(change func(*gc.KernelTime)) gc.KernelTime {
		k := samples
		change(&k)
		return k
	}
	for _, tt := range []struct {
		time gc.KernelTime
		want string
	}{
		{samples, "Processors: threads ran 2.00 s, by 2,000 CPU samples, 1.00 ms apart. The GC used 10.0 % of the program's processor time (8.7 % to 11.5 %, with 95 % confidence): " +
			"180 ms on the threads that paused the others, 20.0 ms on threads of its own."},
		{with(func(k *gc.KernelTime) { k.Whole, k.Unknown, k.Assumed = false, 3, true }), "Processors: threads ran 2.00 s, by 2,000 CPU samples, if they are 1.00 ms apart, as usual. " +
			"The GC used at least 8.7 % of the program's processor time (with 95 % confidence): 180 ms on the threads that paused the others, 20.0 ms on threads of its own. " +
			"The trace does not show the processes of 3 more samples."},
		{with(func(k *gc.KernelTime) { k.Source = gc.ContextSwitches }), "Processors: threads ran 2.00 s, by context switches. The GC used 10.0 % of the program's processor time: " +
			"180 ms on the threads that paused the others, 20.0 ms on threads of its own."},
		{with(func(k *gc.KernelTime) { k.Source, k.Whole = gc.ContextSwitches, false }), "Processors: threads ran 2.00 s, by context switches. The GC used at least 10.0 % of the program's processor time: " +
			"180 ms on the threads that paused the others, 20.0 ms on threads of its own."},
		{with(func(k *gc.KernelTime) { k.Pausing, k.Background, k.GCSamples, k.Whole = 0, 0, 0, false }), "Processors: threads ran 2.00 s, by 2,000 CPU samples, 1.00 ms apart."},
	} {
		c := Case{Result: findings.Result{Case: &findings.Case{Summary: stats.Summary{Process: &gc.Process{Kernel: gc.Some(tt.time)}}}}}
		page := &text.Page{Width: 1000}
		c.writeProcessors(page)
		if says := strings.TrimSpace(page.String()); says != tt.want {
			t.Errorf("%q,\nwant %q", says, tt.want)
		}
		j := processorsJSON(c.Summary.Process)
		if j == nil || j.Run != gc.Some(Millis(tt.time.Run)) || j.GCTimeSource != gc.Some(tt.time.Source.String()) || j.GCTimeMax.Known() != tt.time.Whole ||
			j.Samples.Known() != (tt.time.Source == gc.CPUSamples) || j.PausingGCTime != gc.Some(Millis(tt.time.Pausing)) {
			t.Errorf("%+v", j)
		}
	}
}

// TestUnknownWait does not take a wait that is not known for none.
func TestUnknownWait(t *testing.T) {
	for unknown, want := range map[bool]string{
		false: "Processors: threads ran 1.00 s and waited 0 ms for a processor (0 % of the time in which they could run).",
		true:  "Processors: threads ran 1.00 s; how long they waited for a processor is not known.",
	} {
		p := new(gc.Process)
		for i := range uint64(2) {
			p.Processor.Read(time.Duration(i)*time.Second, &clr.ProcessThreadTime{RunNanoseconds: i * 1e9, WaitUnknown: unknown})
		}
		j := processorsJSON(p)
		if !j.Run.Known() || j.Wait.Known() == unknown || j.WaitPct.Known() == unknown || j.PauseWaitPct.Known() {
			t.Errorf("%+v", j)
		}
		page := &text.Page{Width: 200}
		c := Case{Result: findings.Result{Case: &findings.Case{Summary: stats.Summary{Process: p}}}}
		c.writeProcessors(page)
		if says := strings.TrimSpace(page.String()); says != want {
			t.Errorf("%q, want %q", says, want)
		}
	}
}
