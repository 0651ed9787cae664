package gc

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// A Collection is one garbage collection. Times count from the trace's start,
// sizes are in bytes. What the trace does not show is unknown, never guessed.
type Collection struct {
	Process     *Process
	ClrInstance uint16 // identifies a runtime within its process
	Number      uint32 // as the runtime counts, from 1

	Generation Opt[int]                 // the collected generation: 0, 1 or 2
	Kind       Kind                     // the actual kind
	Requested  Kind                     // the kind that GCStart announced
	Reason     Opt[clr.GCReason]        // why it was triggered
	Condemned  Opt[clr.CondemnReasons1] // why this generation: reasons of all heaps together
	Joint      Opt[clr.CondemnReasons1] // the part of Condemned that the runtime decided for all heaps together
	HeapDump   bool                     // a trace session made the runtime run it, to write the heap to the trace
	Mechanisms Opt[clr.GlobalMechanisms]
	Compacted  Opt[bool]
	PauseMode  Opt[clr.PauseMode] // the latency mode in force

	Start     Opt[time.Duration] // GCStart; unknown if it is not in the trace
	End       Opt[time.Duration] // GCEnd
	SinceLast Opt[time.Duration] // from the previous collection's RestartEEBegin to the suspension for this one
	Pauses    []Pause            // in time order, without heap walks
	AllPauses bool               // Pauses are all there were
	// PauseStart is the SuspendEEBegin of the first pause.
	PauseStart Opt[time.Duration]
	// Outside lists, in order, the suspensions since the previous collection began that
	// served no collection.
	Outside []Outside

	HeapBefore       Opt[int64]
	HeapAfter        Opt[int64] // GCHeapStats' sum
	HeapPeak         Opt[int64]
	Promoted         Opt[int64]
	Freed            Opt[int64]
	FreedQuality     Certainty
	FreedLow         Opt[int64] // bounds the true number of bytes freed from below, where Freed is not exact
	Allocated        Opt[int64] // since the previous collection, from the histories
	AllocatedQuality Certainty
	// AllocatedLow and AllocatedHigh bound the true number of bytes allocated. Where they
	// come from allocation ticks, collections deviate independently of each other.
	AllocatedLow, AllocatedHigh Opt[int64]
	AllocatedTicks              Opt[int64] // since the previous collection, from GCAllocationTick
	CommittedBefore             Opt[int64]
	CommittedAfter              Opt[int64]
	MemoryLoad                  Opt[int] // percent of the machine's, or container's, memory in use

	Heaps       Opt[int]
	Generations []Generation // gen0, gen1, gen2, loh, poh: sums over the heaps; nil if not all histories are there
	PerHeap     []HeapPart   // by heap, if Model.PerHeap is set
	Marks       []Mark       // by heap, then in the order of marking
	// PhaseTimes are the phases that threads were suspended in, in their order, as the
	// runtime times them; from .NET 6 on.
	PhaseTimes []PhaseTime

	// NoGCRegions counts the no-GC regions (GC.TryStartNoGCRegion) since the previous
	// collection that took a collection's number without collecting.
	NoGCRegions int

	// FreeList describes the use of gen2's free list; known for collections of gen1.
	FreeList Opt[FreeList]

	PinnedObjects            Opt[int64]
	FinalizationPromoted     Opt[int64] // bytes kept alive for their finalizers
	FinalizationPromotedObjs Opt[int64]
	Handles                  Opt[int64]
	SyncBlocks               Opt[int64]

	// Complete reports that the trace has the start, end, statistics and all
	// pauses.
	Complete bool
	// AffectedByLoss reports that events for this collection's figures may be among the
	// lost ones.
	AffectedByLoss bool

	needs   trace.Range // the stretch of time whose events make its figures
	follows bool        // the collection before it was seen too
	doubted bool        // some of its figures could not be
	lacking bool        // not complete, though one before it was
	bySizes bool        // LOH and POH are known from their sizes before, without allocation ticks
	excess  int64       // by how much Freed may be too large, but for twice
	twice   int64       // bytes that the sizes before LOH and POH may count twice, from firstCountingLarge on
}

// A PhaseTime is how long a phase of a collection took while threads were suspended.
type PhaseTime struct {
	Phase    string             // MarkRoots, Plan, Compact and others; see clr.TimeNames
	Duration Opt[time.Duration] // unknown if the runtime wrote more than the whole pause
}

// Kind is the way a collection ran.
type Kind uint8

const (
	KindUnknown Kind = iota
	Blocking         // threads are suspended from its start to its end
	Background       // generation 2, mostly while threads run
	Foreground       // generation 0 or 1, blocking, during a background collection
)

var kindNames = [...]string{"unknown", "blocking", "background", "foreground"}

func (k Kind) String() string { return units.Name("Kind", kindNames[:], k) }

// Certainty is how reliable a figure is. Of known figures, a larger value is less reliable.
type Certainty uint8

const (
	Uncertain  Certainty = iota // the figure is unknown
	Exact                       // to the byte
	Estimate                    // the true figure may be smaller or larger
	LowerBound                  // the true figure may be larger
)

var certaintyNames = [...]string{"", "exact", "estimate", "lower_bound"}

func (c Certainty) String() string { return units.Name("Certainty", certaintyNames[:], c) }

