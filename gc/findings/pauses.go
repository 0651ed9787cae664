package findings

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/units"
)

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// of is the share of a part in percent, zero of nothing.
func of[T ~int | ~int64](part, whole T) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

func pauseShare(c *Case) (Finding, bool) {
	all, share := c.all(), c.share()
	if share < notablePauseShare {
		return Finding{}, false
	}
	f := Finding{
		Severity: Warning, Confidence: High,
		Says: fmt.Sprintf("Threads stood still for %s of %s (%s; up to %d %% is normal): %s of %s on average.",
			units.Duration(all.Pause.Sum()), units.Duration(c.Process.Watched()), units.Percent(share), notablePauseShare,
			counted(all.Count, "collection"), units.Duration(all.Pause.Mean())),
		Evidence: []Figure{{"pause_pct", share}, {"pause_ms", millis(all.Pause.Sum())}, {"pause_mean_ms", millis(all.Pause.Mean())}},
	}
	if share >= highPauseShare {
		f.Severity = Problem
	}
	if c.touched() {
		f.Confidence = Medium
	}
	if dear := dearest(&c.Process); dear.Totals != nil {
		f.Says += fmt.Sprintf(" %s of it went to %s.", units.Percent(of(dear.Pause.Sum(), all.Pause.Sum())), className(dear))
	}
	switch survival := c.Process.Survival(0).Percent(); {
	case all.Pause.Mean() < longOnAverage:
		f.Advice = []string{"The number of pauses comes from what is allocated: allocate less, or give generation 0 more room."}
	case survival.Known && survival.V >= lowSurvival:
		f.Advice = []string{"The length of pauses comes from what survives: shorten the life of objects, or let fewer live."}
	default:
		f.Advice = []string{"Pauses are long although little survives: see which step of the longest ones takes the time."}
	}
	return f, true
}

// stretches looks for pauses that pile up where the whole time looks well: a
// program that idles for most of the trace can suffer in the rest of it.
func stretches(c *Case) (Finding, bool) {
	worst := c.worstStretch()
	if c.share() >= notablePauseShare || worst.Share() < highPauseShare {
		return Finding{}, false
	}
	return Finding{
		Severity: Warning, Confidence: High,
		Says: fmt.Sprintf("Threads stood still for %s of the time over the whole, but for %s of the %s from %s on.",
			units.Percent(c.share()), units.Percent(worst.Share()), units.Duration(worst.Window), units.Duration(worst.From)),
		Evidence: []Figure{{"pause_pct", c.share()}, {"worst_window_pct", worst.Share()}},
		Advice:   []string{"Look at this stretch alone, with --from and --to."},
	}, true
}

// worstStretch is the worst of the longest stretches that are looked at, none if
// the process was watched for less.
func (c *Case) worstStretch() stats.Stall {
	longest := stats.StallWindows[len(stats.StallWindows)-1]
	for _, s := range c.Process.Stalls() {
		if s.Window == longest {
			return s
		}
	}
	return stats.Stall{Window: longest}
}

// dearest is the class that costs most.
func dearest(p *stats.Process) stats.Class {
	var most stats.Class
	for _, class := range p.Classes() {
		if most.Totals == nil || class.Pause.Sum() > most.Pause.Sum() {
			most = class
		}
	}
	return most
}

func className(c stats.Class) string {
	if !c.Generation.Known {
		return "collections of unknown generation"
	}
	return fmt.Sprintf("%v collections of generation %d", c.Kind, c.Generation.V)
}

