package gc

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// heapStats is raised right after GCEnd, on the same thread.
func (m *Model) heapStats(e *event) {
	v, ok := decode[clr.GCHeapStats](m, e)
	rt := m.raisedBy(e, v.ClrInstanceID, ok)
	if rt == nil {
		return
	}
	b := rt.ended[e.TID]
	if b == nil && rt.ends.raised { // its end is missing
		m.missing(rt.regions.at, e.Time)
	}
	if b == nil || !plausible(v.GenerationSize0, v.GenerationSize1, v.GenerationSize2, v.GenerationSize3, v.GenerationSize4,
		v.TotalPromotedSize0, v.TotalPromotedSize1, v.TotalPromotedSize2, v.TotalPromotedSize3, v.TotalPromotedSize4) {
		return
	}
	delete(rt.ended, e.TID)
	b.stats = true
	b.HeapAfter = Some(int64(v.Heap()))
	b.promoted = [5]int64{
		int64(v.TotalPromotedSize0), int64(v.TotalPromotedSize1), int64(v.TotalPromotedSize2),
		int64(v.TotalPromotedSize3), int64(v.TotalPromotedSize4),
	}
	if v.PossibleFinalization() {
		b.FinalizationPromoted = Some(int64(v.FinalizationPromotedSize))
		b.FinalizationPromotedObjs = Some(int64(v.FinalizationPromotedCount))
		e.process.foundFinalizable(e.Time, int64(v.FinalizationPromotedCount))
	}
	b.PinnedObjects = Some(int64(v.PinnedObjectCount))
	b.SyncBlocks = Some(int64(v.SinkBlockCount))
	b.Handles = Some(int64(v.GCHandleCount))
	rt.release()
}

// globalHistory finds the collection of a GCGlobalHeapHistory. A server's background
// collection has it after its end, from any thread.
func (m *Model) globalHistory(e *event) {
	v, ok := decode[clr.GCGlobalHeapHistory](m, e)
	rt := m.raisedBy(e, v.ClrInstanceID, ok)
	if rt == nil {
		return
	}
	b := rt.globalHistory(e, v.GlobalMechanisms, v.CondemnedGeneration, v.NumHeaps, v.Reason, v.FinalYoungestDesired)
	if b == nil {
		return
	}
	b.Compacted = Some(v.GlobalMechanisms&clr.GlobalMechanismsCompaction != 0)
	if v.MemoryPressure <= 100 {
		b.MemoryLoad = Some(int(v.MemoryPressure))
	}
	if v.PauseMode <= clr.PauseModeNoGC {
		b.PauseMode = Some(v.PauseMode)
	}
	b.addCondemned(v.CondemnReasons1)
	b.Joint = Some(v.CondemnReasons1)
	b.PhaseTimes = appendPhases(b.PhaseTimes[:0], v.Values)
}

// phaseNames are the phases of the times in a history, by their number.
var phaseNames = [...][]string{5: clr.TimeNames(5), 7: clr.TimeNames(7), 8: clr.TimeNames(8)}

// appendPhases appends the times of a history with their names: none for a number of times that
// the runtime does not write.
func appendPhases(to []PhaseTime, values []clr.GCGlobalHeapHistoryValue) []PhaseTime {
	if len(values) >= len(phaseNames) {
		return to
	}
	for i, name := range phaseNames[len(values)] {
		to = append(to, PhaseTime{name, Some(time.Duration(values[i].Time) * time.Microsecond)})
	}
	return to
}

// rejectPhases makes phases unknown that are longer than their pause, because .NET 8
// sometimes writes a reading of its clock as the duration of a compaction.
func (c *Collection) rejectPhases() {
	pause, known := c.Pause().Get()
	if !known {
		pause, known = c.Duration().Get()
	}
	if !known {
		return
	}
	for i := range c.PhaseTimes {
		if t := &c.PhaseTimes[i]; t.Duration.Or(0) > pause+clockSkew {
			t.Duration = Opt[time.Duration]{}
		}
	}
}

