package cli

import (
	"context"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/symbol"
)

// A modelList lists a model's results on the events of a trace: for each process a total
// of type T and rows of type R.
type modelList[T, R any] struct {
	naming     naming
	model      pass.Model   // for the selected time
	beside     []pass.Model // for all of the trace
	collection func(*gc.Collection)
	fields     []list.Field[R]
	below      func(*R) []string // see rowWriter

	totals func(*scanned) []T
	pid    func(T) uint64
	head   func(*text.Page, *gc.Process, T)
	rows   func(T) []R
	none   lack

	rejected func() int // see listing; nil if the model rejects nothing
}

// list reads a trace and writes l's results.
func (l *modelList[T, R]) list(ctx context.Context, o *listing, std *stdio, out *output, paths []string) error {
	o.stacks, o.names = l.naming.stacks != nil, &l.naming.table
	scan, err := o.scan(ctx, std, paths, append(append(l.naming.models(), l.beside...), o.during(l.model)), l.collection)
	if err != nil {
		return err
	}
	w := newRowWriter(o, std, out, l.fields)
	if l.naming.stacks != nil {
		w.below = l.below
	}
	if l.rejected != nil {
		w.rejected = l.rejected()
	}
	return sections(scan, std, w, l.totals(scan), l.pid, l.head, l.rows, l.none)
}

// A naming names types and code that events refer to by number. The zero naming names
// nothing.
type naming struct {
	table  symbol.Table
	stacks *symbol.Stacks // nil unless they are wanted
	types  *symbol.Types  // likewise
}

// wantTypes makes n name types.
func (n *naming) wantTypes() *symbol.Types {
	n.types = new(symbol.Types)
	return n.types
}

// wantStacks makes n keep stacks. The perf map, if given, names their methods too.
func (n *naming) wantStacks(perfMap *perfMapFlag) (*symbol.Stacks, error) {
	n.stacks = symbol.NewStacks(&n.table)
	return n.stacks, perfMap.read(&n.table)
}

// models returns the models that find the names.
func (n *naming) models() []pass.Model {
	var models []pass.Model
	if n.stacks != nil {
		models = append(models, pass.Raw(symbol.Wants, n.table.Feed))
	}
	if n.types != nil {
		models = append(models, pass.Raw(symbol.WantsTypes, n.types.Feed))
	}
	return models
}

// writeUnresolved writes how many stacks and names are missing; add counts the samples
// of all stacks, and record is the command for a trace that has more.
func (n *naming) writeUnresolved(p *text.Page, things, record string, add func(*symbol.Tally)) {
	if n.stacks == nil {
		return
	}
	var tally symbol.Tally
	add(&tally)
	writeUnresolved(p, &tally, things, n.table.Dropped(), record)
}

// sums are the totals of a command by process, or by another key, in the order in which the
// keys come in the trace.
type sums[K comparable, T any] struct {
	begin func() *T // makes an empty sum; nil for the zero value
	all   []*T
	by    map[K]*T
}

// of returns the sum of a process, which is a new one when the process first comes.
func (s *sums[K, T]) of(key K) *T {
	sum := s.by[key]
	if sum == nil {
		if s.by == nil {
			s.by = make(map[K]*T)
		}
		if s.begin != nil {
			sum = s.begin()
		} else {
			sum = new(T)
		}
		s.by[key] = sum
		s.all = append(s.all, sum)
	}
	return sum
}
