package html

import (
	"cmp"
	"slices"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/symbol"
)

// The bounds of what a page holds of the allocations of a process.
const (
	maxTypes   = 2_000
	maxSamples = 20_000
	maxFrames  = 60_000
	maxDepth   = 256
)

// Allocations are those of one process: what was allocated, of what types, from
// which stacks.
type Allocations struct {
	PID     uint64       `json:"-"`
	Source  string       `json:"source"`
	Event   string       `json:"event"`
	Bytes   int64        `json:"bytes"`
	Low     int64        `json:"low_bytes"`
	High    *int64       `json:"high_bytes"`
	Samples int64        `json:"samples"`
	Types   []typeRow    `json:"types"`
	Frames  []string     `json:"frames"` // names of methods
	Nodes   [][2]int     `json:"nodes"`  // frame, caller's node; -1 for none
	Stacks  []stackBytes `json:"stacks"`
	// LeftOut are bytes of stacks for which there was no room.
	LeftOut int64 `json:"left_out_bytes"`
}

type typeRow struct {
	Type    string `json:"type"`
	Heap    string `json:"heap"`
	Bytes   int64  `json:"bytes"`
	Low     int64  `json:"low_bytes"`
	High    *int64 `json:"high_bytes"`
	Samples int64  `json:"samples"`
	Objects int64  `json:"objects"`
}

// stackBytes are the bytes of a type that come from a stack: the index of the
// type, or -1 if it is not listed, the node of the innermost frame, or -1 if
// there is none, and the bytes.
type stackBytes [3]int64

// NewAllocations returns the allocations of a process from its rows, which are by
// type and stack.
func NewAllocations(a *export.Allocations, total alloc.Total, types []alloc.Row) *Allocations {
	page := &Allocations{
		PID: a.Process.PID, Source: a.Source.String(), Event: a.Source.Event(),
		Bytes: total.Bytes, Low: total.Low, High: bounded(total.Estimate), Samples: total.Samples,
		Types: []typeRow{}, Frames: []string{}, Nodes: [][2]int{}, Stacks: []stackBytes{},
	}
	type on struct {
		typ  string
		heap alloc.Heap
	}
	index := make(map[on]int64)
	for _, r := range types[:min(len(types), maxTypes)] {
		index[on{r.Type, r.Heap}] = int64(len(page.Types))
		page.Types = append(page.Types, typeRow{r.Type, r.Heap.String(), r.Bytes, r.Low, bounded(r.Estimate), r.Samples, r.Objects})
	}
	rows := slices.Clone(a.Rows)
	slices.SortStableFunc(rows, func(x, y alloc.Row) int { return cmp.Compare(y.Bytes, x.Bytes) })
	t := tree{page: page, names: make(map[string]int), nodes: make(map[[2]int]int)}
	for i, r := range rows {
		if i >= maxSamples || len(page.Nodes) >= maxFrames {
			page.LeftOut += r.Bytes
			continue
		}
		of, listed := index[on{r.Type, r.Heap}]
		if !listed {
			of = -1
		}
		page.Stacks = append(page.Stacks, stackBytes{of, t.leaf(a.Stacks, r.Stack), r.Bytes})
	}
	return page
}

func bounded(e alloc.Estimate) *int64 {
	if e.Open {
		return nil
	}
	return &e.High
}

// A tree puts stacks together from the outermost frame on.
type tree struct {
	page  *Allocations
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
