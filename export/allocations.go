package export

import (
	"cmp"
	"iter"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/symbol"
)

// Allocations are what one process allocated, by type, heap and stack.
type Allocations struct {
	Process *gc.Process
	Source  alloc.Source
	Rows    []alloc.Row // of alloc.ByType | alloc.ByStack
	Stacks  *symbol.Stacks
}

// NoStack is the only frame of what was allocated without a stack.
const NoStack = "(no stack)"

// Frames yields the frames of a row's stack, leaf first: one named NoStack where
// the event had none.
func (a *Allocations) Frames(r *alloc.Row) iter.Seq[symbol.Frame] {
	return func(yield func(symbol.Frame) bool) {
		found := false
		if a.Stacks != nil {
			for f := range a.Stacks.Frames(r.Stack) {
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

// Type returns the name of a row's type, as a frame below the leaf is called in
// formats that know no types: "Type System.String", as PerfView does.
func Type(r *alloc.Row) string {
	name := "Type " + cmp.Or(r.Type, "(unknown)")
	if r.Heap == alloc.Large || r.Heap == alloc.Pinned {
		name += " (" + r.Heap.String() + ")"
	}
	return name
}

// Name returns a process's name, "process" where it is unknown, without
// characters that control terminals.
func Name(p *gc.Process) string {
	return Clean(cmp.Or(p.Name, "process"))
}

// Clean replaces the characters of a string from a trace that control what shows
// it by question marks.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if jsontext.Controls(r) {
			return '?'
		}
		return r
	}, s)
}
