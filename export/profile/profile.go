package profile

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/symbol"
)

// A Profile is objects and their bytes by stack. Allocations and Heap make one.
type Profile struct {
	Title          string // says of the bytes which they are; the name of a process follows
	Objects, Space string // pprof's names of the number of objects, and of their bytes
	Processes      []Process
}

// A Process is the part of a Profile that is of one process.
type Process struct {
	*gc.Process
	// Samples yields the stacks. A yielded Sample is valid until the next step.
	Samples iter.Seq[*Sample]
}

// A Sample is objects of one stack.
type Sample struct {
	Stack []symbol.Frame // innermost first
	// Leaf is a frame inside the stack for formats without labels; empty for none.
	Leaf           string
	Labels         map[string][]string
	Objects, Bytes int64
}

// Typed yields the frames of a sample, innermost first, with the Leaf before them and without
// addresses.
func (s *Sample) Typed() iter.Seq[symbol.Frame] {
	return func(yield func(symbol.Frame) bool) {
		if s.Leaf != "" && !yield(symbol.Frame{Method: s.Leaf}) {
			return
		}
		for _, f := range s.Stack {
			if !yield(symbol.Frame{Method: f.String(), Module: f.Module}) {
				return
			}
		}
	}
}

// Allocations returns the allocations of some processes by the stack that allocates, with the
// labels type and heap.
func Allocations(processes []*export.Allocations) Profile {
	p := Profile{Title: "Allocations", Objects: "alloc_objects", Space: "alloc_space"}
	for _, a := range processes {
		p.Processes = append(p.Processes, Process{a.Process, func(yield func(*Sample) bool) {
			var s Sample
			for i := range a.Rows {
				r := &a.Rows[i]
				s = Sample{
					Stack: slices.AppendSeq(s.Stack[:0], a.Frames(r)), Leaf: export.Type(r), Objects: r.Objects, Bytes: r.Bytes,
					Labels: map[string][]string{"type": {export.Clean(cmp.Or(r.Type, "(unknown)"))}},
				}
				if heap := r.Heap.String(); heap != "" {
					s.Labels["heap"] = []string{heap}
				}
				if !yield(&s) {
					return
				}
			}
		}})
	}
	return p
}

// Names of frames that are no types.
const (
	severalRoots = "several roots"
	others       = "(other objects)" // what a tree leaves out
)

// Heap returns the objects of a heap snapshot by their place in a tree of
// heap.Dominators.Tree or heap.Graph.PathTree: stacks are the types from a root to the
// objects, and samples their own bytes, so that the total of a frame is what it retains, or
// what paths lead through it to.
func Heap(process *gc.Process, tree *heap.TreeNode) Profile {
	p := Profile{Title: "Heap", Objects: "inuse_objects", Space: "inuse_space"}
	p.Processes = []Process{{process, func(yield func(*Sample) bool) {
		w := treeWalk{yield: yield}
		w.below(tree)
	}}}
	return p
}

// A treeWalk yields the samples of a tree.
type treeWalk struct {
	yield  func(*Sample) bool
	path   []symbol.Frame // outermost first
	sample Sample
}

// below yields the samples below a node, which is the last of the path. It returns false at
// the end.
func (w *treeWalk) below(n *heap.TreeNode) bool {
	if !w.objects(n.Objects, n.Bytes) {
		return false
	}
	for _, child := range n.Children {
		w.path = append(w.path, frameOf(child))
		more := w.below(child)
		w.path = w.path[:len(w.path)-1]
		if !more {
			return false
		}
	}
	w.path = append(w.path, symbol.Frame{Method: others})
	more := w.objects(n.Omitted.Objects, n.Omitted.Bytes)
	w.path = w.path[:len(w.path)-1]
	return more
}

// objects yields a sample of the path.
func (w *treeWalk) objects(n, bytes int64) bool {
	if n == 0 {
		return true
	}
	w.sample = Sample{Stack: append(w.sample.Stack[:0], w.path...), Objects: n, Bytes: bytes}
	slices.Reverse(w.sample.Stack)
	return w.yield(&w.sample)
}

func frameOf(n *heap.TreeNode) symbol.Frame {
	switch {
	case n.Root != nil:
		return symbol.Frame{Method: n.Root.String()}
	case n.Type == nil:
		return symbol.Frame{Method: severalRoots}
	}
	return symbol.Frame{Method: n.Type.String(), Module: n.Type.Module[strings.LastIndexAny(n.Type.Module, `/\`)+1:]}
}