func longSinglePauses(c *Case) (Finding, bool) {
	t := &c.tallies[longPauses]
	if t.count == 0 {
		return Finding{}, false
	}
	all := c.all()
	f := Finding{
		Severity: Warning, Confidence: High,
		Says: fmt.Sprintf("%s of %s stopped threads for longer than %s, the longest for %s.",
			units.Count(t.count), counted(all.Count, "collection"), units.Duration(longPause), units.Duration(all.Pause.Max())),
		Evidence: []Figure{{"pauses_over_100_ms", float64(t.count)}, {"pause_max_ms", millis(all.Pause.Max())}},
	}
	if all.Pause.Max() > veryLongPause {
		f.Severity = Problem
	}
	f.quote(t)
	if worst := c.Process.Longest[0]; worst.Suspend().Known {
		f.Says += fmt.Sprintf(" In that one, it took %s until they stood still.", units.Duration(worst.Suspend().V))
	}
	f.Advice = []string{"See what these collections did: gctrail gcs --min-pause 100ms FILE."}
	return f, true
}

func slowToStop(c *Case) (Finding, bool) {
	slow, mostly := &c.tallies[slowSuspensions], &c.tallies[mostlySuspended]
	if slow.count == 0 && mostly.count < several {
		return Finding{}, false
	}
	all := c.all()
	f := Finding{
		Confidence: High, weight: of(all.Suspend, all.Pause.Sum()),
		Evidence: []Figure{
			{"suspensions_over_10_ms", float64(slow.count)},
			{"mostly_suspension", float64(mostly.count)},
			{"suspend_ms", millis(all.Suspend)},
			{"suspend_pct_of_pause", of(all.Suspend, all.Pause.Sum())},
		},
		Advice: []string{
			"Some thread does not reach a safe point: a loop without calls, page faults, or no processor to run on. Take CPU samples and context switches during a suspension.",
			"In a container, compare the CPU quota with the number of threads that want to run.",
		},
	}
	f.Says = fmt.Sprintf("It took %s of the pauses' %s until threads stood still; well below %s at a time is normal.",
		units.Duration(all.Suspend), units.Duration(all.Pause.Sum()), units.Duration(normalSuspension))
	if slow.count > 0 {
		f.Says += fmt.Sprintf(" %s took %s or more.", units.Count(slow.count), units.Duration(slowSuspension))
		f.quote(slow)
	} else {
		f.Says += fmt.Sprintf(" In %s it was more than half of the pause.", counted(mostly.count, "collection"))
		f.quote(mostly)
	}
	f.Severity = c.costs(f.weight)
	if slow.count < several && mostly.count < several {
		f.Confidence = Medium
	}
	if all.Pause.Max() > longPause && slow.count > 0 {
		f.Severity = max(f.Severity, Warning)
	}
	return f, true
}

func inducedByProgram(c *Case) (Finding, bool) {
	t, all := &c.tallies[induced], c.all()
	minutes := max(c.Process.Watched().Minutes(), 1.0/60)
	if t.count < several || float64(t.count)/minutes < inducedPerMinute && of(t.pause, all.Pause.Sum()) < largeShare/2 {
		return Finding{}, false
	}
	f := Finding{
		Severity: c.costs(of(t.pause, all.Pause.Sum())), Confidence: High, weight: of(t.pause, all.Pause.Sum()),
		Says: fmt.Sprintf("%s of %s were asked for by GC.Collect: %s of all the time threads stood still.",
			units.Count(t.count), counted(all.Count, "collection"), units.Percent(of(t.pause, all.Pause.Sum()))),
		Evidence: []Figure{{"induced", float64(t.count)}, {"induced_pause_ms", millis(t.pause)}, {"induced_per_minute", float64(t.count) / minutes}},
		Advice: []string{
			"Remove calls of GC.Collect; the collector knows better when to run. Libraries call it too.",
			"To find the callers, collect stacks: gctrail collect --rundown true --providers Microsoft-Windows-DotNETRuntime:0x40000001:4, event GCTriggered.",
		},
	}
	if c.Trace.Keywords&keywordHeapDump != 0 {
		f.Says += " The trace holds heap dumps, and each of them starts with one."
		f.Confidence = Low
	}
	f.quote(t)
	return f, true
}

