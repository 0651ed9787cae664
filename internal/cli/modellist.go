package cli

import (
	"context"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
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

	totals func() []T
	pid    func(T) uint64
	head   func(*text.Page, *gc.Process, T)
	rows   func(T) []R
	none   lack

	rejected func() int // see listing; nil if the model rejects nothing

	scan *scanned // the trace that was read; nil before
}

// list reads a trace and writes l's results.
func (l *modelList[T, R]) list(ctx context.Context, o *listing, std *stdio, out *output, paths []string) error {
	o.stacks, o.names = l.naming.stacks != nil, &l.naming.table
	var err error
	if l.scan, err = o.scan(ctx, std, paths, append(append(l.naming.models(), l.beside...), o.during(l.model)), l.collection); err != nil {
		return err
	}
	w := newRowWriter(o, std, out, l.fields)
	if l.naming.stacks != nil {
		w.below = l.below
	}
	if l.rejected != nil {
		w.rejected = l.rejected()
	}
	return sections(l.scan, w, l.totals(), l.pid, l.head, l.rows, l.none)
}
