package findings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/elsewhere"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/program"
	"github.com/gctrail/gctrail/internal/units"
)

// Details holds figures from other events about a process: its allocations, pins,
// finalizers and GC handles, and the causes of induced collections. Findings quote it.
// The zero Details is empty.
type Details struct {
	Source alloc.Source    // of Types
	Types  []AllocatedType // the largest of each heap, in descending order of bytes
	// LargeBelow holds the shares, in percent, of the bytes allocated in the LOH in objects
	// smaller than each of ProposedLOHThresholds; nil if unknown.
	LargeBelow []float64
	Collects   []Caller // of GC.Collect, in descending order of calls
	Unforced   []Caller // of methods that induce GCs with the reason InducedNotForced

	Handles []OpenHandles // in descending order of open handles
	Pins    []PinnedType  // in descending order of bytes
	// PinnedFrom is the method that creates most of the GC handles that pin, empty if
	// unknown.
	PinnedFrom string
	Finalized  []FinalizedType  // in descending order of objects
	Joins      *join.Sum        // activities of the threads of server GC in pauses; nil if unknown
	Snapshots  Snapshots        // of the heap
	Requests   *request.Summary // of all requests; nil if unknown
	Elsewhere  *elsewhere.Sum   // what the time goes to besides; nil if unknown
}

// An AllocatedType is the sampled allocation of one type on one heap.
type AllocatedType struct {
	Name  string
	Heap  alloc.Heap
	Share float64 // of the allocation on Heap, in percent
	alloc.Estimate
	// From is the method that allocates most of it, empty if the trace has no stacks with
	// names. FromBytes are the method's bytes.
	From      string
	FromBytes int64
}

// A Caller is a method that induces collections.
type Caller struct {
	Method string `json:"method"`
	Count  int    `json:"calls"`
}

// NamesAllocators reports whether a method that allocates is known.
func (d *Details) NamesAllocators() bool {
	return slices.ContainsFunc(d.Types, func(t AllocatedType) bool { return t.From != "" })
}

// NamesHandleCreators reports whether a method that creates GC handles is known.
func (d *Details) NamesHandleCreators() bool {
	return slices.ContainsFunc(d.Handles, func(h OpenHandles) bool { return h.From.Known() })
}

// quotedShare is the least share of a heap's allocation, in percent, at which a
// type is quoted.
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

// quoteTypes adds the most allocated type on a heap to f.
func (f *Finding) quoteTypes(d *Details, h alloc.Heap) {
	types := d.typesOn(h)
	if len(types) == 0 || types[0].Share < quotedShare {
		return
	}
	f.Types = types
	t := &types[0]
	f.Description += fmt.Sprintf(" %s: %s of %s", program.Inert(t.Name), units.Percent(t.Share), allocationNames[h])
	if t.From != "" {
		f.Description += ", from " + program.Inert(t.From)
		if share := of(t.FromBytes, t.Bytes); share < 99.5 {
			f.Description += fmt.Sprintf(" (%s of it)", units.Percent(share))
		}
	}
	f.Description += "."
}

// quotedCallers is how many callers a finding names.
const quotedCallers = 3

// quoteCallers adds the callers to f, introduced by what.
func (f *Finding) quoteCallers(callers []Caller, what string) {
	if len(callers) == 0 {
		return
	}
	f.Callers = callers
	var names []string
	for _, c := range callers[:min(len(callers), quotedCallers)] {
		names = append(names, fmt.Sprintf("%s (%s)", program.Inert(c.Method), plural(c.Count, "time")))
	}
	if more := len(callers) - len(names); more > 0 {
		names = append(names, plural(more, "other method"))
	}
	f.Description += fmt.Sprintf(" %s: %s.", what, strings.Join(names, ", "))
}

// countCalls returns the number of calls that all callers made.
func countCalls(callers []Caller) (n int) {
	for _, c := range callers {
		n += c.Count
	}
	return n
}

func callersUnknown(_ *judgement, f *Finding) bool { return len(f.Callers) == 0 }

// creatorsHidden reports whether the runtime's stack walk finds no method for most
// created handles, as from .NET 9 on.
func creatorsHidden(j *judgement) bool {
	v := versionOf(j.Summary.Process)
	return v.known && !v.framework && v.major >= 9
}

// handlesUnnamed reports whether another trace would name what creates handles.
func handlesUnnamed(j *judgement, _ *Finding) bool {
	return !creatorsHidden(j) && !j.Details.NamesHandleCreators()
}

// handlesUnknown reports whether another trace would name the created handles, but not
// their creators.
func handlesUnknown(j *judgement, _ *Finding) bool {
	return creatorsHidden(j) && len(j.Details.Handles) == 0
}
