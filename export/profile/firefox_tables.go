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
		shared: shared{
			Stacks: stackTable{[]int{}, []*int{}, 0},
			Frames: frameTable{
				Address: []int{}, InlineDepth: []int{}, Category: []int{}, Subcategory: []int{}, Function: []int{},
				Native: []*int{}, Window: []*int{}, Line: []*int{}, Column: []*int{},
			},
			Functions: functionTable{
				Name: []int{}, JS: []bool{}, Relevant: []bool{}, Resource: []int{}, Source: []*int{}, Line: []*int{}, Column: []*int{},
			},
			Resources: resourceTable{Library: []*int{}, Name: []int{}, Host: []*int{}, Type: []int{}},
			Natives:   nativeTable{Library: []int{}, Address: []int{}, Name: []int{}, FuncSize: []*int{}},
			Sources:   sourceTable{ID: []*string{}, Filename: []int{}, Line: []int{}, Column: []int{}, MapURL: []*int{}},
			Strings:   []string{},
		},
	}
}

func (t *tables) text(s string) int {
	s = export.Clean(s)
	i, known := t.strings[s]
	if !known {
		i = len(t.Strings)
		t.strings[s] = i
		t.Strings = append(t.Strings, s)
	}
	return i
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
	i, known := t.nodes[n]
	if known {
		return i
	}
	i = t.Stacks.Length
	t.nodes[n] = i
	var prefix *int
	if n.caller != noCaller {
		prefix = &n.caller
	}
	t.Stacks.Frame = append(t.Stacks.Frame, n.frame)
	t.Stacks.Prefix = append(t.Stacks.Prefix, prefix)
	t.Stacks.Length++
	return i
}

// frame returns the index of a frame, whose function has the same index.
func (t *tables) frame(f frame, category int) int {
	i, known := t.frames[f]
	if known {
		return i
	}
	i = t.Frames.Length
	t.frames[f] = i

	fr := &t.Frames
	fr.Address = append(fr.Address, -1)
	fr.InlineDepth = append(fr.InlineDepth, 0)
	fr.Category = append(fr.Category, category)
	fr.Subcategory = append(fr.Subcategory, 0)
	fr.Function = append(fr.Function, i)
	fr.Native, fr.Window = append(fr.Native, nil), append(fr.Window, nil)
	fr.Line, fr.Column = append(fr.Line, nil), append(fr.Column, nil)
	fr.Length++

	fn := &t.Functions
	fn.Name = append(fn.Name, t.text(f.name))
	fn.JS, fn.Relevant = append(fn.JS, false), append(fn.Relevant, false)
	fn.Resource = append(fn.Resource, t.resource(f.module))
	fn.Source, fn.Line, fn.Column = append(fn.Source, nil), append(fn.Line, nil), append(fn.Column, nil)
	fn.Length++
	return i
}

// otherHost is the ResourceType of a host that is neither a file with symbols nor a URL.
const otherHost = 4

// resource returns the index of a module, -1 for none.
func (t *tables) resource(module string) int {
	if module == "" {
		return -1
	}
	i, known := t.resources[module]
	if !known {
		r := &t.Resources
		i = r.Length
		t.resources[module] = i
		r.Library, r.Host = append(r.Library, nil), append(r.Host, nil)
		r.Name = append(r.Name, t.text(module))
		r.Type = append(r.Type, otherHost)
		r.Length++
	}
	return i
}
