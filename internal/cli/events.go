package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/nettrace"
)

type eventsOptions struct {
	selection
	file   string
	format string
	output string
}

func newEventsCmd(std *stdio) *cobra.Command {
	var opts eventsOptions
	cmd := &cobra.Command{
		Use:   "events FILE",
		Short: "Write every event, decoded, as JSON lines",
		Args:  oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.file = args[0]
			return opts.run(cmd.Context(), std)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.format, "format", "jsonl", "jsonl")
	flags.StringVarP(&opts.output, "output", "o", "-", "write to this `file`; - is standard output")
	opts.addFlags(flags)
	return cmd
}

func (o *eventsOptions) run(ctx context.Context, std *stdio) error {
	out, err := std.create(o.output)
	if err != nil {
		return err
	}
	return errors.Join(o.write(ctx, std, out), out.Close())
}

func (o *eventsOptions) write(ctx context.Context, std *stdio, out *output) error {
	r, err := std.read(ctx, o.file, nettrace.Options{Stacks: true})
	if err != nil {
		return err
	}
	defer r.Close()
	var events jsonl.Events
	var line []byte
	for ev, err := range r.Events() {
		if err != nil {
			return err
		}
		events.Start = r.Info().Start
		line = events.AppendEvent(line[:0], ev)
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return nil
}