// Mark returns the sign before a figure that is not exact: > for a lower bound, ~ for an
// estimate.
func (c Certainty) Mark() string {
	switch c {
	case LowerBound:
		return ">"
	case Estimate:
		return "~"
	default:
		return ""
	}
}

// A Pause is a stretch of time in which the program's threads were paused.
type Pause struct {
	Kind     PauseKind
	Start    time.Duration
	Duration time.Duration      // up to RestartEEBegin
	Suspend  Opt[time.Duration] // of Duration, until all threads were suspended; zero for the later ones of a shared window
	Waited   time.Duration      // of Suspend, for another suspension to end: threads were not yet asked to stop
	Restart  Opt[time.Duration] // RestartEEBegin to RestartEEEnd; not part of Duration

	window trace.Range // the suspension that it is a part of, up to RestartEEBegin
}

// End returns the time when the pause ends.
func (p *Pause) End() time.Duration { return p.Start + p.Duration }

// PauseKind is the purpose of a pause.
type PauseKind uint8

const (
	PauseBlocking PauseKind = iota + 1
	PauseInitial            // of a background collection: marks the roots
	PauseFinal              // of a background collection: ends marking
	PauseHeapWalk           // after the final pause, as tracing with survival events causes it; belongs to no collection
	PauseOther              // belongs to no collection
)

var pauseNames = [...]string{"", "blocking", "initial", "final", "heap_walk", "other"}

func (k PauseKind) String() string { return units.Name("PauseKind", pauseNames[:], k) }

// Generation is one generation's part in a collection, summed over the heaps. Sizes are
// in bytes.
type Generation struct {
	Name          string // gen0, gen1, gen2, loh, poh
	Before        int64  // with free space
	FreeBefore    int64  // free space before
	After         Opt[int64]
	In            int64        // came in from the younger generation
	Out           int64        // survived
	Freed         Opt[int64]   // unknown for generations that were not collected
	Fragmentation Opt[int64]   // free space after
	FreeList      Opt[int64]   // of Fragmentation, in free lists; the rest is too small for them, or given up until the next gen2 collection
	Survival      Opt[float64] // percent of the objects before; unknown if other collections promote meanwhile
	Budget        int64        // allocation budget until the next collection
	Pinned        Opt[int64]   // of Out, survived because pinned
}

// FreeList counts the bytes of gen2's free list in which survivors of gen1 were
// placed, and the bytes that were rejected: pieces too small for a survivor, which
// are used again only after the next collection of gen2, and small remainders.
type FreeList struct {
	Allocated, Rejected int64
}

// A HeapPart is one heap's part in a collection. What its generations freed and
// how much of them survived is known only for all heaps together.
type HeapPart struct {
	Heap        uint32
	Generations []Generation
}

// A Mark is the marking from one kind of root on one heap.
type Mark struct {
	Heap     uint32
	Root     clr.RootType
	Duration time.Duration
	Bytes    Opt[int64] // newly marked
}

// NumGenerations is the number of generations: three, and the large and pinned
// object heaps.
const NumGenerations = 5

var generationNames = [NumGenerations]string{"gen0", "gen1", "gen2", "loh", "poh"}

// GenerationNames returns the names that Generation.Name takes, in order.
func GenerationNames() [NumGenerations]string { return generationNames }

// Duration returns the time from GCStart to GCEnd.
func (c *Collection) Duration() Opt[time.Duration] {
	return SomeIf(c.End.Or(0)-c.Start.Or(0), c.Start.Known() && c.End.Known())
}

// Pause returns how long the program's threads were paused for the collection,
// unknown if not all of its pauses were seen.
func (c *Collection) Pause() Opt[time.Duration] {
	if !c.AllPauses {
		return Opt[time.Duration]{}
	}
	var sum time.Duration
	for i := range c.Pauses {
		sum = units.AddCapped(sum, max(0, c.Pauses[i].Duration))
	}
	return Some(sum)
}

// LastAttempt reports whether the collection was the runtime's last attempt to find memory:
// if it fails, the allocation throws an OutOfMemoryException. See gc.cpp,
// generation_to_condemn and try_allocate_more_space.
func (c *Collection) LastAttempt() bool {
	switch c.Reason.Or(0) {
	case clr.GCReasonOutOfSpaceSOH, clr.GCReasonOutOfSpaceLOH:
		return true
	}
	return c.Condemned.Or(0)&(clr.CondemnReasons1BeforeOOM|clr.CondemnReasons1JoinedLimitBeforeOOM) != 0
}

// LargestHeap returns the largest size of the heap that the collection shows: HeapPeak, or
// where that is unknown the larger of what is known of HeapBefore and HeapAfter.
func (c *Collection) LargestHeap() Opt[int64] {
	largest := c.HeapPeak
	for _, size := range []Opt[int64]{c.HeapBefore, c.HeapAfter} {
		if size.Known() && (!largest.Known() || size.Or(0) > largest.Or(0)) {
			largest = size
		}
	}
	return largest
}

// Suspend returns the part of Pause until all threads were suspended.
func (c *Collection) Suspend() Opt[time.Duration] {
	if !c.AllPauses {
		return Opt[time.Duration]{}
	}
	var sum time.Duration
	for i := range c.Pauses {
		if !c.Pauses[i].Suspend.Known() {
			return Opt[time.Duration]{}
		}
		sum = units.AddCapped(sum, max(0, c.Pauses[i].Suspend.Or(0)))
	}
	return Some(sum)
}
