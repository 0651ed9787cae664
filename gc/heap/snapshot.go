package heap

import (
	"strconv"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// A Snapshot is the heap at the end of one collection. All sizes are in bytes.
type Snapshot struct {
	PID    uint64                // trace.UnknownID if unknown
	Number uint32                // of the collection; 0 in a .gcdump
	Start  gc.Opt[time.Duration] // GCStart
	End    gc.Opt[time.Duration] // GCEnd

	// Objects counts the GCBulkNode elements, and Bytes adds up their sizes. The heap gives
	// each object a multiple of 8 bytes: Aligned is the sum of these. Of a snapshot that is
	// not whole, they are what arrived, and the heap had at least that.
	Objects, Bytes, Aligned int64
	Edges                   int64 // GCBulkEdge elements: references between objects
	Dependent               int64 // dependent handles
	Statics                 int64 // static fields with a value
	WeakRoots               int64 // weak handles, which keep nothing alive

	Roots [NumRootKinds]int64 // strong roots with an address, by kind

	// Types has the objects of each type, in the order in which the types came.
	Types []TypeUse
	// Generations are gen0, gen1, gen2, loh, poh and frozen. Nil if the session did not
	// have the keyword GCHeapSurvivalAndMovement.
	Generations []GenerationUse

	// Missing describes the gaps that are known.
	Missing Missing
	// Graph has the objects themselves. It is nil if the snapshot is not whole, because it
	// is then unknown which object has which reference, and if it was not asked for.
	Graph *Graph
	// TooLarge is set if there is no Graph because of Snapshots.MaxObjects.
	TooLarge bool
	// Sampled is set if a .gcdump has a part of the objects only, from which all figures
	// are estimated.
	Sampled bool

	walked span
}

// A TypeUse counts the objects of a type. A type of the process without objects has none here.
type TypeUse struct {
	*Type
	Objects, Bytes, Aligned int64
}

// A GenerationUse counts the objects of a generation.
type GenerationUse struct {
	Name                    string // gen0, gen1, gen2, loh, poh or frozen
	Objects, Bytes, Aligned int64
	// Free is the space between the objects: what the ranges of the generation use, less
	// Aligned. It is unknown for frozen objects, which are in no range. That of gen0 has
	// the room that threads have reserved to allocate from.
	Free gc.Opt[int64]
}

// The generations of objects, as they are numbered in the runtime's events.
const (
	frozen         = 5
	numGenerations = 6
)

var generationNames = [numGenerations]string{"gen0", "gen1", "gen2", "loh", "poh", "frozen"}

// GenerationNames returns the names of GenerationUse, in their order.
func GenerationNames() []string { return generationNames[:] }

// A RootKind is a reason for an object to be alive.
type RootKind uint8

// The kinds of roots.
const (
	RootOther      RootKind = iota
	RootStack               // a variable of a method, or a thread-static field
	RootHandle              // a strong handle
	RootPinned              // a pinned handle
	RootRefCounted          // a handle of a COM object that COM refers to
	RootFinalizer           // waits for its finalizer to run
	RootStatic              // a static field

	NumRootKinds
)

var rootKindNames = [...]string{"other", "stack", "handle", "pinned", "refcounted", "finalizer", "static"}

func (k RootKind) String() string { return units.Name("RootKind", rootKindNames[:], k) }

func hex(n uint64) string { return strconv.FormatUint(n, 16) }

// align returns the room that the heap has for an object of a size.
func align(size uint64) uint64 { return (size + 7) &^ 7 }
