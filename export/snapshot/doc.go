// Package snapshot writes heap snapshots in the formats of other tools.
//
// A snapshot without a Graph, of which a part is missing, cannot be written: these formats
// have no place to say so.
package snapshot

import (
	"errors"

	"github.com/gctrail/gctrail/gc/heap"
)

// ErrIncomplete reports a snapshot without a Graph.
var ErrIncomplete = errors.New("the snapshot is not whole, or was read without its objects")

// rootKinds returns the kinds of roots that a snapshot has, in order.
func rootKinds(g *heap.Graph) []heap.RootKind {
	var has [heap.NumRootKinds]bool
	for _, r := range g.Roots() {
		has[r.Kind] = true
	}
	var kinds []heap.RootKind
	for k, is := range has {
		if is {
			kinds = append(kinds, heap.RootKind(k))
		}
	}
	return kinds
}
