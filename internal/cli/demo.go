package cli

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// demoTrace is a real trace, which demo/README.md describes.
//
//go:embed demo/net9-srv-datas-web-collect.nettrace.gz
var demoTrace []byte

const (
	demoName        = "demo.nettrace"
	demoCollections = 6
	demoEvents      = 3
	demoEventWidth  = 300 // characters of an event's line
)

func newDemoCmd(std *stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show what gctrail does, on a built-in real trace",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return std.writeTo("-", nil, func(out *output) error { return demo(cmd.Context(), std, out) })
		},
	}
}

func demo(ctx context.Context, std *stdio, out *output) error {
	p := newPage(std, out)
	p.Prose("", "This is the report of a small .NET 9 program with server GC, traced for five seconds. For your own trace, run: gctrail app.nettrace")
	p.Line("")
	r, err := std.readDemo(ctx, gc.Wants)
	if err != nil {
		return err
	}
	defer r.Close()
	rep, err := report.Gather(r, new(selection.Selection), report.Budget{}, nil)
	if err != nil {
		return err
	}
	rep.WriteBody(p)
	p.Section("gctrail gcs lists every collection; --format jsonl and csv are for scripts:")
	if _, err := out.Write(p.Bytes()); err != nil {
		return err
	}
	if err := demoGCs(ctx, std, out); err != nil {
		return err
	}
	p.Reset()
	p.Section("gctrail events prints every event, decoded, as a line of JSON:")
	if err := demoLines(ctx, std, p); err != nil {
		return err
	}
	p.Section("Now trace your own program")
	p.Command("  ", "gctrail collect -p PID -o app.nettrace")
	p.Line("or have the runtime record from startup:")
	p.Command("  ", report.CollectSelf(runtime.GOOS == "windows"))
	p.Line("and then:")
	p.Command("  ", "gctrail app.nettrace")
	_, err = out.Write(p.Bytes())
	return err
}

// readDemo opens the trace that is built in, for some kinds of its events.
func (std *stdio) readDemo(ctx context.Context, want func(*trace.Descriptor) bool) (*reading, error) {
	in, err := open.Reader(bytes.NewReader(demoTrace), demoName, open.Options{Want: want})
	if err != nil {
		return nil, fmt.Errorf("the built-in trace: %w", err)
	}
	r := std.reading(ctx, in, []string{"app.nettrace"})
	r.Once = true
	return r, nil
}

// demoGCs writes the first rows of the output of gcs.
func demoGCs(ctx context.Context, std *stdio, out *output) error {
	r, err := std.readDemo(ctx, gc.Wants)
	if err != nil {
		return err
	}
	defer r.Close()
	opts := newGCsOptions()
	opts.file = &list.File{Out: out, Format: list.Table}
	w := opts.newWriter(std, out)
	if err := w.begin(r); err != nil {
		return err
	}
	var m gc.Model
	n := 0
	for c, err := range r.Collections(&m) {
		if err != nil {
			return err
		}
		if err := w.add(c); err != nil {
			return err
		}
		if n++; n == demoCollections {
			break
		}
	}
	return w.end()
}

// demoLines writes the first lines of the output of events, shortened.
func demoLines(ctx context.Context, std *stdio, p *text.Page) error {
	var events jsonl.Events
	r, err := std.readDemo(ctx, func(d *trace.Descriptor) bool {
		name := events.Name(d)
		return name == "GCStart" || name == "GCHeapStats"
	})
	if err != nil {
		return err
	}
	defer r.Close()
	n := 0
	for ev, err := range r.Events() {
		if err != nil {
			return err
		}
		events.Start = r.Info().Start
		line := bytes.TrimSuffix(events.AppendEvent(nil, ev), []byte("\n"))
		if len(line) > demoEventWidth {
			line = append(line[:demoEventWidth:demoEventWidth], "..."...)
		}
		p.Line("%s", line)
		if n++; n == demoEvents {
			break
		}
	}
	return nil
}
