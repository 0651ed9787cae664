package cli

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// A redaction holds the flags that remove from the output what identifies the program.
type redaction struct{ convert.Redaction }

func (o *redaction) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.On, "redact", false, "remove what identifies the program: names, paths, ids of public files")
	flags.BoolVar(&o.KeepSystem, "keep-system", false, "with --redact: keep the framework's names that begin with System. or Microsoft.")
}

// conflict refuses to select processes by names, unless they are still there when it is done.
func (o *redaction) conflict(selected *selection.Selection, named bool) error {
	switch {
	case o.KeepSystem && !o.On:
		return errors.New("--keep-system needs --redact")
	case o.On && !named && selected.Process != "":
		return errors.New("--redact hashes the names of processes: select them with --pid instead of --process")
	}
	return nil
}

// learn returns a Redactor for the next trace that has read it ahead, and the trace's loss.
func (o *redaction) learn(ctx context.Context, r *reading) (*convert.Redactor, *trace.Loss, error) {
	redactor := o.Next()
	if r.Once {
		r.Warn("standard input can be read only once, so the frames of stacks have no names; redact a file to keep them")
	}
	lost, err := r.lossAhead(ctx, pass.Raw(nil, redactor.Learn))
	return redactor, lost, err
}

// read opens a trace; with --redact a temporary copy of it that is redacted. What then reads
// it need not know of redaction. A .gcdump is left to ReadGCDump.
func (o *redaction) read(ctx context.Context, std *stdio, paths []string, opts open.Options) (*reading, error) {
	if !o.On {
		return std.read(ctx, paths, opts)
	}
	original := opts
	original.Head, original.Runs = nil, nil // events are copied whole, one by one
	original.Want = func(d *trace.Descriptor) bool { return convert.Wants(d) || opts.Want == nil || opts.Want(d) }
	from, err := std.read(ctx, paths, original)
	if err != nil || from.In.HeapDump != nil {
		return from, err
	}
	defer from.Close()
	redactor, lost, err := o.learn(ctx, from)
	if err != nil {
		return nil, err
	}
	read, write := io.Pipe()
	copied := make(chan struct{})
	go func() {
		_, err := convert.Events(from, write, convert.EventOptions{Selected: new(selection.Selection), Redact: redactor, Lost: lost})
		if errors.Is(err, convert.ErrNothing) { // which is said when the copy is read
			err = nil
		}
		write.CloseWithError(err)
		close(copied)
	}()
	in, err := open.Spooled(read, from.Name(), math.MaxInt64-1, opts)
	read.Close()
	<-copied
	if err != nil {
		return nil, err
	}
	r := std.reading(ctx, in, paths)
	r.Once = true // paths lead to the original
	return r, nil
}
