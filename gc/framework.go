package gc

import "github.com/gctrail/gctrail/clr"

// The .NET Framework up to 4.5.2 raises its histories as events of the private
// provider, in layouts of their own.

// privateGlobalHistory is GCGlobalHeapHistory of the private provider.
func (m *Model) privateGlobalHistory(e *event) {
	v, ok := decode[clr.PrivateGCGlobalHeapHistory](m, e)
	if rt := m.raisedBy(e, v.ClrInstanceID, ok); rt != nil {
		rt.globalHistory(e, v.GlobalMechanisms, v.CondemnedGeneration, v.NumHeaps, v.Reason, v.FinalYoungestDesired)
	}
}

// gen0Again is the record of a second skip gen0, in which the generations of a
// heap follow that have no POH.
const gen0Again = 4

// compactMechanismUsed is set in CompactMechanism if the heap was compacted.
const compactMechanismUsed = 1 << 31

// privatePerHeapHistory processes GCPerHeapHistory of the private provider, from version
// 2 (.NET Framework 4.5) on, because earlier ones have no free space.
func (m *Model) privatePerHeapHistory(e *event) {
	v, ok := decode[clr.PrivateGCPerHeapHistory](m, e)
	if !ok || e.Version < 2 || len(v.GenData) <= gen0Again {
		return
	}
	for i := range v.GenData {
		if g := &v.GenData[i]; !plausible(g.SizeBefore, g.FreeListBefore, g.FreeObjBefore, g.SizeAfter, g.FreeListAfter,
			g.FreeObjAfter, g.In, g.Out, g.NewAllocation) {
			return
		}
	}
	rt := m.runtime(e, uint16(v.ClrInstanceID))
	if rt == nil {
		return
	}
	b := rt.heapHistory(e, v.HeapIndex)
	if b == nil {
		return
	}
	b.records, b.allAfter = gen0Again, true
	b.addCondemned(v.CondemnReasonsCondition)
	b.Compacted = Some(b.Compacted.Or(false) || v.CompactMechanism&compactMechanismUsed != 0)
	if v.MemoryPressure > 0 && v.MemoryPressure <= 100 {
		b.MemoryLoad = Some(int(v.MemoryPressure))
	}
	add := func(i int, g *generation) {
		g.addPrivate(&v.GenData[i])
		if again := &v.GenData[gen0Again]; i == gen0 && again.SizeBefore != 0 {
			g.survived += int64(again.Out) - int64(v.GenData[gen0].Out)
		}
	}
	for i := range v.GenData[:gen0Again] {
		add(i, &b.sums[i])
	}
	if m.PerHeap {
		b.PerHeap = append(b.PerHeap, b.part(v.HeapIndex, add))
	}
	rt.release()
}

func (g *generation) addPrivate(v *clr.PrivateGCPerHeapHistoryGenData) {
	g.before += int64(v.SizeBefore)
	g.freeBefore += int64(v.FreeListBefore + v.FreeObjBefore)
	g.after += int64(v.SizeAfter)
	g.freeAfter += int64(v.FreeListAfter + v.FreeObjAfter)
	g.listed += int64(v.FreeListAfter)
	g.in += int64(v.In)
	g.survived += int64(v.Out)
	g.budget += int64(v.NewAllocation)
}
