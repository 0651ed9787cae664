package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
)

// A program describes simulated runs. Pauses of neighbouring collections are correlated
// as measured (rank autocorrelation 0.5 at lag 1), and runs differ by a factor of their
// own.
type program struct {
	collections int
	allocated   float64 // bytes by collection
	pause       float64 // ms
	heap        float64
	seconds     float64
	noise       float64 // relative, between runs
}

var ordinary = program{collections: 300, allocated: 20e6, pause: 2, heap: 80e6, seconds: 10, noise: 0.05}

func (p program) run(random *rand.Rand) *Run {
	process := &gc.Process{Name: "web", Runtime: ".NET 10.0.0", Stopped: time.Duration(p.seconds * float64(time.Second))}
	r := &Run{Name: "simulated"}
	own := func(share float64) float64 { return 1 + share*p.noise*random.NormFloat64() }
	pause, heap, allocated := p.pause*own(1), p.heap*own(1), p.allocated*own(0.1)
	latent := correlated(random, p.collections, 0.52)
	for i, z := range latent {
		length := time.Duration(pause * math.Exp(0.5*z) * float64(time.Millisecond))
		start := process.Stopped * time.Duration(i) / time.Duration(p.collections)
		r.Add(&gc.Collection{
			Process:    process,
			Number:     uint32(i + 1),
			Generation: gc.Some(i % 10 / 9),
			Reason:     gc.Some(clr.GCReasonAllocSmall),
			Start:      gc.Some(start),
			End:        gc.Some(start + length),
			Pauses:     []gc.Pause{{Start: start, Duration: length}},
			AllPauses:  true,
			HeapAfter:  gc.Some(int64(heap * math.Exp(0.1*z))),
			Promoted:   gc.Some(int64(1e6 * math.Exp(0.5*z))),
			Allocated:  gc.Some(int64(allocated)),
		})
	}
	r.Allocated = gc.Some(Exactly(math.Trunc(allocated) * float64(p.collections)))
	return r
}

func (p program) runs(random *rand.Rand, n int) []*Run {
	runs := make([]*Run, n)
	for i := range runs {
		runs[i] = p.run(random)
	}
	return runs
}

func change(c *Comparison, name string) Change {
	for _, ch := range c.Changes {
		if ch.Name == name {
			return ch
		}
	}
	panic("no metric " + name)
}

// TestFalseAlarms: equal programs are found to differ at most as often as Alpha promises,
// even if runs differ by more than the band, and never with too few runs.
func TestFalseAlarms(t *testing.T) {
	loaded := ordinary
	loaded.noise = 0.5
	loaded.collections = 100
	for _, n := range []int{1, 2, 3, 4, 5, 8} {
		random := rand.New(rand.NewPCG(10, uint64(n)))
		trials := extent.Pick(60, 200, 200)
		if n < minRanked {
			trials = 20
		}
		alarms := 0
		for range trials {
			if c := Compare(loaded.runs(random, n), loaded.runs(random, n)); c.Verdict == Changed {
				alarms++
			}
		}
		limit := Alpha*float64(trials) + 3*math.Sqrt(Alpha*float64(trials))
		if n < MinRuns {
			limit = 0
		}
		if float64(alarms) > limit {
			t.Errorf("%d runs a side: %d of %d equal pairs are called changed", n, alarms, trials)
		}
	}
}

func TestFindsAllocation(t *testing.T) {
	more := ordinary
	more.allocated *= 1.10
	random := rand.New(rand.NewPCG(11, 11))
	const trials = 100
	found := 0
	for range trials {
		c := Compare(ordinary.runs(random, 5), more.runs(random, 5))
		ch := change(c, allocatedTotal)
		if ch.Verdict == Changed && ch.Low <= 10 && 10 <= ch.High {
			found++
		}
		if change(c, collections).Verdict != Same {
			t.Errorf("collections are %+v", change(c, collections))
		}
	}
	if found < 95*trials/100 {
		t.Errorf("found in %d of %d", found, trials)
	}
}

