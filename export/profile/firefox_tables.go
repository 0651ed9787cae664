package profile

import (
	"iter"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/symbol"
)

// A frame is a method, or a type if it is below the leaf.
type frame struct{ name, module string }

// A node is a frame called from another stack.
type node struct{ caller, frame int }

// noCaller is the caller of the outermost frame.
const noCaller = -1

// tables build the tables that all threads share.
type tables struct {
	strings   map[string]int
	frames    map[frame]int
	resources map[string]int
	nodes     map[node]int
	shared
}

func newTables() *tables {
	return &tables{
		strings: make(map[string]int), frames: make(map[frame]int), resources: make(map[string]int), nodes: make(map[node]int),
		shared: shared{Natives: noNatives, Sources: noSources, Strings: []string{}},
	}
}

func (t *tables) text(s string) int {
	s = export.Clean(s)
	return number(t.strings, s, func(int) { t.Strings = append(t.Strings, s) }) - 1
}

// stack returns the index of a stack, given leaf first, with a type below its leaf.
func (t *tables) stack(typ string, frames iter.Seq[symbol.Frame], path *[]frame) int {
	*path = append((*path)[:0], frame{name: typ})
	for f := range frames {
		*path = append(*path, frame{f.String(), f.Module})
	}
	at := noCaller
	for i := len(*path) - 1; i >= 0; i-- {
		category := categoryCode
		if i == 0 {
			category = categoryType
		}
		at = t.node(node{at, t.frame((*path)[i], category)})
	}
	return at
}

func (t *tables) node(n node) int {
	return number(t.nodes, n, func(int) {
		row := stackRow{Frame: n.frame}
		if n.caller != noCaller {
			row.Prefix = &n.caller
		}
		t.Stacks = append(t.Stacks, row)
	}) - 1
}

// frame returns the index of a frame, whose function has the same index.
func (t *tables) frame(f frame, category int) int {
	return number(t.frames, f, func(n int) {
		t.Frames = append(t.Frames, frameRow{Address: -1, Category: category, Function: n - 1})
		t.Functions = append(t.Functions, functionRow{Name: t.text(f.name), Resource: t.resource(f.module)})
	}) - 1
}

// otherHost is the ResourceType of a host that is neither a file with symbols nor a URL.
const otherHost = 4

// resource returns the index of a module, -1 for none.
func (t *tables) resource(module string) int {
	if module == "" {
		return -1
	}
	return number(t.resources, module, func(int) {
		t.Resources = append(t.Resources, resourceRow{Name: t.text(module), Type: otherHost})
	}) - 1
}