// clockSkew bounds how far a phase may exceed the pause that the events show. The runtime
// reads its clock separately for each.
const clockSkew = time.Millisecond

// maxHeaps is the most heaps that the runtime can have (gcconfig.h).
const maxHeaps = 1024

// globalHistory gives a global history to its collection, which it returns.
func (rt *runtime) globalHistory(e *event, mechanisms clr.GlobalMechanisms, generation uint32, heaps int32, reason clr.GCReason, desired uint64) *building {
	if generation > gen2 || heaps < 1 || heaps > maxHeaps {
		return nil
	}
	concurrent := mechanisms&clr.GlobalMechanismsConcurrent != 0
	b := rt.awaitingHistory(concurrent, generation)
	if b == nil {
		delete(rt.history, e.TID)
		return nil
	}
	rt.history[e.TID], b.historyThread = b, e.TID
	b.global, b.concurrent, b.told = true, concurrent, e.Time
	b.Generation = Some(int(generation))
	b.Heaps = Some(int(heaps))
	rt.process.heaps = max(rt.process.heaps, int(heaps))
	if desired > 0 && plausible(desired) {
		b.desired = Some(int64(desired))
	}
	b.Mechanisms = Some(mechanisms)
	if !b.Reason.Known() {
		b.Reason = Some(reason)
	}
	if heaps > 1 {
		e.process.Server = Some(true)
	}
	return b
}

// awaitingHistory returns the collection that a history of this kind is of. A
// blocking one's comes before its end. A concurrent one is a background
// collection's; one of gen2 can be that of a collection which was announced so
// and found that it had to run blocking.
func (rt *runtime) awaitingHistory(concurrent bool, generation uint32) *building {
	if b := rt.blocking; b != nil && !b.global && !concurrent {
		return b
	}
	var other *building
	near := rt.pending[max(0, len(rt.pending)-lookBack):]
	if b := rt.lastBackground; b != nil && !b.global && !b.finished && (concurrent || generation == gen2 && !b.initial) && !slices.Contains(near, b) {
		return b
	}
	for _, b := range slices.Backward(near) {
		switch {
		case b.global:
		case b.Requested != Background:
			if other == nil && (!concurrent || b.Requested == KindUnknown) {
				other = b
			}
		case concurrent, generation == gen2 && !b.initial:
			return b
		}
	}
	return other
}

// plausible reports whether sizes are possible: less than clr.MaxSize, so that sums of
// them stay within an int64. A damaged payload can have others.
func plausible(sizes ...uint64) bool {
	return len(sizes) == 0 || slices.Max(sizes) < clr.MaxSize
}

// perHeapHistory adds a heap's part. It follows the global history on its thread.
func (m *Model) perHeapHistory(e *event) {
	v, ok := decode[clr.GCPerHeapHistory](m, e)
	if !ok {
		return
	}
	if len(v.Values) <= loh {
		return // damaged, because all runtimes write the LOH's values
	}
	b := m.heapHistory(e, v.ClrInstanceID, v.HeapIndex, v.Values)
	if b == nil {
		return
	}
	b.records = min(len(v.Values), len(b.sums))
	b.allAfter = b.records > poh // up to .NET Core 3.1 there is no POH
	b.pinned = true
	b.addCondemned(v.CondemnReasons1)
	b.addFreeList(v)
	b.addHeap(v.HeapIndex, v.Values)
}

// addHeap adds a heap's records, by generation, to the sums.
func (b *building) addHeap(heap uint32, values []clr.GCPerHeapHistoryValue) {
	for i := range values[:b.records] {
		b.sums[i].add(&values[i])
	}
	if b.rt.model.PerHeap {
		p := HeapPart{Heap: heap, Generations: make([]Generation, b.records)}
		for i := range p.Generations {
			var s generation
			s.add(&values[i])
			p.Generations[i] = s.public(i, b.pinned, b.allAfter || s.after != 0)
		}
		b.PerHeap = append(b.PerHeap, p)
	}
	b.rt.release()
}

