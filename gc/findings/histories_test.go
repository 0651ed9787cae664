package findings_test

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/extent"
)

// A draw chooses values of a history at random.
type draw struct{ *rand.Rand }

// one returns one of some values.
func one[T any](d draw, values ...T) T { return values[d.IntN(len(values))] }

// maybe returns the first of some values, which is the usual one, or in one of three histories
// another.
func maybe[T any](d draw, values ...T) T {
	if d.IntN(3) > 0 {
		return values[0]
	}
	return one(d, values...)
}

// drawn returns a history of values at the thresholds of rules, just below and just above
// them, in all or some of its collections.
func drawn(d draw) history {
	const ms = time.Millisecond
	h := calm()
	h.n, h.every = one(d, 2, 19, 20, 60, 60), one(d, 100*ms, time.Second)
	p := &h.process
	p.Stopped = time.Duration(h.n) * h.every
	p.Runtime = one(d, "", ".NET Core 3.1.32", ".NET 5.0.17", ".NET 6.0.1", ".NET 7.0.0", ".NET 8.0.3", ".NET 9.0.0", ".NET 10.0.12", ".NET Framework 4.0.30319")
	p.Server, p.Concurrent = one(d, gc.Opt[bool]{}, gc.Some(false), gc.Some(true)), one(d, gc.Opt[bool]{}, gc.Some(false), gc.Some(true))
	p.StartSeen, p.Missing, p.OutOfMemory = d.IntN(2) == 0, maybe(d, 0, 0, 0, 1, 30), maybe(d, 0, 0, 0, 0, 1, 2)
	p.Pressure = gc.Pressure{Increases: d.IntN(3), Added: maybe[int64](d, 0, 4<<20-1, 4<<20, 8<<20), Removed: maybe[int64](d, 0, 2<<20, 2<<20+1)}
	if d.IntN(3) == 0 {
		waited := one(d, 200*ms-1, 200*ms, time.Second)
		p.AllocWaits = gc.AllocWaits{Count: one(d, 1, 3), Total: 3 * waited, Max: waited}
	}
	if d.IntN(2) == 0 {
		p.Settings = &clr.GCSettingsRundown{
			HardLimit: maybe[uint64](d, 0, 0, 0, 60*mb), LOHThreshold: one[uint64](d, 85_000, 200_000), PhysicalMemoryConfig: one[uint64](d, 1e9, 100e9),
			HighMemPercentConfig: one[uint32](d, 0, 80), BitSettings: one(d, 0, clr.GCSettingsBitsConcurrent),
		}
	}
	if d.IntN(3) == 0 {
		p.Limits = &gc.Limits{Processors: one(d, 1, 2, 4), MachineProcessors: one(d, 4, 16), Quota: one(d, 0, 50*ms, 200*ms), Period: 100 * ms, MemoryLimit: one[int64](d, 0, 100*mb)}
	}
	if d.IntN(3) == 0 {
		long := one(d, 5*ms, 50*ms, time.Second)
		p.Suspensions = []gc.SuspensionTotal{{Reason: one(d, clr.SuspendReasonSuspendOther, clr.SuspendReasonSuspendForDebugger, clr.SuspendReasonSuspendForCodePitching), Kind: gc.PauseOther, Count: 10, Total: 4 * long, Max: long}}
	}
	if d.IntN(10) == 0 {
		p.NoGC = gc.NoGC{Regions: d.IntN(4), Suspended: one(d, 0, 100*ms), Perhaps: d.IntN(2)}
	}
	h.trace = findings.Trace{
		Keywords: maybe[uint64](d, 1, 1|clr.KeywordGCHeapDump), Level: one[uint8](d, 4, 5), Events: 100, Sampled: d.IntN(6) == 0, CPUs: one(d, 0, 1, 3, 4, 16),
	}

	// Some collections differ from the others.
	special := one(d, 1, 2, 3, h.n/10, h.n/4, h.n/2-1, h.n/2, h.n)
	pauses, slow := one(d, 200*time.Microsecond, 5*ms, 10*ms, 30*ms, 50*ms), one(d, 5*ms, 10*ms, 60*ms, 100*ms, 200*ms)
	suspend := maybe(d, 50*time.Microsecond, ms, 10*ms-1, 10*ms)
	reason := maybe(d, clr.GCReasonAllocSmall, clr.GCReasonAllocLarge, clr.GCReasonInduced, clr.GCReasonInducedNotForced, clr.GCReasonLowMemory, clr.GCReasonOutOfSpaceSOH, clr.GCReasonPMFullGC, clr.GCReasonInducedAggressive)
	condemned := maybe(d, 0, clr.CondemnReasons1Gen2TooSmall, clr.CondemnReasons1MaxGenerationHighFragmentation, clr.CondemnReasons1BeforeOOM, clr.CondemnReasons1JoinedLimitBeforeOOM, clr.CondemnReasons1JoinedLimitLOHFrag, clr.CondemnReasons1AlmostMaxAlloc)
	generation, kind := one(d, 0, 1, 2, 2), one(d, gc.Blocking, gc.Blocking, gc.Background)
	if generation < 2 {
		kind = gc.Blocking
	}
	mode := maybe(d, gc.Opt[clr.PauseMode]{}, gc.Some(clr.PauseModeBatch), gc.Some(clr.PauseModeInteractive), gc.Some(clr.PauseModeLowLatency), gc.Some(clr.PauseModeNoGC))
	load, heaps, pinned := maybe(d, 40, 40, 89, 90, 97), maybe(d, 1, 2, 4, 16), maybe[int64](d, 3, 999, 1000, 5000)
	peak, committed := maybe[int64](d, 60, 249, 250, 500)*mb, maybe[int64](d, 70, 149, 150, 400)*mb
	survived, grows := maybe[int64](d, mb, 0, mb/2-1, mb/2, 2*mb, 9*mb), maybe[int64](d, 0, 0, mb/10, mb)
	free, size := one[int64](d, 2, 10, 20, 100)*mb, one[int64](d, 20, 40, 200)*mb
	where := one(d, 2, 3, 4) // the generation with free space
	finalized, handles := maybe[int64](d, 0, 999, 1000), maybe[int64](d, 500, 1500)
	list := gc.FreeList{Allocated: one[int64](d, 0, 9, 10, 11) * mb, Rejected: one[int64](d, 9, 10, 11) * mb}
	lost := d.IntN(8) == 0
	return h.with(func(i int, c *gc.Collection) {
		pause(c, pauses, 50*time.Microsecond)
		c.PauseMode, c.Heaps, c.Handles = mode, gc.Some(heaps), gc.Some(handles+int64(i)*20)
		c.Generations[2].After = gc.Some(40*mb + int64(i)*grows)
		c.HeapAfter = gc.Some(50*mb + int64(i)*grows)
		c.CommittedAfter = gc.Some(committed)
		c.Generations[0].Out, c.Generations[0].Freed = survived, gc.Some(10*mb-survived)
		if i*special/h.n == (i+1)*special/h.n {
			return
		}
		pause(c, slow, suspend)
		c.Reason, c.Generation, c.Kind, c.AffectedByLoss = gc.Some(reason), gc.Some(generation), kind, lost
		if condemned != 0 {
			c.Condemned, c.Joint = gc.Some(condemned), gc.Some(condemned)
		}
		c.MemoryLoad, c.PinnedObjects, c.HeapPeak = gc.Some(load), gc.Some(pinned), gc.Some(peak)
		c.FinalizationPromotedObjs, c.FinalizationPromoted = gc.Some(finalized), gc.Some(finalized*100)
		g := &c.Generations[where]
		g.Before, g.After, g.Fragmentation = size, gc.Some(size), gc.Some(min(free, size))
		if generation == 1 {
			c.FreeList = gc.Some(list)
		}
		if special < h.n/4 {
			c.Marks = []gc.Mark{{Heap: 0, Root: clr.RootTypeStack, Duration: slow / 2}, {Heap: 1, Root: clr.RootTypeOlder, Duration: slow / 10}}
		}
	})
}

// TestHistories holds which findings hundreds of drawn histories have, with a sum over all
// their figures. To see the figures of one history, print them. Words are not in it, because other
// tests read them.
func TestHistories(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for seed := range uint64(600) {
		h := drawn(draw{rand.New(rand.NewPCG(seed, 1))})
		fmt.Fprintf(&b, "%d:", seed)
		var figures []byte
		for _, f := range h.judged().Findings {
			fmt.Fprintf(&b, " %s", f.ID)
			figures = fmt.Appendln(figures, f.Severity, f.Confidence, len(f.Advice), len(f.Settings), f.Shown, f.Collections, f.Evidence)
		}
		fmt.Fprintf(&b, " %08x\n", crc32.ChecksumIEEE(figures))
	}
	extent.Golden(t, "testdata/histories.txt", b.String())
}
