package alloc

import (
	"cmp"
	"slices"

	"github.com/gctrail/gctrail/symbol"
)

// By selects the properties that a Row distinguishes.
type By uint8

const (
	ByType   By = 1 << iota // with the heap
	ByStack                 // the whole stack
	ByMethod                // the method that allocates
	ByHeap
)

// A Row is a part of the allocation of a process.
type Row struct {
	PID     uint64 // trace.UnknownID if unknown
	Source  Source
	Type    string // empty if unknown, or not distinguished
	Heap    Heap   // HeapUnknown if unknown, or not distinguished
	Stack   symbol.StackID
	Method  string // of ByMethod; empty for samples whose stack is unknown or has no names
	Samples int64
	Objects int64 // estimated; zero if the events have no object sizes (ticks before .NET 5)
	Estimate
	// Inclusive is the number of bytes allocated by Method and its callees.
	Inclusive int64
}

// OtherTypes is the Type of allocations whose types a Model had no room for.
const OtherTypes = "(other types)"

// A group identifies a row.
type group struct {
	process uint32
	typ     string
	heap    Heap
	stack   symbol.StackID
	method  string
}

// Rows returns the allocations of process pid according to source, in descending order of
// bytes. Names are right once all events were fed.
func (m *Model) Rows(pid uint64, source Source, by By) []Row {
	p := m.find(pid)
	if p == nil {
		return nil
	}
	var merged []symbol.StackID
	var methods methodSums
	if m.Stacks != nil && by&ByStack != 0 {
		merged = m.Stacks.Merged()
	}
	sums := make(map[group]*sum)
	for _, k := range m.keys(p, source) {
		s := m.rows[k]
		g := group{process: k.process}
		if by&ByType != 0 {
			g.typ = m.typeName(p, k.typ)
		}
		if by&(ByType|ByHeap) != 0 {
			g.heap = k.heap
		}
		if merged != nil {
			g.stack = merged[k.stack]
		}
		if by&ByMethod != 0 {
			g.method = methods.add(m.Stacks, k.stack, s.bytes)
		}
		of := sums[g]
		if of == nil {
			of = new(sum)
			sums[g] = of
		}
		of.add(&s.sum)
	}
	rows := make([]Row, 0, len(sums))
	all := p.total(source)
	for g, s := range sums {
		whole := &all
		if g.heap != HeapUnknown {
			whole = &p.totals[source][g.heap]
		}
		row := Row{
			PID: pid, Source: source, Type: g.typ, Heap: g.heap, Stack: g.stack, Method: g.method,
			Samples: s.samples, Objects: round(s.objects), Estimate: s.part(whole, source),
		}
		if by&ByMethod != 0 {
			row.Inclusive = round(methods.inclusive[g.method])
		}
		rows = append(rows, row)
	}
	if by&ByMethod != 0 {
		rows = append(rows, methods.callers(pid, source, sums)...)
	}
	slices.SortFunc(rows, compareRows)
	return rows
}

// keys returns the keys of a process's rows in order: the sum of fractions depends on the
// order in which they are added.
func (m *Model) keys(p *process, source Source) []key {
	var keys []key
	for k := range m.rows {
		if k.process == p.index && k.source == source {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.typ, b.typ), cmp.Compare(a.heap, b.heap), cmp.Compare(a.stack, b.stack))
	})
	return keys
}

// compareRows orders rows of equal bytes too, so that output does not change
// from run to run.
func compareRows(a, b Row) int {
	return cmp.Or(
		cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Inclusive, a.Inclusive), cmp.Compare(a.Type, b.Type),
		cmp.Compare(a.Heap, b.Heap), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Stack, b.Stack),
	)
}

func (m *Model) typeName(p *process, i uint32) string {
	t := p.types[i]
	switch {
	case i == otherTypes:
		return OtherTypes
	case t.name == "" && m.Types != nil:
		return m.Types.Name(p.pid, t.id)
	}
	return t.name
}

// methodSums adds up the allocations of each method including its callees.
type methodSums struct {
	inclusive map[string]float64
	seen      map[string]bool
}

// add counts bytes once for every method on a stack, and returns the innermost named method.
// It is the one that allocates, because unnamed frames inside it belong to the runtime.
func (s *methodSums) add(stacks *symbol.Stacks, id symbol.StackID, bytes float64) string {
	if stacks == nil || id <= symbol.OtherStacks {
		return ""
	}
	if s.inclusive == nil {
		s.inclusive, s.seen = make(map[string]float64), make(map[string]bool)
	}
	clear(s.seen)
	leaf := ""
	for f := range stacks.Frames(id) {
		if leaf == "" {
			leaf = f.Method
		}
		if f.Resolved() && !s.seen[f.Method] {
			s.seen[f.Method] = true
			s.inclusive[f.Method] += bytes
		}
	}
	return leaf
}

// callers returns rows for the methods that allocate nothing themselves.
func (s *methodSums) callers(pid uint64, source Source, leaves map[group]*sum) []Row {
	own := make(map[string]bool, len(leaves))
	for g := range leaves {
		own[g.method] = true
	}
	var rows []Row
	for name, bytes := range s.inclusive {
		if !own[name] {
			rows = append(rows, Row{PID: pid, Source: source, Method: name, Inclusive: round(bytes)})
		}
	}
	return rows
}
