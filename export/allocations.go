package export

import (
	"cmp"
	"iter"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/symbol"
)

// Allocations holds the allocations of one process by type, heap and stack.
type Allocations struct {
	Process *gc.Process
	Source  alloc.Source
	Rows    []alloc.Row // of alloc.ByType | alloc.ByStack
	Stacks  *symbol.Stacks
	// Timeline yields the same in time order; nil if times were not retained.
	Timeline iter.Seq[alloc.Timed]
}

// NoStack is the only frame of allocations without a stack.
const NoStack = "(no stack)"

// Frames yields the frames of a row's stack, leaf first, or one frame named
// NoStack.
func (a *Allocations) Frames(r *alloc.Row) iter.Seq[symbol.Frame] { return a.StackFrames(r.Stack) }

// StackFrames yields the frames of a stack as Frames does.
func (a *Allocations) StackFrames(id symbol.StackID) iter.Seq[symbol.Frame] {
	return func(yield func(symbol.Frame) bool) {
		found := false
		if a.Stacks != nil {
			for f := range a.Stacks.Frames(id) {
				found = true
				if !yield(f) {
					return
				}
			}
		}
		if !found {
			yield(symbol.Frame{Method: NoStack})
		}
	}
}

// Type returns a frame name for a row's type, for formats without types: "Type
// System.String", as in PerfView.
func Type(r *alloc.Row) string { return TypeOn(r.Type, r.Heap) }

// TypeOn returns a frame name for a type of objects on a heap, as Type does.
func TypeOn(typ string, heap alloc.Heap) string {
	name := "Type " + cmp.Or(typ, "(unknown)")
	if heap == alloc.Large || heap == alloc.Pinned {
		name += " (" + heap.String() + ")"
	}
	return name
}

// Name returns a process's name, "process" if unknown, without characters that
// control terminals.
func Name(p *gc.Process) string {
	return Clean(cmp.Or(p.Name, "process"))
}

// Clean replaces control characters in a string from a trace with question
// marks.
func Clean(s string) string { return jsontext.Clean(s) }
