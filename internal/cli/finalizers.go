package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

var finalizerFields = []field[handle.Finalized]{
	{name: "pid", value: func(r *handle.Finalized) column.Value { return pidOf(r.PID) }},
	{name: "count", heading: "finalized", value: func(r *handle.Finalized) column.Value { return countOf(r.Count) }},
	{name: "type", heading: "type", left: true, value: func(r *handle.Finalized) column.Value { return wordOf(r.Type) }},
}

func newFinalizersCmd(std *stdio) *cobra.Command {
	opts := newListing()
	cmd := &cobra.Command{
		Use:        "finalizers FILE...",
		SuggestFor: []string{"finalization"},
		Short:      "List the objects that were finalized, by type",
		Long: `finalizers lists the objects whose finalizers ran, by type, and how long the
finalizer thread took to start after each GC and to run the finalizers. An object
with a finalizer survives the GC that finds it dead, and is freed by a later one.

The events need the keyword gc at level 5, and type names also the keyword type:
gctrail collect --clrevents gc+type --clreventlevel verbose`,
		Example: `  gctrail finalizers app.nettrace
  gctrail finalizers --format csv --top 10 app.nettrace`,
	}
	return opts.command(std, cmd, fieldNames(finalizerFields), func(ctx context.Context, out *output, paths []string) error {
		var types symbol.Types
		model := handle.Finalizers{Types: &types}
		want := func(d *trace.Descriptor) bool { return handle.Wants(d) || symbol.WantsTypes(d) }
		scan, err := opts.scan(ctx, std, paths, open.Options{Want: want}, func(info *trace.Info, ev *trace.Event) {
			types.Feed(ev)
			if opts.during(info, ev) {
				model.Feed(ev)
			}
		}, nil)
		if err != nil {
			return err
		}
		w := &rowWriter[handle.Finalized]{listing: &opts, std: std, out: out, fields: finalizerFields}
		return sections(scan, std, w, model.Processes(),
			func(f handle.Finalization) uint64 { return f.PID }, finalizersHead, model.Rows,
			"no finalization events in this trace; record them with: gctrail collect --clrevents gc+type --clreventlevel verbose")
	})
}

func finalizersHead(p *text.Page, of *gc.Process, f handle.Finalization) {
	p.Heading("%s: %s finalized in %s of the finalizer thread", called(of),
		text.Plural(max(f.Objects, f.Finalized), "object", "objects"), text.Plural(f.Runs, "run", "runs"))
	if f.Runs > 0 {
		p.Prose("Running: ", fmt.Sprintf("%s in all, longest run %s.", units.Duration(f.Running), units.Duration(f.Longest)))
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