func memoryNearlyFull(c *Case) (Finding, bool) {
	high, low := &c.tallies[highMemory], &c.tallies[lowMemory]
	if high.count == 0 && low.count == 0 {
		return Finding{}, false
	}
	load := c.Process.Heap.MaxLoad.V
	f := Finding{
		Severity: Warning, Confidence: High, weight: of(high.pause+low.pause, c.all().Pause.Sum()),
		Says: fmt.Sprintf("In %s at least %d %% of the memory of the machine, or of the container, was in use, at most %d %%.",
			counted(high.count, "collection"), highMemoryLoad, load),
		Evidence: []Figure{{"memory_load_pct", float64(load)}, {"at_high_load", float64(high.count)}, {"low_memory_signals", float64(low.count)}},
		Advice: []string{
			"The collector then runs more full, compacting collections. Free memory, give the container more, or move other processes away.",
		},
		Settings: []Setting{hardLimit, highMemPercent},
	}
	f.quote(high)
	if high.count == 0 {
		f.Says = fmt.Sprintf("%s ran because the system or the host signalled low memory.", counted(low.count, "collection"))
		f.quote(low)
	}
	if load >= veryHighMemoryLoad {
		f.Severity = Problem
	}
	return f, true
}

func fullAndBlocking(c *Case) (Finding, bool) {
	t, all := &c.tallies[fullBlocking], c.all()
	byCount, byPause := of(t.count, all.Count), of(t.pause, all.Pause.Sum())
	if t.count < several || byCount < largeShare && byPause < largeShare {
		return Finding{}, false
	}
	f := Finding{
		Severity: c.costs(byPause), Confidence: High, weight: byPause,
		Says: fmt.Sprintf("%s of %s were of generation 2 and stopped all threads from start to end: %s of the pauses.",
			units.Count(t.count), counted(all.Count, "collection"), units.Percent(byPause)),
		Evidence: []Figure{{"full_blocking", float64(t.count)}, {"full_blocking_pct", byCount}, {"full_blocking_pause_pct", byPause}},
		Advice:   []string{"Normally generation 2 is collected in the background. See why it was not: gctrail gcs --gen 2 --kind blocking FILE, columns reason and condemned."},
	}
	f.quote(t)
	if small := c.tallies[fullTooSmall].count; 2*small > t.count {
		f.Says += fmt.Sprintf(" For %s, generation 2 was too small to be collected in the background (gen2_too_small): that is cheap.", units.Count(small))
		f.Severity = min(f.Severity, Warning)
	}
	if s := c.Process.Process.Settings; s != nil && s.BitSettings&clr.GCSettingsBitsConcurrent == 0 {
		f.Says += " Background collections are switched off."
		f.Settings = []Setting{{
			Variable: "DOTNET_gcConcurrent", Value: "0x1", Property: "System.GC.Concurrent", JSON: "true",
			Effect: "generation 2 is collected while threads run",
		}}
	}
	return f, true
}

// rootAdvice says what makes marking from a kind of root long.
var rootAdvice = map[clr.RootType]string{
	clr.RootTypeStack:            "Deep stacks or many threads: look for runaway recursion and for blocked threads.",
	clr.RootTypeHandles:          "Many handles: see who opens them, profile gc-verbose, then gctrail events --name SetGCHandle FILE.",
	clr.RootTypeOlder:            "Old objects refer to many new ones: large caches or arrays that are written all the time. Clear references early, write less into old objects.",
	clr.RootTypeFinalizeQueue:    "Many objects wait for their finalizers: dispose of them.",
	clr.RootTypeDependentHandles: "Many dependent handles: ConditionalWeakTable, or what is built on it.",
}

func longMark(c *Case) (Finding, bool) {
	all := c.all()
	worst := clr.RootType(0)
	for root := range c.marking {
		if c.marking[root] > c.marking[worst] {
			worst = clr.RootType(root)
		}
	}
	share := of(c.marking[worst], all.Pause.Sum())
	if share < largeShare {
		return Finding{}, false
	}
	f := Finding{
		Severity: c.costs(share), Confidence: High, weight: share,
		Says:     fmt.Sprintf("Marking from %v took %s, %s of the pauses.", worst, units.Duration(c.marking[worst]), units.Percent(share)),
		Evidence: []Figure{{"mark_ms", millis(c.marking[worst])}, {"mark_pct_of_pause", share}},
	}
	if advice := rootAdvice[worst]; advice != "" {
		f.Advice = []string{advice}
	}
	return f, true
}

