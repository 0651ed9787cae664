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
	if !ok || e.Version < 2 || len(v.GenData) < gen0Again+1 {
		return
	}
	var values [gen0Again + 1]clr.GCPerHeapHistoryValue
	for i := range values {
		values[i] = publicRecord(&v.GenData[i])
	}
	b := m.heapHistory(e, uint16(v.ClrInstanceID), v.HeapIndex, values[:])
	if b == nil {
		return
	}
	b.records, b.allAfter = gen0Again, true
	b.addCondemned(v.CondemnReasonsCondition)
	b.Compacted = Some(b.Compacted.Or(false) || v.CompactMechanism&compactMechanismUsed != 0)
	if v.MemoryPressure > 0 && v.MemoryPressure <= 100 {
		b.MemoryLoad = Some(int(v.MemoryPressure))
	}
	if again := &values[gen0Again]; again.SizeBefore != 0 {
		values[gen0].NonePinnedSurv = again.NonePinnedSurv
	}
	b.addHeap(v.HeapIndex, values[:])
}

// publicRecord returns a record of the private provider as the runtime's provider has it.
func publicRecord(v *clr.PrivateGCPerHeapHistoryGenData) clr.GCPerHeapHistoryValue {
	return clr.GCPerHeapHistoryValue{
		SizeBefore: v.SizeBefore, FreeListBefore: v.FreeListBefore, FreeObjBefore: v.FreeObjBefore,
		SizeAfter: v.SizeAfter, FreeListAfter: v.FreeListAfter, FreeObjAfter: v.FreeObjAfter,
		In: v.In, NonePinnedSurv: v.Out, NewAllocation: v.NewAllocation,
	}
}
