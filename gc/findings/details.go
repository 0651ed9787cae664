package findings

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/internal/units"
)

// Details are what events other than those of collections tell of a process:
// what it allocates, and what induces its collections. The zero Details know
// nothing. Findings quote them.
type Details struct {
	Source   alloc.Source    // of Types
	Types    []AllocatedType // the largest of each heap, those with the most bytes first
	Collects []Caller        // of GC.Collect, those with the most calls first
	Unforced []Caller        // of what induces GCs with the reason InducedNotForced
}

// An AllocatedType is what was allocated of one type on one heap, as sampled.
type AllocatedType struct {
	Name  string
	Heap  alloc.Heap
	Share float64 // of what was allocated on Heap, in percent
	alloc.Estimate
	// From is the method that most of it is allocated from, empty where the trace
	// has no stacks with names, and FromBytes is how much.
	From      string
	FromBytes int64
}

// A Caller is a method that induces collections.
type Caller struct {
	Method string
	Count  int
}

// quotedShare is the least part of a heap's allocation, in percent, that a type
// is quoted for.
const quotedShare = 10

var allocationNames = [...]string{
	alloc.HeapUnknown: "all allocation",
	alloc.Small:       "small object allocation",
	alloc.Large:       "LOH allocation",
	alloc.Pinned:      "POH allocation",
}

// typesOn returns the types of a heap.
func (d *Details) typesOn(h alloc.Heap) []AllocatedType {
	var types []AllocatedType
	for _, t := range d.Types {
		if t.Heap == h {
			types = append(types, t)
		}
	}
	return types
}

// quoteTypes has a finding quote the type that is allocated most on a heap.
func (f *Finding) quoteTypes(d *Details, h alloc.Heap) {
	types := d.typesOn(h)
	if len(types) == 0 || types[0].Share < quotedShare {
		return
	}
	f.Types = types
	t := &types[0]
	f.Says += fmt.Sprintf(" %s: %s of %s", t.Name, units.Percent(t.Share), allocationNames[h])
	if t.From != "" {
		f.Says += ", from " + t.From
		if share := of(t.FromBytes, t.Bytes); share < 99.5 {
			f.Says += fmt.Sprintf(" (%s of it)", units.Percent(share))
		}
	}
	f.Says += "."
}

// quotedCallers is how many callers a finding names.
const quotedCallers = 3

// quoteCallers has a finding name the methods that call what.
func (f *Finding) quoteCallers(callers []Caller, what string) {
	if len(callers) == 0 {
		return
	}
	f.Callers = callers
	var names []string
	for _, c := range callers[:min(len(callers), quotedCallers)] {
		names = append(names, fmt.Sprintf("%s (%s)", c.Method, plural(c.Count, "time")))
	}
	if more := len(callers) - len(names); more > 0 {
		names = append(names, plural(more, "other method"))
	}
	f.Says += fmt.Sprintf(" %s: %s.", what, strings.Join(names, ", "))
}

func callersUnknown(_ *judgement, f *Finding) bool { return len(f.Callers) == 0 }
