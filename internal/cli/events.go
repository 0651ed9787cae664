package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

type eventsOptions struct {
	inputFlags
	files  []string
	format choice
	eventFilter
	limit  uint64
	output string

	paged bool // nobody asked for JSON: the lines are for a person
}

func newEventsCmd(std *stdio) *cobra.Command {
	opts := &eventsOptions{format: choice{"jsonl", []string{"jsonl"}}}
	take := func(cmd *cobra.Command, args []string) error {
		opts.paged = !cmd.Flags().Changed("format")
		return someFiles(&opts.files)(cmd, args)
	}
	cmd := newCmd(std, opts, "events FILE", "Write every event, decoded, as JSON lines", take)
	flags := cmd.Flags()
	flags.Var(&opts.format, "format", "jsonl (JSON lines)")
	opts.eventFilter.addFlags(std, cmd)
	flags.Uint64Var(&opts.limit, "limit", 0, "stop after `N` events (0: never)")
	flags.StringVarP(&opts.output, "output", "o", "-", "write to this `file`; - is standard output")
	opts.inputFlags.addFlags(flags)
	return cmd
}

func (o *eventsOptions) conflict() error {
	if len(o.files) > 1 && !o.merge {
		return fmt.Errorf("expected one file, got %d; use --merge to read several as one", len(o.files))
	}
	return o.inputFlags.conflict(o.files)
}

func (o *eventsOptions) run(ctx context.Context, std *stdio) error {
	return std.writeTo(o.output, o.files, func(out *output) error {
		if o.paged {
			std.paged(out)
		}
		return o.write(ctx, std, out)
	})
}

func (o *eventsOptions) write(ctx context.Context, std *stdio, out *output) error {
	var events jsonl.Events
	met := map[string]bool{} // names of wanted events
	r, err := std.read(ctx, o.files, open.Options{
		Stacks: true,
		Want: func(d *trace.Descriptor) bool {
			name := events.Name(d)
			wanted := o.wants(d, name)
			met[name] = met[name] || wanted
			return wanted
		},
	})
	if err != nil {
		return err
	}
	defer r.Close()
	pids, err := o.processIDs(r)
	if err != nil {
		return err
	}
	lines := jsonl.NewEventWriter(out)
	written, err := o.writeLines(lines, r, pids)
	if err := cmp.Or(err, lines.Close(), out.Flush()); err != nil || o.limited(written) {
		return err
	}
	r.finish(nil)
	unmet := slices.DeleteFunc(slices.Clone(o.names), func(name string) bool { return met[name] })
	for _, name := range unmet {
		r.Warn(fmt.Sprintf("no event is named %s", name))
	}
	if written == 0 && len(unmet) == 0 {
		r.nothingSelected(&o.Selection, nil, "no event matches")
	}
	return nil
}

// writeLines writes the selected events of r, at most as many as are asked for, and
// returns their number.
func (o *eventsOptions) writeLines(lines *jsonl.EventWriter, r *reading, pids map[uint64]bool) (written uint64, err error) {
	for ev, err := range r.Events() {
		if err != nil {
			return written, err
		}
		if pids != nil && !pids[ev.PID] || !o.AllTimes() && !o.HasTime(r.Info(), ev.Time()) {
			continue
		}
		if written == 0 {
			lines.Start = r.Info().Start
		}
		if err := lines.Write(ev); err != nil {
			return written, err
		}
		if written++; o.limited(written) {
			break
		}
	}
	return written, nil
}

// limited reports whether no more events are wanted.
func (o *eventsOptions) limited(written uint64) bool { return o.limit > 0 && written == o.limit }
