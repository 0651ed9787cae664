package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/nettrace"
)

type gcsOptions struct {
	selection
	files  []string
	format string
	output string
}

func newGCsCmd(std *stdio) *cobra.Command {
	var opts gcsOptions
	cmd := &cobra.Command{
		Use:   "gcs FILE…",
		Short: "List every garbage collection",
		Args:  someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.files = args
			return opts.run(cmd.Context(), std)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.format, "format", "jsonl", "jsonl")
	flags.StringVarP(&opts.output, "output", "o", "-", "write to this `file`; - is standard output")
	opts.addFlags(flags)
	return cmd
}

func (o *gcsOptions) run(ctx context.Context, std *stdio) error {
	out, err := std.create(o.output)
	if err != nil {
		return err
	}
	err = each(o.files, func(path string) error { return o.list(ctx, std, out, path) })
	return errors.Join(err, out.Close())
}

func (o *gcsOptions) list(ctx context.Context, std *stdio, out *output, path string) error {
	r, err := std.read(ctx, path, nettrace.Options{Want: gc.Wants})
	if err != nil {
		return err
	}
	defer r.Close()
	var m gc.Model
	var line []byte
	for c, err := range r.collections(&m) {
		if err != nil {
			return err
		}
		if !o.collection(r.Info(), c) {
			continue
		}
		line = jsonl.AppendCollection(line[:0], r.Info().Start, c)
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return nil
}
