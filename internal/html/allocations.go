package html

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/symbol"
)

// The bounds of a page's allocations of a process.
const (
	maxTypes   = 2_000
	maxSamples = 20_000
	maxFrames  = 60_000
	maxDepth   = 256
	// maxParts bounds the parts of stacks' bytes that lie before different collections.
	maxParts = 60_000
)

// allocations is the page's data about a process's allocations.
type allocations struct {
	Source string        `json:"source"`
	Event  string        `json:"event"`
	Bytes  int64         `json:"bytes"`
	Low    int64         `json:"low_bytes"`
	High   gc.Opt[int64] `json:"high_bytes"`
	// Allocated is how much the heap histories show at most, if that is less than Bytes
	// counts; null otherwise.
	Allocated gc.Opt[int64] `json:"allocated_bytes"`
	Samples   int64         `json:"samples"`
	Types     []typeRow     `json:"types"`
	Frames    []string      `json:"frames"` // names of methods
	Nodes     [][2]int      `json:"nodes"`  // frame, caller's node; -1 for none
	Stacks    []stackBytes  `json:"stacks"`
	// LeftOut are bytes of stacks for which there was no room. They are in Stacks by
	// type, with node -2.
	LeftOut int64 `json:"left_out_bytes"`
	// Group is how many collections follow one another for which allocations are not
	// distinguished. Parts has for each of Stacks how many groups are skipped, and the
	// bytes allocated before the collections of the next one and after the group
	// before it, again and again. What was allocated after the last collection is in
	// a group of its own.
	Group int       `json:"group"`
	Parts [][]int64 `json:"parts"`
}

type typeRow struct {
	Type    string        `json:"type"`
	Heap    string        `json:"heap"`
	Bytes   int64         `json:"bytes"`
	Low     int64         `json:"low_bytes"`
	High    gc.Opt[int64] `json:"high_bytes"`
	Samples int64         `json:"samples"`
	Objects int64         `json:"objects"`
}

// stackBytes are the bytes of a type that come from a stack: the index of the
// type, or -1 if it is not listed, the node of the innermost frame, or -1 if
// there is none, and the bytes.
type stackBytes [3]int64

// leftOut is the node of stacks for which there was no room.
const leftOut = -2

// NewAllocations returns the allocations of a process, which are by type and stack. It takes the most
// bytes that the process may have allocated, and when its collections begin.
func NewAllocations(a *export.Allocations, total alloc.Total, most gc.Opt[int64], types []alloc.Row, begins []time.Duration) *Part {
	page := &allocations{
		Source: a.Source.String(), Event: a.Source.Event(),
		Bytes: total.Bytes, Low: total.Low, High: gc.SomeIf(total.High, !total.Open), Samples: total.Samples,
		Allocated: gc.SomeIf(most.Or(0), a.Source.Overcounts(total.Bytes, most.Or(0))),
		Types:     []typeRow{}, Frames: []string{}, Nodes: [][2]int{}, Stacks: []stackBytes{},
	}
	index := make(map[on]int64)
	for _, r := range types[:min(len(types), maxTypes)] {
		index[on{r.Type, r.Heap}] = int64(len(page.Types))
		page.Types = append(page.Types, typeRow{r.Type, r.Heap.String(), r.Bytes, r.Low, gc.SomeIf(r.High, !r.Open), r.Samples, r.Objects})
	}
	rows := slices.Clone(a.Rows)
	slices.SortStableFunc(rows, func(x, y alloc.Row) int { return cmp.Compare(y.Bytes, x.Bytes) })
	t := tree{page: page, names: make(map[string]int), nodes: make(map[[2]int]int)}
	places := make(map[from]int, len(rows))
	others := make(map[int64]int) // by type
	for i, r := range rows {
		typ, listed := index[on{r.Type, r.Heap}]
		if !listed {
			typ = -1
		}
		key := from{on{r.Type, r.Heap}, r.Stack}
		if i < maxSamples && len(page.Nodes) < maxFrames {
			places[key] = len(page.Stacks)
			page.Stacks = append(page.Stacks, stackBytes{typ, t.leaf(a.Stacks, r.Stack), r.Bytes})
			continue
		}
		page.LeftOut += r.Bytes
		place, known := others[typ]
		if !known {
			place = len(page.Stacks)
			others[typ] = place
			page.Stacks = append(page.Stacks, stackBytes{typ, leftOut, 0})
		}
		places[key] = place
		page.Stacks[place][2] += r.Bytes
	}
	page.divide(a.Timeline, places, begins)
	return &Part{a.Process.PID, page}
}

// The subjects of allocations: objects of a type on a heap, and the place of the
// allocation.
type (
	on struct {
		typ  string
		heap alloc.Heap
	}
	from struct {
		on
		stack symbol.StackID
	}
)

// divide divides the bytes of each stack by the collections that they lie before.
func (page *allocations) divide(timeline iter.Seq[alloc.Timed], places map[from]int, begins []time.Duration) {
	type part struct{ place, group int }
	page.Group, page.Parts = 1, make([][]int64, len(page.Stacks))
	parts := make(map[part]int64)
	for t := range timeline {
		place, known := places[from{on{t.Type, t.Heap}, t.Stack}]
		if !known {
			continue
		}
		before, _ := slices.BinarySearch(begins, t.Time)
		parts[part{place, page.group(before, len(begins))}] += t.Bytes
		for len(parts) > maxParts && page.Group < len(begins) {
			after := page.group(len(begins), len(begins))
			page.Group *= 2
			merged := make(map[part]int64, maxParts)
			for p, bytes := range parts {
				group := p.group / 2
				if p.group == after {
					group = page.group(len(begins), len(begins))
				}
				merged[part{p.place, group}] += bytes
			}
			parts = merged
		}
	}
	groups := make([][]int, len(page.Stacks))
	for p := range parts {
		groups[p.place] = append(groups[p.place], p.group)
	}
	for place, list := range groups {
		slices.Sort(list)
		page.Parts[place] = []int64{}
		next := 0
		for _, group := range list {
			page.Parts[place] = append(page.Parts[place], int64(group-next), parts[part{place, group}])
			next = group + 1
		}
	}
}

// group returns the group of allocations before one of a number of collections;
// allocations after the last are one more.
func (page *allocations) group(before, collections int) int {
	if before == collections {
		return (collections + page.Group - 1) / page.Group
	}
	return before / page.Group
}

// A tree puts stacks together from the outermost frame on.
type tree struct {
	page  *allocations
	names map[string]int
	nodes map[[2]int]int
	stack []string
}

// leaf returns the node of the innermost frame of a stack, -1 if it has none.
func (t *tree) leaf(stacks *symbol.Stacks, id symbol.StackID) int64 {
	if stacks == nil || id <= symbol.OtherStacks {
		return -1
	}
	t.stack = t.stack[:0]
	for f := range stacks.Frames(id) {
		t.stack = append(t.stack, f.String())
		if len(t.stack) == maxDepth {
			break
		}
	}
	at := -1
	for _, name := range slices.Backward(t.stack) {
		frame, known := t.names[name]
		if !known {
			frame = len(t.page.Frames)
			t.names[name] = frame
			t.page.Frames = append(t.page.Frames, name)
		}
		key := [2]int{frame, at}
		node, known := t.nodes[key]
		if !known {
			node = len(t.page.Nodes)
			t.nodes[key] = node
			t.page.Nodes = append(t.page.Nodes, key)
		}
		at = node
	}
	return int64(at)
}
