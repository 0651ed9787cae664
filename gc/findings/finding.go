package findings

import (
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/internal/units"
)

// A Finding is the result of a rule that fired for a process.
type Finding struct {
	ID         string // of the rule: "R21"
	Title      string // "the program calls GC.Collect"
	Severity   Severity
	Confidence Confidence

	// Description describes the evidence in a sentence or two, with figures.
	Description string
	// Evidence holds the same figures by name; the name ends with the unit.
	Evidence []Figure
	// Collections holds the numbers of up to five collections that show it, in descending
	// order of pause. Shown counts all of them.
	Collections []uint32
	Shown       int
	// All holds the numbers of all of them, in order of their start: the latest
	// Options.Retain.
	All []uint32

	// These are from the Details; Description quotes the first of each.
	Types     []AllocatedType
	Callers   []Caller
	Handles   []OpenHandles
	Pins      []PinnedType
	Finalized []FinalizedType
	Heaps     []join.Row // of server GC, in descending order of the time that others waited for them

	Advice   []string
	Settings []Setting
	// Next holds the steps to investigate it. They contain no command lines, because the
	// program that shows the finding has its own commands.
	Next []Step

	rule   *rule // nil for R01
	kind   ruleKind
	weight float64 // share of the pauses it explains, in percent; 0 if unknown
	quotes *tally  // the collections behind it, until they are filled in; nil for none
}

// A Figure is a number with its name.
type Figure struct {
	Name  string // with the unit: "pause_pct"
	Value float64
}

// A Setting is a runtime setting that would change the finding. A finding has only
// settings that the process's runtime and flavour of GC read, with values that
// are not in force already.
type Setting struct {
	Variable string // environment variable with the prefix that the runtime reads
	Value    string // hexadecimal, as the runtime reads it
	Property string // in runtimeconfig.json; empty if there is none
	JSON     string // the property's value
	Effect   string
	Cost     string
	Since    string // the first runtime that reads it; empty for all
	// Expected has bounds for this process's figures under the setting, and the assumptions that
	// they rest on, without a full stop. It is empty if the events determine no bounds, or if
	// Options.Expect is not set.
	Expected string
}

// A Step is something to look at next.
type Step struct {
	Action  Action
	Purpose string // "see details of these collections"

	// For ListCollections: the collections, and the figures to show. Unknown and zero
	// values do not filter.
	Generation gc.Opt[int]
	Kind       gc.Kind
	MinPause   time.Duration
	From, To   gc.Opt[time.Duration] // also of Report
	Figures    []string              // as gc/figure names them

	// For ListEvents: the kinds of events.
	Events []string

	// For Record: the required contents of the new trace.
	Recording Recording
}

// Action is the kind of a Step.
type Action uint8

const (
	ListCollections Action = iota // of this trace
	ListEvents                    // of this trace
	ListTypes                     // allocated in this trace
	ListAllocations               // of this trace, by type and stack
	ListPins                      // of this trace, by type
	ListHandles                   // of this trace, by kind and stack
	ListFinalizers                // of this trace, by type
	ListJoins                     // of this trace, by heap and phase
	ListObjects                   // of the heap snapshots in this trace
	ListRequests                  // of this trace, the slowest first
	TakeSnapshots                 // of the heap, to another trace
	Report                        // on a part of this trace
	Record                        // another trace
)

var actionNames = [...]string{
	"list collections", "list events", "list types", "list allocations", "list pins", "list handles", "list finalizers", "list joins", "list objects", "list requests", "take snapshots",
	"report", "record",
}

func (a Action) String() string { return units.Name("Action", actionNames[:], a) }

// Recording selects the required contents of a new trace.
type Recording uint8

const (
	Collections     Recording = iota // the events of collections only, the cheapest
	Verbose                          // also pins, handles and everything else at level verbose
	Allocations                      // also allocations, with the names of allocating methods
	Triggers                         // also the call stacks that trigger collections
	HandleStacks                     // also GC handles, with the call stacks that create them
	Finalizers                       // also finalized objects, with their types
	Phases                           // also the phases of background collections
	Longer                           // the events of collections, for a minute
	LargeBuffer                      // events of collections, with a larger buffer
	LockStacks                       // also contention for locks, with the call stacks that wait
	PoolStacks                       // also adjustments of the thread pool, and waits with their call stacks
	Compilation                      // also the methods that are compiled, with the call stacks that need them
	ExceptionStacks                  // also exceptions, with the call stacks that throw
	TypeLoads                        // also loads of types, and methods that are compiled meanwhile with their call stacks
)

var recordingNames = [...]string{
	"collections", "verbose", "allocations", "triggers", "handle stacks", "finalizers", "phases", "longer", "large buffer",
	"lock stacks", "pool stacks", "compilation", "exception stacks", "type loads",
}

func (r Recording) String() string { return units.Name("Recording", recordingNames[:], r) }

// Severity is how much a finding matters.
type Severity uint8

const (
	Note    Severity = iota // worth knowing
	Warning                 // costs time or memory
	Problem                 // costs much
)

var severityNames = [...]string{"note", "warning", "problem"}

func (s Severity) String() string { return units.Name("Severity", severityNames[:], s) }

// warningIf returns Warning if a condition holds, otherwise Note.
func warningIf(holds bool) Severity {
	if holds {
		return Warning
	}
	return Note
}

// problemIf returns Problem if a condition holds, otherwise Warning.
func problemIf(holds bool) Severity { return Warning + warningIf(holds) }

// Confidence is how certain a finding is.
type Confidence uint8

const (
	Low    Confidence = iota // one of several explanations
	Medium                   // likely
	High                     // the events show it
)

var confidenceNames = [...]string{"low", "medium", "high"}

func (c Confidence) String() string { return units.Name("Confidence", confidenceNames[:], c) }
