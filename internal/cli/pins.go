package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

var pinFields = []field[handle.Pin]{
	{name: "pid", value: func(r *handle.Pin) column.Value { return pidOf(r.PID) }},
	{name: "count", heading: "pins", value: func(r *handle.Pin) column.Value { return countOf(r.Count) }},
	{name: "bytes", heading: "MB", value: func(r *handle.Pin) column.Value { return bytesOf(r.Bytes) }},
	{name: "objects", heading: "objects", value: func(r *handle.Pin) column.Value { return countOf(r.Objects) }},
	{name: "collections", heading: "GCs", value: func(r *handle.Pin) column.Value { return countOf(r.Collections) }},
	{name: "longest_run", heading: "GCs in a row", rank: 1, value: func(r *handle.Pin) column.Value { return countOf(r.Longest) }},
	{name: "type", heading: "type", left: true, value: func(r *handle.Pin) column.Value { return wordOf(r.Type) }},
}

func newPinsCmd(std *stdio) *cobra.Command {
	opts := newListing()
	cmd := &cobra.Command{
		Use:   "pins FILE...",
		Short: "List the objects that were pinned during collections, by type",
		Long: `pins lists the objects that GCs found pinned: how often (an object counts once in each
collection), their bytes, the number of distinct objects, the number of collections,
and the longest run of consecutive collections with the same object pinned. Objects
that stay pinned cause fragmentation.

The events need keyword gc at level 5, as in --profile gc-verbose. With the private
provider, the heading also shows the free space between pinned objects.`,
		Example: `  gctrail pins app.nettrace
  gctrail pins --sort longest_run --top 5 app.nettrace`,
	}
	return opts.command(std, cmd, fieldNames(pinFields), func(ctx context.Context, out *output, paths []string) error {
		var model handle.Pins
		scan, err := opts.scan(ctx, std, paths, open.Options{Want: handle.Wants}, func(info *trace.Info, ev *trace.Event) {
			if opts.during(info, ev) {
				model.Feed(ev)
			}
		}, nil)
		if err != nil {
			return err
		}
		w := &rowWriter[handle.Pin]{listing: &opts, std: std, out: out, fields: pinFields}
		return sections(scan, std, w, model.Processes(),
			func(t handle.PinTotal) uint64 { return t.PID }, pinsHead, model.Rows,
			"no pinned object events in this trace; record them with: gctrail collect --profile gc-verbose")
	})
}

func pinsHead(p *text.Page, of *gc.Process, t handle.PinTotal) {
	p.Heading("%s: %s in %s", called(of), text.Plural(t.Count, "pin", "pins"), text.Plural(t.Collections, "GC", "GCs"))
	if t.Plugs > 0 {
		p.Prose("", "Pinned plugs held "+units.Bytes(t.Gap)+" of free memory apart, in "+text.Plural(t.Plugs, "place", "places")+".")
	}
}
