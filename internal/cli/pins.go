package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

var pinFields = []list.Field[handle.Pin]{
	{Name: "pid", Type: figure.Int, Value: func(r *handle.Pin) figure.Value { return list.PID(r.PID) }},
	{Name: "count", Heading: "pins", Type: figure.Int, Value: func(r *handle.Pin) figure.Value { return list.Count(r.Count) }},
	{Name: "bytes", Heading: "MB", Type: figure.Bytes, Value: func(r *handle.Pin) figure.Value { return list.Bytes(r.Bytes) }},
	{Name: "objects", Heading: "objects", Type: figure.Int, Value: func(r *handle.Pin) figure.Value { return list.Count(r.Objects) }},
	{Name: "collections", Heading: "GCs", Type: figure.Int, Value: func(r *handle.Pin) figure.Value { return list.Count(r.Collections) }},
	{Name: "longest_run", Heading: "GCs in a row", Rank: 1, Type: figure.Int, Value: func(r *handle.Pin) figure.Value { return list.Count(r.Longest) }},
	{Name: "by_handle", Heading: "by handle", Rank: 3, Type: figure.Int, Value: func(r *handle.Pin) figure.Value { return list.Opt(r.ByHandle, list.Count) }},
	{Name: "open_handles", Heading: "open handles", Rank: 2, Type: figure.Int, Value: func(r *handle.Pin) figure.Value { return list.Opt(r.Open, list.Count) }},
	{Name: "plugs", Type: figure.Int, Value: func(r *handle.Pin) figure.Value { return list.Opt(r.Plugs, list.Count) }},
	{Name: "gap_bytes", Heading: "held apart MB", Rank: 4, Type: figure.Bytes, Value: func(r *handle.Pin) figure.Value { return list.Opt(r.Gap, list.Bytes) }},
	{Name: "type", Heading: "type", Left: true, Type: figure.Text, Value: func(r *handle.Pin) figure.Value { return list.Word(r.Type) }},
}

type pinsOptions struct{ listing }

func newPinsOptions() *pinsOptions {
	return &pinsOptions{newListing("pins", list.Names(pinFields))}
}

func newPinsCmd(std *stdio) *cobra.Command {
	opts := newPinsOptions()
	return opts.newCmd(std, opts, "List the objects that were pinned during collections, by type")
}

func (o *pinsOptions) run(ctx context.Context, std *stdio) error { return o.each(ctx, std, o.list) }

func (o *pinsOptions) list(ctx context.Context, std *stdio, out *output, paths []string) error {
	var model handle.Pins
	l := modelList[handle.PinTotal, handle.Pin]{
		model: &model, rejected: model.Rejected, fields: pinFields,
		totals: model.Processes,
		pid:    func(t handle.PinTotal) uint64 { return t.PID },
		head:   pinsHead,
		rows:   func(t handle.PinTotal) []handle.Pin { return model.Rows(t.PID) },
		none:   lack{what: "pinned object events", recording: report.RecordVerbose},
	}
	return l.list(ctx, &o.listing, std, out, paths)
}

func pinsHead(p *text.Page, of *gc.Process, t handle.PinTotal) {
	p.Heading("%s: %s in %s", called(of), text.Plural(t.Count, "pin", "pins"), text.Plural(t.Collections, "GC", "GCs"))
	if t.Created > 0 {
		p.Prose("Handles: ", fmt.Sprintf("%s created, %s open at the end, %s destroyed before a GC found the object.",
			text.Plural(t.Created, "pinning handle", "pinning handles"), units.Count(t.Open), units.Count(t.Unseen)))
	}
	if plugs, known := t.Plugs.Get(); known {
		p.Prose("Held apart: ", units.Bytes(t.Gap.Or(0))+" of free memory before pinned objects, in "+text.Plural(plugs, "place", "places")+".")
	}
}