// addFreeList adds how many survivors of gen1 fitted into a heap's free list of gen2. Only
// collections of gen1 count, because others write zeros.
func (b *building) addFreeList(v *clr.GCPerHeapHistory) {
	if b.Generation.Or(0) != gen1 {
		return
	}
	if !plausible(v.FreeListAllocated, v.FreeListRejected) {
		b.damaged = true
		return
	}
	l := b.FreeList.Or(FreeList{})
	b.FreeList = Some(FreeList{l.Allocated + int64(v.FreeListAllocated), l.Rejected + int64(v.FreeListRejected)})
}

// heapHistory returns the collection that a heap's history of this thread is
// of. It returns nil if the sizes are impossible, if there is no such collection, or if that
// has this heap's history already. Heap 0 can come again: a heap that was added while a
// background collection ran has that number in its history (.NET 9 and 10, server GC).
//
// Where the global history of a later collection was lost, its heaps' histories
// follow this one's on the thread: they come when it has them all, or has ended.
func (m *Model) heapHistory(e *event, instance uint16, heap uint32, values []clr.GCPerHeapHistoryValue) *building {
	for i := range values {
		if v := &values[i]; !plausible(v.SizeBefore, v.FreeListBefore, v.FreeObjBefore, v.SizeAfter, v.FreeListAfter,
			v.FreeObjAfter, v.In, v.PinnedSurv, v.NonePinnedSurv, v.NewAllocation) {
			return nil
		}
	}
	rt := m.runtime(e, instance)
	if rt == nil {
		return nil
	}
	rt.historied = true
	b := rt.history[e.TID]
	if b == nil || len(b.heaps) == maxHeaps || b.histories() || b.ended() && !b.ranBackground() || heap != 0 && slices.Contains(b.heaps, heap) {
		return nil
	}
	b.heaps = append(b.heaps, heap)
	b.told = e.Time
	return b
}

// addCondemned adds the reasons that a heap, or all heaps together, had.
func (b *building) addCondemned(r clr.CondemnReasons1) { b.Condemned = Some(b.Condemned.Or(0) | r) }

func (g *generation) add(v *clr.GCPerHeapHistoryValue) {
	g.before += int64(v.SizeBefore)
	g.freeBefore += int64(v.FreeListBefore + v.FreeObjBefore)
	g.after += int64(v.SizeAfter)
	g.freeAfter += int64(v.FreeListAfter + v.FreeObjAfter)
	g.listed += int64(v.FreeListAfter)
	g.in += int64(v.In)
	g.pinned += int64(v.PinnedSurv)
	g.survived += int64(v.PinnedSurv + v.NonePinnedSurv)
	g.budget += int64(v.NewAllocation)
}

func (m *Model) dynamicEvent(e *event) {
	v, ok := decode[clr.GCDynamicEvent](m, e)
	if !ok {
		return
	}
	switch clr.DynamicKindOf(v.Name) {
	case clr.DynamicCommittedUsage:
		m.committed(e, v)
	case clr.DynamicSizeAdaptationTuning, clr.DynamicSizeAdaptationFullGCTuning, clr.DynamicHeapCountTuning:
		m.adaptation(e, v)
	}
}

// committed records the committed memory, which is raised at the start of every
// collection, and again at the end of a blocking one.
func (m *Model) committed(e *event, v *clr.GCDynamicEvent) {
	var used clr.CommittedUsage
	rt := m.raisedBy(e, v.ClrInstanceID, used.Decode(v.Data) == nil)
	if rt == nil {
		return
	}
	b := rt.current()
	if b == nil {
		return
	}
	total := Some[int64](clr.MaxSize) // makes all sizes unknown
	if used.Possible() {
		// The runtime's own TotalCommittedBytes leaves out memory that awaits decommit,
		// and the bookkeeping.
		total = Some(int64(used.TotalCommittedInUse + used.TotalCommittedInFree + used.TotalCommittedInGlobalFree))
	}
	if b.CommittedBefore.Known() {
		b.CommittedAfter = total
	} else {
		b.CommittedBefore = total
	}
}