func TestFindsPauses(t *testing.T) {
	slow := ordinary
	slow.pause *= 1.5
	random := rand.New(rand.NewPCG(12, 12))
	c := Compare(ordinary.runs(random, 5), slow.runs(random, 5))
	for name, want := range map[string]Verdict{pauseShare: Changed, "pause_mean_ms": Changed, collections: Same} {
		if got := change(c, name); got.Verdict != want {
			t.Errorf("%s is %s (%.1f %%, %.1f to %.1f), want %s", name, got.Verdict, got.Percent, got.Low, got.High, want)
		}
	}
}

// TestTooFewPauses: a percentile is judged only with enough independent pauses.
func TestTooFewPauses(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 13))
	few := change(Compare(ordinary.runs(random, 5), ordinary.runs(random, 5)), pauseTail)
	if few.Verdict != CannotTell || few.Reason != TooFewPauses || few.RunsNeeded < 1 {
		t.Errorf("p99 of 1,500 correlated pauses is %s, %q, %d more runs needed", few.Verdict, few.Reason, few.RunsNeeded)
	}
	long := ordinary
	long.collections *= 10
	if many := change(Compare(long.runs(random, 5), long.runs(random, 5)), pauseTail); many.Reason == TooFewPauses {
		t.Errorf("p99 of 15,000 pauses: %q", many.Reason)
	}
}

func TestFourRunsSayHowManyMore(t *testing.T) {
	slow := ordinary
	slow.pause *= 2
	random := rand.New(rand.NewPCG(14, 14))
	ch := change(Compare(ordinary.runs(random, 4), slow.runs(random, 4)), pauseShare)
	if ch.Verdict != CannotTell || ch.Reason != TooFewRuns || ch.RunsNeeded != 1 {
		t.Errorf("pauses twice as long in 4 runs a side: %s, %q, %d more runs; want cannot tell, 1 more", ch.Verdict, ch.Reason, ch.RunsNeeded)
	}
}

func TestBasis(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 15))
	long := ordinary
	long.seconds, long.collections = 20, 600
	c := Compare(ordinary.runs(random, 5), long.runs(random, 5))
	if c.Basis != PerSecond || change(c, allocatedTotal).Verdict != Same {
		t.Errorf("runs of 10 and 20 s are compared per %s: allocated %s", c.Basis, change(c, allocatedTotal).Verdict)
	}
	b, a := ordinary.runs(random, 5), long.runs(random, 5)
	for i := range b {
		b[i].Work, a[i].Work = 1000, 2000
	}
	c = Compare(b, a)
	if c.Basis != PerWork || change(c, allocatedTotal).Verdict != Same {
		t.Errorf("runs with work are compared per %s: allocated %s", c.Basis, change(c, allocatedTotal).Verdict)
	}
}

// TestUnknown: an unknown figure never counts as zero, and a run without collections not
// as a program that does not pause.
func TestUnknown(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 16))
	blind := ordinary.run(random)
	for i := range blind.samples {
		blind.samples[i].figures[pause] = nan
	}
	c := Compare([]*Run{blind}, ordinary.runs(random, 1))
	for _, name := range []string{pauseShare, "pause_mean_ms", pauseTail} {
		if ch := change(c, name); ch.Verdict != CannotTell || ch.Reason == Decided || ch.Reason == TooNoisy {
			t.Errorf("%s without pauses: %s, %q", name, ch.Verdict, ch.Reason)
		}
	}
	empty := Compare([]*Run{{Name: "empty"}}, []*Run{{Name: "empty"}})
	if empty.Verdict != CannotTell {
		t.Errorf("two empty runs: %s", empty.Verdict)
	}
}

