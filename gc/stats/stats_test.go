package stats_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
)

// durations draws pauses from nanoseconds to minutes.
func durations(t *rapid.T, most int) []time.Duration {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, 1<<rapid.IntRange(0, 36).Draw(t, "bits")).Draw(t, "ns"))
	}), 1, most).Draw(t, "durations")
}

func percentile(sorted []time.Duration, p float64) time.Duration {
	return sorted[max(int(math.Ceil(p/100*float64(len(sorted)))), 1)-1]
}

func TestPercentilesAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := durations(t, 200)
		var d stats.Distribution
		for _, v := range values {
			d.Add(v)
		}
		slices.Sort(values)
		for _, p := range []float64{0, 1, 50, 90, 99, 100} {
			if got, want := d.Percentile(p), percentile(values, p); got != want {
				t.Fatalf("p%v of %v: %v, want %v", p, values, got, want)
			}
		}
		if d.Max() != values[len(values)-1] {
			t.Fatalf("max %v of %v", d.Max(), values)
		}
	})
}

// TestManyDurations holds the buckets to their width.
func TestManyDurations(t *testing.T) {
	var d, half stats.Distribution
	var values []time.Duration
	for i := range 100_000 {
		v := time.Duration(i*i*31 + i)
		values = append(values, v)
		if i%2 == 0 {
			d.Add(v)
		} else {
			half.Add(v)
		}
	}
	d.Merge(&half)
	if d.Exact() {
		t.Fatal("still exact")
	}
	slices.Sort(values)
	for _, p := range []float64{1, 10, 50, 90, 99, 99.9, 100} {
		got, want := d.Percentile(p), percentile(values, p)
		if got < want || float64(got-want) > float64(want)/512 {
			t.Errorf("p%v: %v, want %v", p, got, want)
		}
	}
}

// maybe draws a figure that may be unknown.
func maybe[T any](t *rapid.T, name string, values *rapid.Generator[T]) gc.Opt[T] {
	if rapid.Bool().Draw(t, name+" known") {
		return gc.Some(values.Draw(t, name))
	}
	return gc.Opt[T]{}
}

func collections(t *rapid.T) []*gc.Collection {
	process := &gc.Process{PID: 1, Stopped: time.Hour}
	var list []*gc.Collection
	var at time.Duration
	for i, pause := range durations(t, 100) {
		at += time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "gap"))
		c := &gc.Collection{
			Process:    process,
			Number:     uint32(i + 1),
			Generation: maybe(t, "gen", rapid.IntRange(0, 2)),
			Kind:       gc.Kind(rapid.IntRange(0, 3).Draw(t, "kind")),
			Reason:     gc.Some(clr.GCReason(rapid.IntRange(0, 40).Draw(t, "reason"))),
			Start:      gc.Some(at),
			PauseStart: gc.Some(at),
			Pauses:     []gc.Pause{{Kind: gc.PauseBlocking, Start: at, Duration: pause, Suspend: gc.Some(pause / 2)}},
			AllPauses:  rapid.IntRange(0, 9).Draw(t, "seen") > 0,
			Freed:      maybe(t, "freed", rapid.Int64Min(0)),
			HeapAfter:  gc.Some(int64(i)),
		}
		at += pause
		c.End = gc.Some(at)
		list = append(list, c)
	}
	return list
}

// TestPartsMakeTheWhole checks that generations, kinds, classes, reasons and the
// timeline each hold all collections and all their pauses.
func TestPartsMakeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p stats.Summary
		list := collections(t)
		for _, c := range list {
			p.Add(c)
		}
		all := p.All()
		if all.Count != len(list) {
			t.Fatalf("%d collections, want %d", all.Count, len(list))
		}
		same := func(what string, parts []*stats.Totals) {
			var sum stats.Totals
			for _, part := range parts {
				sum.Merge(part)
			}
			if sum.Count != all.Count || sum.Pause.Sum() != all.Pause.Sum() || sum.Freed != all.Freed || sum.Induced != all.Induced {
				t.Fatalf("%s: %d collections, %v, freed %v; all: %d, %v, %v", what, sum.Count, sum.Pause.Sum(), sum.Freed, all.Count, all.Pause.Sum(), all.Freed)
			}
		}
		var classes, reasons, kinds []*stats.Totals
		for _, c := range p.Classes() {
			classes = append(classes, c.Totals)
		}
		for _, r := range p.Reasons() {
			reasons = append(reasons, r.Totals)
		}
		for k := gc.KindUnknown; k <= gc.Foreground; k++ {
			kinds = append(kinds, p.Kind(k))
		}
		same("classes", classes)
		same("reasons", reasons)
		same("kinds", kinds)
		checkTimeline(t, &p, list)
	})
}

