package cli

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// A reading is a trace while a command reads it: a trace.Source that ends where
// the user interrupts, and shows its progress.
type reading struct {
	trace.Source
	paths    []string
	in       *open.Input
	ahead    *open.Input // the same trace once more, if it was asked for
	ctx      context.Context
	progress *progress
	feed     func(*trace.Event) // is given each event before it is yielded; nil for none
	names    *symbol.Table      // at the end of the events, is given the perf maps that came with the trace; nil for none
	warn     func(string)
}

// read opens the trace at a path, or the traces at several paths as one.
func (std *stdio) read(ctx context.Context, paths []string, opts open.Options) (*reading, error) {
	if slices.Contains(paths, "-") {
		if term.IsTerminal(int(os.Stdin.Fd())) {
			return nil, &usageError{errors.New("- is standard input, which is a terminal: pipe or redirect a trace into it"), "gctrail"}
		}
		ctx = throughPipe(ctx)
	}
	in, err := open.Files(paths, opts)
	if err != nil {
		return nil, &inputError{strings.Join(paths, " + "), err}
	}
	std.warn(in.Name, report.Beside(in))
	std.showing = std.progress(in)
	warn := func(what string) { std.warn(in.Name, what) }
	return &reading{Source: in.Source, paths: paths, in: in, ctx: ctx, progress: std.showing, warn: warn}, nil
}

// throughPipe is ctx for reading standard input. Where that is a pipe, Ctrl-C
// reaches the program that writes to it too, which then ends the trace: what it
// still writes is read. A second Ctrl-C, and SIGTERM, end this program at once, also
// while it waits for the other.
func throughPipe(ctx context.Context) context.Context {
	in, err := os.Stdin.Stat()
	if err != nil || in.Mode()&fs.ModeNamedPipe == 0 {
		return ctx
	}
	signal.Reset(syscall.SIGTERM)
	return context.WithoutCancel(ctx)
}

// Close ends the reading.
func (r *reading) Close() {
	r.progress.stop()
	r.in.Close()
	if r.ahead != nil {
		r.ahead.Close()
	}
}

// Events yields the trace's events until the context is done. The error is an
// *inputError, or the context's.
func (r *reading) Events() iter.Seq2[*trace.Event, error] {
	const often = 256 // events between two looks at the context
	return func(yield func(*trace.Event, error) bool) {
		n := 0
		for ev, err := range r.Source.Events() {
			if n++; n%often == 0 && r.ctx.Err() != nil {
				yield(nil, r.ctx.Err())
				return
			}
			if err != nil {
				yield(nil, &inputError{r.in.Name, err})
				return
			}
			if r.feed != nil {
				r.feed(ev)
			}
			if !yield(ev, nil) {
				return
			}
		}
		if r.names != nil {
			if err := r.names.ReadPerfMaps(r.in.PerfMap); err != nil {
				r.warn(err.Error())
			}
		}
	}
}

// Name returns the name of the trace, as the user gave it.
func (r *reading) Name() string { return r.in.Name }

// Paths returns the paths of the trace's files.
func (r *reading) Paths() []string { return r.paths }

// Collections yields the trace's collections.
func (r *reading) Collections(m *gc.Model) iter.Seq2[*gc.Collection, error] {
	if !slices.Contains(r.paths, "-") {
		m.Ahead = func() (trace.Source, error) { return r.again(gc.Identifies) }
	}
	return func(yield func(*gc.Collection, error) bool) {
		for c, err := range m.Collections(r) {
			r.progress.collections.Add(1)
			if !yield(c, err) {
				return
			}
		}
	}
}

// again opens the trace once more, for some kinds of its events.
func (r *reading) again(want func(*trace.Descriptor) bool) (trace.Source, error) {
	in, err := open.Files(r.paths, open.Options{Want: want})
	if err != nil {
		return nil, err
	}
	r.ahead = in
	return in.Source, nil
}

// lossAhead reads the trace once before, gives each event to learn unless that is nil, and
// returns what is missing of it; nil for standard input, which can be read once only.
func (r *reading) lossAhead(learn func(*trace.Event)) (*trace.Loss, error) {
	if slices.Contains(r.paths, "-") {
		return nil, nil
	}
	src, err := r.again(nil) // a loss at the end reaches to the last event that is read
	if err != nil {
		return nil, &inputError{r.in.Name, err}
	}
	for ev, err := range src.Events() {
		if err == nil && r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		if err != nil {
			return nil, &inputError{r.in.Name, err}
		}
		if learn != nil {
			learn(ev)
		}
	}
	return src.Loss(), nil
}

// Merged returns the trace as several that are read as one, else nil.
func (r *reading) Merged() *trace.Merged {
	m, _ := r.Source.(*trace.Merged)
	return m
}

// each reads traces one after the other. It continues after a trace that cannot be read,
// but not after output that cannot be written.
func each(groups [][]string, one func(paths []string) error) error {
	var failed []error
	for _, paths := range groups {
		err := one(paths)
		if err == nil {
			continue
		}
		failed = append(failed, err)
		if _, ok := errors.AsType[*inputError](err); !ok {
			break
		}
	}
	return errors.Join(failed...)
}