func TestNotesAndCauses(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 17))
	b, a := ordinary.run(random), ordinary.run(random)
	a.Process.Runtime = ".NET 9.0.0"
	a.Process.Server = gc.Some(true)
	b.Processors, a.Processors = 8, 4
	a.Findings = []string{"R21"}
	a.reasons = map[string]int64{"Induced": 300}
	b.Types = map[string]int64{"System.String": 50, "System.Byte[]": 50}
	a.Types = map[string]int64{"System.String": 45, "System.Byte[]": 45, "System.Byte[] (large)": 10}
	c := Compare([]*Run{b}, []*Run{a})
	kinds := make(map[string]bool)
	for _, n := range c.Notes {
		kinds[n.Kind] = true
	}
	for _, want := range []string{"one_run", "runtime", "flavour", "processors"} {
		if !kinds[want] {
			t.Errorf("no note %q in %v", want, c.Notes)
		}
	}
	want := map[Cause]bool{
		{"reason", "AllocSmall", 100, 0}: true, {"reason", "Induced", 0, 100}: true, {"finding", "R21", 0, 100}: true,
		{"type", "System.Byte[] (large)", 0, 10}: true,
	}
	for _, cause := range c.Causes {
		if !want[cause] {
			t.Errorf("cause %+v", cause)
		}
		delete(want, cause)
	}
	if len(want) > 0 {
		t.Errorf("no causes %v in %v", want, c.Causes)
	}

	a.Types = nil
	for _, cause := range Compare([]*Run{b}, []*Run{a}).Causes {
		if cause.Kind == "type" {
			t.Errorf("cause %+v, though one run has no types", cause)
		}
	}
}

// TestSettings: only settings that differ are named, with their units.
func TestSettings(t *testing.T) {
	random := rand.New(rand.NewPCG(22, 22))
	b, a := ordinary.run(random), ordinary.run(random)
	notes := func(of, with *clr.GCSettingsRundown) (all []string) {
		b.Process.Settings, a.Process.Settings = of, with
		for _, n := range Compare([]*Run{b}, []*Run{a}).Notes {
			if n.Kind == "settings" || n.Kind == "memory" {
				all = append(all, n.Text)
			}
		}
		return all
	}
	usual := clr.GCSettingsRundown{LOHThreshold: 85000, PhysicalMemoryConfig: 8e9, BitSettings: clr.GCSettingsBitsConcurrent}
	other := usual
	if got := notes(&usual, &other); got != nil {
		t.Errorf("the same settings: %q", got)
	}
	other.HardLimit, other.LOHThreshold, other.Gen0MaxBudgetConfig = 200e6, 200_000, 64e6
	other.PhysicalMemoryConfig, other.HighMemPercentConfig, other.BitSettings = 4e9, 90, 0
	want := []string{
		"The runs differ in memory set by GCTotalPhysicalMemory: 8.00 GB before, 4.00 GB after.",
		"The runs differ in hard limit of the heap: none before, 200 MB after.",
		"The runs differ in LOH threshold: 85.0 kB before, 200 kB after.",
		"The runs differ in largest gen 0 budget: default before, 64.0 MB after.",
		"The runs differ in high memory threshold: default before, 90 % after.",
		"The runs differ in concurrent GC: on before, off after.",
	}
	if got := notes(&usual, &other); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	want = []string{
		"The runs may differ in GC settings: recorded before, unknown after.",
	}
	if got := notes(&usual, nil); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The same runs give the same answer.
func TestDeterministic(t *testing.T) {
	random := rand.New(rand.NewPCG(18, 18))
	b, a := ordinary.runs(random, 2), ordinary.runs(random, 2)
	first, second := Compare(b, a), Compare(b, a)
	for i := range first.Changes {
		x, y := first.Changes[i], second.Changes[i]
		if x.Verdict != y.Verdict || x.Low != y.Low || x.High != y.High || x.RunsNeeded != y.RunsNeeded {
			t.Errorf("%s: %+v, then %+v", x.Name, x, y)
		}
	}
}

// TestLargestHeap: the largest heap of a run may be one before a collection, if it is
// larger than all after one.
func TestLargestHeap(t *testing.T) {
	r, process := &Run{Name: "web"}, &gc.Process{}
	for _, c := range []gc.Collection{
		{HeapBefore: gc.Some[int64](300), HeapAfter: gc.Some[int64](100), HeapPeak: gc.Some[int64](300)},
		{HeapBefore: gc.Some[int64](200), HeapAfter: gc.Some[int64](100), HeapPeak: gc.Some[int64](500)}, // a background collection
		{HeapAfter: gc.Some[int64](150)},
		{},
	} {
		c.Process = process
		r.Add(&c)
		if want := c.LargestHeap(); r.Collections == 1 && want != gc.Some[int64](300) {
			t.Errorf("the first collection's largest heap is %v", want)
		}
	}
	for name, want := range map[string]float64{"heap_peak_bytes": 500, heapMean: 350.0 / 3} {
		for _, m := range Metrics() {
			if m.Name == name && math.Abs(m.Bounds(r, PerRun).Low-want) > 1e-9 {
				t.Errorf("%s is %v, want %v", name, m.Bounds(r, PerRun).Low, want)
			}
		}
	}
	after := &Run{Name: "after only"}
	after.Add(&gc.Collection{Process: process, HeapAfter: gc.Some[int64](150)})
	before := &Run{Name: "before only"}
	before.Add(&gc.Collection{Process: process, HeapBefore: gc.Some[int64](160)})
	for want, r := range map[float64]*Run{150: after, 160: before} {
		f := r.figures(nil, nil)
		if most := f.sums[heapPeak].largest(); most != want {
			t.Errorf("%s: the largest heap is %v, want %v", r.Name, most, want)
		}
	}
}

func TestRunIsBounded(t *testing.T) {
	r := &Run{Name: "long"}
	c := &gc.Collection{Process: &gc.Process{}, Start: gc.Some(time.Second)}
	for range MaxCollections + 10 {
		r.Add(c)
	}
	if len(r.samples) != MaxCollections || r.Collections != MaxCollections+10 {
		t.Errorf("%d samples of %d collections", len(r.samples), r.Collections)
	}
}

func BenchmarkCompare(b *testing.B) {
	random := rand.New(rand.NewPCG(19, 19))
	for name, n := range map[string]int{"one run a side": 1, "five runs a side": 5} {
		before, after := ordinary.runs(random, n), ordinary.runs(random, n)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Compare(before, after)
			}
		})
	}
}