func checkTimeline(t *rapid.T, p *stats.Summary, list []*gc.Collection) {
	var n int
	var last gc.Opt[int64]
	for _, b := range p.Timeline.Buckets {
		n += b.Collections
		if b.HeapAfter.Known() {
			last = b.HeapAfter
		}
	}
	if n != len(list) || len(p.Timeline.Buckets) > stats.MaxBuckets {
		t.Fatalf("the timeline has %d of %d collections in %d buckets", n, len(list), len(p.Timeline.Buckets))
	}
	if last.Or(0) != int64(len(list)-1) {
		t.Fatalf("the timeline ends with heap %d, want %d", last.Or(0), len(list)-1)
	}
}

// TestStalls compares the worst windows with a search over each window that begins or
// ends with a pause.
func TestStalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p stats.Summary
		list := collections(t)
		for _, c := range list {
			p.Add(c)
		}
		inside := func(from, to time.Duration) time.Duration {
			var sum time.Duration
			for _, c := range list {
				q := c.Pauses[0]
				sum += max(0, min(to, q.Start+q.Duration)-max(from, q.Start))
			}
			return sum
		}
		for _, got := range p.Stalls() {
			var want time.Duration
			for _, c := range list {
				q := c.Pauses[0]
				want = max(want, inside(q.Start, q.Start+got.Window), inside(q.Start+q.Duration-got.Window, q.Start+q.Duration))
			}
			if got.Pause != want {
				t.Fatalf("worst %v: %v, want %v", got.Window, got.Pause, want)
			}
			if end := got.From + got.Window; inside(end-got.Window, end) < got.Pause {
				t.Fatalf("worst %v: %v do not lie in it from %v on", got.Window, got.Pause, got.From)
			}
		}
	})
}

func TestLongestAreTheLongest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p stats.Summary
		var pauses []time.Duration
		for _, c := range collections(t) {
			p.Add(c)
			if c.Pause().Known() {
				pauses = append(pauses, c.Pause().Or(0))
			}
		}
		slices.SortFunc(pauses, func(a, b time.Duration) int { return int(b - a) })
		pauses = pauses[:min(len(pauses), stats.MaxLongest)]
		if len(p.Longest) != len(pauses) {
			t.Fatalf("%d longest, want %d", len(p.Longest), len(pauses))
		}
		for i, c := range p.Longest {
			if c.Pause().Or(0) != pauses[i] {
				t.Fatalf("longest %d: %v, want %v", i, c.Pause().Or(0), pauses[i])
			}
		}
	})
}

// TestUnknownFigures checks that an unknown figure counts as missing from a sum, and adds
// nothing to it.
func TestUnknownFigures(t *testing.T) {
	process := &gc.Process{Stopped: time.Second}
	var p stats.Summary
	p.Add(&gc.Collection{Process: process, Number: 1, Freed: gc.Some(int64(7)), Complete: true})
	p.Add(&gc.Collection{Process: process, Number: 2})
	all := p.All()
	if f := all.Freed; f.Sum != 7 || f.Known != 1 || f.Certainty() != gc.LowerBound || f.Max().Known() {
		t.Errorf("freed: %+v", all.Freed)
	}
	if all.PausesUnknown() != 2 || all.Incomplete != 1 {
		t.Errorf("%d pauses unknown, %d incomplete", all.PausesUnknown(), all.Incomplete)
	}
	if p.AllocationRate().Known() {
		t.Error("an allocation rate out of nothing")
	}
	if p.PauseShare().Known() {
		t.Error("a share of pauses that nobody saw")
	}
}

