package findings

import (
	"time"

	"github.com/gctrail/gctrail/gc"
)

// A Finding is one thing that the collections of a process show.
type Finding struct {
	ID         string // of the rule: "R21"
	Title      string // "the program calls GC.Collect"
	Severity   Severity
	Confidence Confidence

	// Says is what was seen, in a sentence or two, with the figures.
	Says string
	// Evidence are the same figures by name; the unit is in the name.
	Evidence []Figure
	// Collections are the numbers of some that show it, those with the longest
	// pauses first, and Shown is how many there are in all.
	Collections []uint32
	Shown       int

	// Types and Callers are those of the Details that Says quotes the first of.
	Types   []AllocatedType
	Callers []Caller

	Advice   []string
	Settings []Setting
	// Next are the steps that show more of it. They name no command: the
	// program that shows the finding knows its own.
	Next []Step

	kind   ruleKind
	weight float64 // how much of the pauses it explains, in percent; 0 where that is unknown
}

// A Figure is a number with its name.
type Figure struct {
	Name  string // with the unit: "pause_pct"
	Value float64
}

// A Setting is a setting of the runtime that would change what was found. Only
// those come that the process's runtime and flavour of GC read, and whose value
// would change.
type Setting struct {
	Variable string // environment variable with the prefix that the runtime reads
	Value    string // hexadecimal, as the runtime reads it
	Property string // in runtimeconfig.json; empty where there is none
	JSON     string // the property's value
	Effect   string
	Cost     string
	Since    string // the first runtime that reads it; empty for all
}

// A Step is something to look at next.
type Step struct {
	Action  Action
	Purpose string // "see what these collections did"

	// Of ListCollections: which, and the figures that matter. Unknown and zero
	// values restrict nothing.
	Generation gc.Opt[int]
	Kind       gc.Kind
	MinPause   time.Duration
	From, To   gc.Opt[time.Duration] // also of Report
	Figures    []string              // as export/column names them

	// Of ListEvents: the kinds of events.
	Events []string

	// Of Record: what the new trace has to hold.
	Recording Recording
}

// Action is what a Step does.
type Action uint8

const (
	ListCollections Action = iota // of this trace
	ListEvents                    // of this trace
	ListAllocations               // of this trace, by type and stack
	ListPins                      // of this trace, by type
	Report                        // on a part of this trace
	Record                        // another trace
)

// Recording is what a new trace has to hold.
type Recording uint8

const (
	Collections Recording = iota // the events of collections, and nothing that costs more
	Verbose                      // also pins, handles and all else at level verbose
	Allocations                  // also allocations, with the names of what allocates
	Triggers                     // also the call stacks that begin collections
	Phases                       // also the phases of background collections
	LargeBuffer                  // events of collections, with room for many
)

// Severity is how much a finding matters.
type Severity uint8

const (
	Note    Severity = iota // worth knowing
	Warning                 // costs time or memory
	Problem                 // costs much
)

var severityNames = [...]string{"note", "warning", "problem"}

func (s Severity) String() string { return nameOf(severityNames[:], int(s)) }

// Confidence is how sure it is that the finding is what it says.
type Confidence uint8

const (
	Low    Confidence = iota // one of several explanations
	Medium                   // likely
	High                     // the events say so
)

var confidenceNames = [...]string{"low", "medium", "high"}

func (c Confidence) String() string { return nameOf(confidenceNames[:], int(c)) }

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}
