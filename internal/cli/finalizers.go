package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

var finalizerFields = []list.Field[handle.Finalized]{
	{Name: "pid", Type: figure.Int, Value: func(r *handle.Finalized) figure.Value { return list.PID(r.PID) }},
	{Name: "count", Heading: "finalized", Type: figure.Int, Value: func(r *handle.Finalized) figure.Value { return list.Count(r.Count) }},
	{Name: "type", Heading: "type", Left: true, Type: figure.Text, Value: func(r *handle.Finalized) figure.Value { return list.Word(r.Type) }},
}

type finalizersOptions struct{ listing }

func newFinalizersOptions() *finalizersOptions {
	return &finalizersOptions{newListing("finalizers", list.Names(finalizerFields))}
}

func newFinalizersCmd(std *stdio) *cobra.Command {
	opts := newFinalizersOptions()
	return opts.newCmd(std, opts, "List the objects that were finalized, by type", "finalization")
}

func (o *finalizersOptions) run(ctx context.Context, std *stdio) error {
	return o.each(ctx, std, o.list)
}

func (o *finalizersOptions) list(ctx context.Context, std *stdio, out *output, paths []string) error {
	var model handle.Finalizers
	l := modelList[handle.Finalization, handle.Finalized]{
		model: &model, fields: finalizerFields,
		totals: model.Processes,
		pid:    func(f handle.Finalization) uint64 { return f.PID },
		rows:   func(f handle.Finalization) []handle.Finalized { return model.Rows(f.PID) },
		none:   lack{what: "finalization events", recording: report.RecordFinalizers},
	}
	l.head = func(p *text.Page, of *gc.Process, f handle.Finalization) {
		finalizersHead(p, of, f)
		named := slices.ContainsFunc(model.Rows(f.PID), func(r handle.Finalized) bool { return r.Type != "" })
		if !named && max(f.Objects, f.Finalized) > 0 {
			writeUntyped(p, report.Record(of, l.scan.Info().Format, report.RecordFinalizers))
		}
	}
	model.Types = l.naming.wantTypes()
	return l.list(ctx, &o.listing, std, out, paths)
}

func finalizersHead(p *text.Page, of *gc.Process, f handle.Finalization) {
	p.Heading("%s: %s finalized in %s of the finalizer thread", called(of),
		text.Plural(max(f.Objects, f.Finalized), "object", "objects"), text.Plural(f.Runs, "run", "runs"))
	if f.Runs > 0 {
		p.Prose("Running: ", fmt.Sprintf("%s in all, longest run %s.", units.Duration(f.Running), units.Duration(f.Longest)))
	}
	if u, running := f.Unfinished.Get(); running {
		writeUnfinished(p, of, u)
	}
	if f.Waits > 0 {
		p.Prose("Queue: ", fmt.Sprintf("began %s after the collection on average, %s at most.",
			units.Duration(f.Queued/time.Duration(f.Waits)), units.Duration(f.LongestQueued)))
	}
	if f.PromotedObjects > 0 {
		p.Prose("Kept: ", fmt.Sprintf("collections kept %s (%s) alive for their finalizers.",
			text.Plural(f.PromotedObjects, "object", "objects"), units.Bytes(f.PromotedBytes)))
	}
}

// writeUnfinished writes for how long the finalizer thread has run without finishing, and
// how many objects wait for it.
func writeUnfinished(p *text.Page, of *gc.Process, u handle.Unfinished) {
	says := fmt.Sprintf("the run that began at %s has not finished", units.Duration(u.Since))
	if of != nil && of.Stopped > u.Since {
		says += fmt.Sprintf(" %s later, at the end of the trace", units.Duration(of.Stopped-u.Since))
	}
	says += fmt.Sprintf("; %s found by GCs may wait for it.", text.Plural(u.Waiting, "object", "objects"))
	if last, known := u.Last.Get(); known {
		says += fmt.Sprintf(" The last finalizer began at %s.", units.Duration(last))
	}
	p.Prose("Unfinished: ", says)
}

// writeUntyped writes that a trace does not name the types of finalized objects, and which
// command, if any, records them.
func writeUntyped(p *text.Page, record string) {
	p.Prose("Types: ", "this trace does not name them.")
	if record != "" {
		p.Line("To record type names:")
		p.Command("  ", record)
	}
}