// TestAllocationRateOfFirstCollection checks that a rate counts the first collection's
// bytes only if all of them were allocated in the trace, and ends with the latest
// collection if later allocations are unknown.
func TestAllocationRateOfFirstCollection(t *testing.T) {
	for _, test := range []struct {
		first     uint32
		startSeen bool
		want      float64
	}{{1, false, 20}, {1, true, 15}, {2, false, 20}, {2, true, 20}} {
		var p stats.Summary
		process := &gc.Process{Stopped: time.Minute, StartSeen: test.startSeen}
		for n := range uint32(2) {
			c := &gc.Collection{Process: process, Number: test.first + n, Start: gc.Some(time.Duration(n+1) * time.Second)}
			if c.Number > 1 && n == 0 {
				c.Allocated = gc.Opt[int64]{}
			} else {
				c.Allocated, c.AllocatedQuality = gc.Some(int64(10*(n+1))), gc.Exact
			}
			p.Add(c)
		}
		if rate := p.AllocationRate(); rate.PerSecond != test.want || rate.Certainty != gc.Estimate {
			t.Errorf("collection %d first, start seen %v: rate %+v, want %v", test.first, test.startSeen, rate, test.want)
		}
	}
}

// TestLowerBoundLeavesOutFiller checks that a lower bound holds where each allocation
// context of gen0 ends in 24 bytes of filler, and that arrays of the LOH have none.
func TestLowerBoundLeavesOutFiller(t *testing.T) {
	const young, large = 1000 * 8192, 50_000_000
	p := stats.Summary{SumsOnly: true}
	process := &gc.Process{Stopped: time.Second} // allocations after its last collection are unknown
	for n := range uint32(2) {
		p.Add(&gc.Collection{
			Process: process, Number: n + 1, Allocated: gc.Some[int64](young + large), AllocatedQuality: gc.Exact,
			Generations: []gc.Generation{{Name: "gen0", Before: young}},
		})
	}
	sum := p.Allocated()
	if most := int64(2 * (1000*8168 + large)); sum.Certainty() != gc.LowerBound || sum.Sum > most || float64(sum.Sum) < 0.999*float64(most) {
		t.Errorf("%v of %d bytes, want a lower bound near and not above %d", sum.Certainty(), sum.Sum, most)
	}
	if counted := p.All().Allocated; counted.Sum != 2*(young+large) || counted.Certainty() != gc.Exact {
		t.Errorf("%v %d bytes in all collections", counted.Certainty(), counted.Sum)
	}
}

// TestSumsOfEstimates checks that a sum with an estimate in it is one.
func TestSumsOfEstimates(t *testing.T) {
	process := &gc.Process{Stopped: time.Second}
	var p stats.Summary
	p.Add(&gc.Collection{Process: process, Generation: gc.Some(0), Freed: gc.Some(int64(7)), FreedQuality: gc.Exact})
	if p.All().Freed.Estimated {
		t.Error("an exact sum is called an estimate")
	}
	p.Add(&gc.Collection{Process: process, Generation: gc.Some(2), Freed: gc.Some(int64(8)), FreedQuality: gc.Estimate})
	if f := p.All().Freed; f.Sum != 15 || f.Known != 2 || f.Certainty() != gc.Estimate {
		t.Errorf("freed: %+v", f)
	}
}

// TestOddCollections sums up collections of kinds and generations that there are
// not, and asks for such.
func TestOddCollections(t *testing.T) {
	var p stats.Summary
	if p.Watched() != 0 || p.PauseShare().Known() || p.AllocationRate().Known() {
		t.Error("a process without collections has figures")
	}
	p.Add(&gc.Collection{
		Process: &gc.Process{}, Kind: 9, Generation: gc.Some(-1), Pauses: []gc.Pause{{Kind: 77}},
		Generations: make([]gc.Generation, 9),
	})
	p.Add(&gc.Collection{Process: &gc.Process{}, Kind: 255, Generation: gc.Some(1 << 40)})
	if n := p.Kind(9).Count; n != 2 {
		t.Errorf("%d collections of an unknown kind, want 2", n)
	}
	for _, n := range []int{-1, 5, 1 << 40} {
		if p.Generation(n).Count+p.Class(n, 200).Count+p.Survival(n).Collections != 0 {
			t.Errorf("generation %d has collections", n)
		}
	}
}