func fullForHoles(c *Case) (Finding, bool) {
	t, all := &c.tallies[fullHoled], c.all()
	share := of(t.pause, all.Pause.Sum())
	if t.count < several || share < someShare {
		return Finding{}, false
	}
	f := Finding{
		Severity: c.costs(share), Confidence: High, weight: share,
		Says: fmt.Sprintf("%s of %s stopped all threads to close holes in generation 2 (max_generation_high_fragmentation): %s of the pauses.",
			units.Count(t.count), counted(c.tallies[full].count, "full collection"), units.Percent(share)),
		Evidence: []Figure{{"full_for_holes", float64(t.count)}, {"full_for_holes_pause_pct", share}},
		Advice:   []string{"Holes come from objects that die among others that live on: give objects of one kind one life, pool long-lived buffers, pin less."},
	}
	f.quote(t)
	return f, true
}

func largeObjects(c *Case) (Finding, bool) {
	t, fulls := &c.tallies[forLargeObjects], c.tallies[full].count
	if t.count < several || of(t.count, fulls) < largeShare {
		return Finding{}, false
	}
	share := of(t.pause, c.all().Pause.Sum())
	f := Finding{
		Severity: c.costs(share), Confidence: High, weight: share,
		Says: fmt.Sprintf("%s of %s of generation 2 ran because large objects (85,000 bytes and more, or pinned arrays) had used up their budget.",
			units.Count(t.count), counted(fulls, "collection")),
		Evidence: []Figure{{"for_large_objects", float64(t.count)}, {"full", float64(fulls)}, {"pause_ms", millis(t.pause)}},
		Advice: []string{
			"Reuse large arrays (ArrayPool, RecyclableMemoryStream), or split them.",
			c.seeTypes() + ", AllocationKind 1.",
		},
		Settings: []Setting{lohThreshold},
	}
	f.quote(t)
	return f, true
}

// oddPauses looks for a long pause of a collection that promoted no more than
// its likes do.
func oddPauses(c *Case) (Finding, bool) {
	var t tally
	for _, col := range c.Process.Longest {
		class := classOf(&c.Process, col)
		pause, suspend := col.Pause(), col.Suspend()
		if class == nil || class.Count < 2*several || !suspend.Known || !col.Promoted.Known || class.Promoted.Known == 0 {
			continue
		}
		working, usual := pause.V-suspend.V, class.Pause.Percentile(50)
		average := class.Promoted.Sum / int64(class.Promoted.Known)
		if working >= aloneLongest && working > farFromMedian*usual && 2*col.Promoted.V <= 3*average {
			t.add(col)
		}
	}
	if t.count == 0 {
		return Finding{}, false
	}
	f := Finding{
		Severity: min(Warning, c.costs(of(t.pause, c.all().Pause.Sum()))), Confidence: Medium, weight: of(t.pause, c.all().Pause.Sum()),
		Says: fmt.Sprintf("%s worked more than %d times as long as the median of their generation and kind, and promoted no more. The longest took %s.",
			counted(t.count, "collection"), farFromMedian, units.Duration(t.kept[0].pause)),
		Evidence: []Figure{{"odd_pauses", float64(t.count)}, {"pause_max_ms", millis(t.kept[0].pause)}},
		Advice:   []string{"Look for what else ran then: other processes, a CPU quota smaller than the number of heaps, paging. A trace with context switches shows it."},
	}
	f.quote(&t)
	return f, true
}

func classOf(p *stats.Process, c *gc.Collection) *stats.Totals {
	if !c.Generation.Known || c.Generation.V < 0 || c.Generation.V > 2 {
		return nil
	}
	return p.Class(c.Generation.V, c.Kind)
}