// pausedRun returns a run with a collection in each second, of one pause each.
func pausedRun(length time.Duration, pauses ...time.Duration) *Run {
	process := &gc.Process{Name: "web", Stopped: length}
	r := new(Run)
	for i, pause := range pauses {
		at := time.Duration(i) * time.Second
		r.Add(&gc.Collection{
			Process: process, Number: uint32(i + 1), Start: gc.Some(at), AllPauses: true,
			Pauses: []gc.Pause{{Start: at, Duration: pause}},
		})
	}
	return r
}

// TestChangeLiesInItsInterval has runs in two groups, where the difference of the medians
// may lie outside the interval of the shift.
func TestChangeLiesInItsInterval(t *testing.T) {
	const all = 20
	groups := func(short int) (runs []*Run) {
		for i := range all {
			pause := time.Second
			if i < short {
				pause /= 2
			}
			pause += time.Duration(i) * time.Microsecond
			runs = append(runs, pausedRun(100*time.Second, pause, pause, pause))
		}
		return runs
	}
	for before := 8; before <= all-8; before++ {
		ch := change(Compare(groups(before), groups(all-before)), pauseShare)
		if ch.Percent < ch.Low || ch.Percent > ch.High {
			t.Errorf("%d short runs of %d, then %d: %.1f %%, with an interval of %.1f to %.1f %%", before, all, all-before, ch.Percent, ch.Low, ch.High)
		}
		if before == 11 && !(math.IsNaN(ch.Percent) && ch.After.Low > 1.5*ch.Before.Low) {
			t.Errorf("%.1f %%, for medians of %.3g and %.3g", ch.Percent, ch.Before.Low, ch.After.Low)
		}
	}
}

// TestPercentiles checks which percentile of the pauses each metric is of.
func TestPercentiles(t *testing.T) {
	var pauses []time.Duration
	for i := range 1000 {
		pauses = append(pauses, time.Duration(i+1)*time.Millisecond)
	}
	run := func() *Run { return pausedRun(1000*time.Second, pauses...) }
	got := make(map[string]float64)
	for _, c := range Compare([]*Run{run(), run()}, []*Run{run(), run()}).Changes {
		got[c.Name] = c.Before.Low
	}
	for name, want := range map[string]float64{"pause_mean_ms": 500.5, "pause_p50_ms": 500, "pause_p90_ms": 900, "pause_p99_ms": 990, "pause_max_ms": 1000} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}
