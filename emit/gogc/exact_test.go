package gogc_test

import (
	"bytes"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	rtrace "runtime/trace"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/emit/gogc"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/nettrace"
)

// TestExactPauses compares the events of an allocating program with the runtime's own
// counts: the sum of each cycle's pauses, their number, and their lengths by the buckets
// of its histogram.
func TestExactPauses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the clock of package time moves in steps there")
	}
	extent.Long(t, "the source misses pauses where the machine has other work")
	percent := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(percent)
	runtime.GC() // so that no cycle is under way
	var out bytes.Buffer
	opt := gogc.Options{ExactPauses: true, Late: 10 * time.Second}
	p, err := gogc.NewProvider(opt)
	if err != nil {
		t.Fatal(err)
	}
	session, err := p.Start(&out, emit.SessionOptions{Providers: gogc.Wanted()})
	if err != nil {
		t.Fatal(err)
	}
	source, err := gogc.Start(p, opt)
	if err != nil {
		t.Fatal(err)
	}
	var before, after debug.GCStats
	debug.ReadGCStats(&before)
	histogram := pausesOf()
	debug.SetGCPercent(100)
	allocate(20)
	debug.SetGCPercent(-1)
	runtime.GC()
	histogram.less(pausesOf())
	debug.ReadGCStats(&after)
	if missed := source.Stop(); missed != 0 {
		t.Errorf("%d cycles missed", missed)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}

	var model gc.Model
	var got []time.Duration
	exact := exactCycles(t, out.Bytes())
	cycles := after.NumGC - before.NumGC
	for c, err := range model.Collections(nettrace.NewReader(&out, nettrace.Options{Want: gc.Wants})) {
		if err != nil {
			t.Fatal(err)
		}
		if i := int(after.NumGC) - int(c.Number); c.Pause().Or(0) != after.Pause[i] {
			t.Errorf("cycle %d: paused for %v, Go says %v", c.Number, c.Pause(), after.Pause[i])
		}
		for _, p := range c.Pauses {
			got = append(got, p.Duration)
		}
		if exact[c.Number] != len(c.Pauses) || len(c.Pauses) < 2 || c.Pauses[0].Duration <= 0 || c.Duration().Or(0) <= c.Pause().Or(0) {
			t.Errorf("cycle %d: %d exact pauses, %+v", c.Number, exact[c.Number], c)
		}
		cycles--
	}
	if cycles != 0 {
		t.Errorf("%d cycles are not there", cycles)
	}
	histogram.compare(t, got)
}

// allocate runs until so many cycles have ended.
func allocate(cycles int64) {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	end := stats.NumGC + cycles
	for kept := make([][]byte, 64); stats.NumGC < end; debug.ReadGCStats(&stats) {
		for i := range 4096 {
			kept[i%len(kept)] = make([]byte, 4096)
		}
	}
}

// exactCycles returns the number of exact pauses by cycle.
func exactCycles(t *testing.T, data []byte) map[uint32]int {
	cycles := make(map[uint32]int)
	var d clr.Decoder
	for ev, err := range nettrace.NewReader(bytes.NewReader(data), nettrace.Options{}).Events() {
		if err != nil {
			t.Fatal(err)
		}
		if d.Name(ev.Desc) == "GoPauses" { // a number, a count, and so many values
			cycles[uint32(ev.Payload[0])|uint32(ev.Payload[1])<<8] = int(ev.Payload[4])
		}
	}
	return cycles
}

// A pauseHistogram is how often Go paused for how long.
type pauseHistogram struct {
	counts  []uint64
	buckets []float64 // seconds
}

func pausesOf() pauseHistogram {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	h := s[0].Value.Float64Histogram()
	return pauseHistogram{slices.Clone(h.Counts), h.Buckets}
}

// less makes h the difference of a later one from it.
func (h *pauseHistogram) less(later pauseHistogram) {
	for i := range h.counts {
		h.counts[i] = later.counts[i] - h.counts[i]
	}
}

// compare checks that there are as many pauses as in h, and most of them, by length, in
// its buckets or next to them. They may differ, because in the trace a pause begins a
// little before the runtime counts it, and the system may take the processor away in
// between.
func (h *pauseHistogram) compare(t *testing.T, pauses []time.Duration) {
	t.Helper()
	var wanted []int // a bucket for each pause
	for i, n := range h.counts {
		for range n {
			wanted = append(wanted, i)
		}
	}
	if len(wanted) != len(pauses) {
		t.Fatalf("%d pauses, the runtime counts %d", len(pauses), len(wanted))
	}
	slices.Sort(pauses)
	off := 0
	for i, p := range pauses {
		low, high := max(wanted[i]-1, 0), min(wanted[i]+2, len(h.buckets)-1)
		if p.Seconds() < h.buckets[low] || p.Seconds() > math.Nextafter(h.buckets[high], math.Inf(1)) {
			off++
		}
	}
	t.Logf("%d of %d pauses in other buckets than the runtime's", off, len(pauses))
	if off > len(pauses)/2 {
		t.Errorf("%d of %d pauses are not as long as the runtime says: %v", off, len(pauses), pauses)
	}
}

// TestExactPausesRefused: a program has one flight recorder.
func TestExactPausesRefused(t *testing.T) {
	other := rtrace.NewFlightRecorder(rtrace.FlightRecorderConfig{})
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Stop()
	p, err := gogc.NewProvider(gogc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gogc.Start(p, gogc.Options{ExactPauses: true}); err == nil {
		t.Error("no error")
	}
}
