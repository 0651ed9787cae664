package clr

// Limits of the figures that a runtime writes. A payload that exceeds them is damaged.
const (
	MaxSize   = 1 << 47 // address space of a process on x64, more than the memory of any machine
	MaxSize32 = 1 << 32 // address space of a process of 32 bits
	MaxRate   = 1 << 40 // bytes allocated a second, more than the memory of any machine takes

	MaxCollections = 1 << 17 // a second: suspending the threads alone takes more than 8 µs

	// An allocation tick comes when a heap has given out more than TickInterval bytes.
	// All but the last object then fit into one allocation context, which has less than 4
	// GiB of small objects.
	TickInterval = 102_400
	MaxContext   = 1<<32 - 1
)

// AddressSpace returns the limit of sizes in a process whose pointers have so many bytes.
func AddressSpace(pointerSize int) int64 {
	if pointerSize == 4 {
		return MaxSize32
	}
	return MaxSize
}

// Exceeds reports whether a size is well beyond another that bounds it. The margin is
// generous, because runtimes were seen to exceed such bounds by up to 20 kB.
func Exceeds(n, bound int64) bool { return n > bound+bound/4+4<<20 }

// PossibleTick reports whether an allocation tick can have these amounts, which are one
// number in two fields (gc.cpp, fire_etw_allocation_event). It compares megabytes,
// because smaller faults do not matter.
func PossibleTick(amount64 uint64, amount uint32, kind AllocationKind) bool {
	return amount64 < MaxSize && uint32(amount64)>>20 == amount>>20 && kind <= AllocationKindPinned &&
		(kind != AllocationKindSmall || amount64 <= MaxContext)
}

// Possible reports whether the tick can have its amounts and its object's size, which is
// unknown before version 4. A possible tick counts that object and less than an interval
// before it.
func (v *GCAllocationTick) Possible(version uint32) bool {
	amount := v.AllocationAmount64
	if version < 2 {
		amount = uint64(v.AllocationAmount)
	}
	return PossibleTick(amount, v.AllocationAmount, v.AllocationKind) && v.ObjectSize < MaxSize &&
		(v.ObjectSize == 0 || !Exceeds(int64(amount), int64(v.ObjectSize)+TickInterval) && !Exceeds(int64(v.ObjectSize), int64(amount)))
}

// Possible reports whether a process can have committed these amounts: none exceeds the
// address space, and neither the memory that awaits decommit nor the bookkeeping is far
// larger than the committed memory.
func (e *CommittedUsage) Possible() bool {
	if max(e.TotalCommittedInUse, e.TotalCommittedInFree, e.TotalCommittedInGlobalFree, e.TotalCommittedInGlobalDecommit, e.TotalBookkeepingCommitted) >= MaxSize {
		return false
	}
	return max(e.TotalCommittedInGlobalDecommit, e.TotalBookkeepingCommitted) <= 64*(e.TotalCommittedInUse+e.TotalCommittedInFree+e.TotalCommittedInGlobalFree)+4<<30
}

// MinObject is the size of the smallest object, in a process of 32 bits.
const MinObject = 12

// Heap returns the size of the heap that the collection left, in bytes.
func (e *GCHeapStats) Heap() uint64 {
	return e.GenerationSize0 + e.GenerationSize1 + e.GenerationSize2 + e.GenerationSize3 + e.GenerationSize4
}

// PossibleFinalization reports whether the objects waiting for the finalizer thread are
// no larger than the heap. The check exists because .NET 9 was seen to write
// uninitialized memory for a server's background collection.
func (e *GCHeapStats) PossibleFinalization() bool {
	heap := e.Heap()
	return max(heap, e.FinalizationPromotedSize, e.FinalizationPromotedCount) < MaxSize &&
		!Exceeds(int64(e.FinalizationPromotedSize), int64(heap)) && !Exceeds(int64(e.FinalizationPromotedCount), int64(heap/MinObject))
}
