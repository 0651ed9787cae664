package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/export/snapshot"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

type convertOptions struct {
	inputFlags
	eventFilter
	files     []string
	to        formatOrTime
	redaction redaction
	gc        uint32 // whose heap snapshot is written; 0 for the last
	by        choice // of the stacks of a heap snapshot
	output    string
	perfMap   perfMapFlag

	format *convert.Format
	folder bool // output is one
}

func newConvertCmd(std *stdio) *cobra.Command {
	opts := &convertOptions{by: choice{of: []string{heap.ByObject.String(), heap.ByPath.String()}}}
	cmd := newCmd(std, opts, "convert FILE... -o OUT", "Convert a trace for Perfetto, pprof, Parquet and other tools", someFiles(&opts.files))
	flags := cmd.Flags()
	flags.StringVarP(&opts.output, "output", "o", "", "write to this `file` or folder; - is standard output")
	opts.redaction.addFlags(flags)
	flags.Uint32Var(&opts.gc, "gc", 0, "write the heap snapshot of the collection with this `NUMBER`, not the last")
	flags.Var(&opts.by, "by", "stacks of a heap snapshot: what holds objects (dominator), or the shortest path from a root")
	opts.perfMap.addFlag(flags)
	opts.eventFilter.addFlags(std, cmd)
	opts.inputFlags.addFlags(flags)
	opts.to.time = flags.Lookup("to").Value
	to := flags.Lookup("to")
	to.Value, to.Usage = &opts.to, "the format, where the suffix of -o does not name it; or end at this time"
	std.complete(cmd, "to", convert.Names())
	return cmd
}

// formatOrTime is the flag --to, which names a format here, and ends the time that
// is selected as in all commands.
type formatOrTime struct {
	format string
	time   pflag.Value
}

func (f *formatOrTime) Type() string { return "FORMAT|TIME" }

func (f *formatOrTime) String() string { return f.format }

func (f *formatOrTime) Set(s string) error {
	if convert.Named(s) != nil {
		f.format = s
		return nil
	}
	if err := f.time.Set(s); err != nil {
		return fmt.Errorf("%w; formats: %s", err, strings.Join(convert.Names(), ", "))
	}
	return nil
}

// formatHelp lists the formats with their suffixes.
func formatHelp() string {
	var b strings.Builder
	for _, f := range convert.Formats() {
		fmt.Fprintf(&b, "  %-12s %-26s %s\n", f.Name, strings.Join(f.Suffixes, ", "), f.Says)
	}
	return b.String()
}

func (o *convertOptions) conflict() error {
	if err := cmp.Or(o.inputFlags.conflict(o.files), o.choose()); err != nil {
		return err
	}
	return o.redaction.conflict(&o.Selection, o.format.Events)
}

// choose finds the format.
func (o *convertOptions) choose() error {
	if o.output == "" {
		return errors.New("no output: give -o FILE, or -o - for standard output")
	}
	info, err := os.Stat(o.output)
	o.folder = err == nil && info.IsDir() || strings.HasSuffix(o.output, "/") || strings.HasSuffix(o.output, string(filepath.Separator))
	o.format = convert.Named(o.to.format)
	if o.format == nil && !o.folder {
		o.format = convert.For(o.output)
	}
	switch {
	case o.format == nil:
		return fmt.Errorf("cannot tell the format from %s: add --to with one of %s", text.Quoted(o.output), strings.Join(convert.Names(), ", "))
	case !o.format.Events && o.given():
		return fmt.Errorf("--name, --provider, --keywords and --level are for nettrace, which holds events; %s does not", o.format.Name)
	case o.format.Report && o.redaction.On:
		return errors.New("--redact is not for the report, which names the trace's file: redact into a .nettrace, and report on that")
	case o.gc != 0 && !o.format.Snapshots():
		return fmt.Errorf("--gc selects a heap snapshot; %s has none", o.format.Name)
	case o.by.value != "" && !o.format.Profiles():
		return fmt.Errorf("--by selects the stacks of a heap snapshot; %s has none", o.format.Name)
	case !o.folder && len(o.groups(o.files)) > 1:
		return fmt.Errorf("%d traces into one file: give a folder, as in -o out/, or --merge", len(o.files))
	}
	return nil
}

func (o *convertOptions) run(ctx context.Context, std *stdio) error {
	return each(o.groups(o.files), func(paths []string) error { return o.convert(ctx, std, paths) })
}

// convert converts one trace, or several merged.
func (o *convertOptions) convert(ctx context.Context, std *stdio, paths []string) error {
	if o.output == "-" && o.format.Binary && std.outTerm.Is {
		return misusef("refusing to write %s, a binary format, to a terminal: redirect standard output, or use -o FILE", o.format.Name)
	}
	if o.format.Events {
		return o.events(ctx, std, paths)
	}
	if o.format.Report {
		return o.report(ctx, std, paths)
	}
	c := convert.New(o.format, &o.Selection, o.folder)
	if c.OnlySnapshot() || o.gc != 0 || o.by.value != "" {
		defer debug.SetGCPercent(debug.SetGCPercent(graphPercent))
	}
	c.Redacted = o.redaction.On
	c.GC, c.Heap, c.ByPath = o.gc, o.gc != 0 || o.by.value != "", o.by.value == heap.ByPath.String()
	r, err := o.redaction.read(ctx, std, paths, open.Options{Want: c.Wants(), Stacks: c.Stacks(), HeapDumps: o.format.Snapshots()})
	if err != nil {
		return err
	}
	defer r.Close()
	r.Names = c.Names()
	if err := o.perfMap.read(r.Names); err != nil {
		return err
	}
	if c.Events() {
		if c.PIDs, err = o.processIDs(r); err != nil {
			return err
		}
	}
	outs, err := o.create(std, paths)
	if err != nil {
		return err
	}
	writers := text.Each(outs, func(out **output) io.Writer { return *out })
	if r.In.HeapDump != nil {
		var s *heap.Snapshot
		if s, err = o.redaction.ReadGCDump(r.In.HeapDump); err == nil {
			err = c.WriteHeapDump(r.Name(), s, writers)
		} else {
			err = r.Fail(err)
		}
	} else {
		err = c.Write(r, writers)
	}
	nothing := errors.Is(err, convert.ErrNothing)
	switch {
	case nothing && (c.OnlySnapshot() || c.Heap):
		err = fmt.Errorf("%s: %s", r.Name(), o.noSnapshot(r))
	case errors.Is(err, snapshot.ErrIncomplete):
		err = fmt.Errorf("%s: %s, and other tools cannot tell; what it has: gctrail objects %s", r.Name(), notWhole(c.Snapshot), text.Quoted(r.Name()))
	case nothing && c.OnlyAllocations():
		l := lack{what: "allocation events", recording: report.RecordAllocations}
		err = fmt.Errorf("%s: %s", r.Name(), l.of(r, &o.Selection, nil))
	case nothing:
		err = nil
	}
	if err := endAll(outs, err); err != nil {
		return err
	}
	r.finish(nil)
	switch {
	case nothing:
		r.lacks(&o.Selection, nil, lack{what: "collections", recording: report.RecordCollections})
	case o.output != "-":
		o.summarize(std, outs, held(c))
	}
	return nil
}

// noSnapshot says that a trace has no heap snapshot.
func (o *convertOptions) noSnapshot(r *reading) string {
	switch {
	case o.gc != 0:
		return fmt.Sprintf("no heap snapshot of GC %d; list the snapshots with: gctrail objects FILE", o.gc)
	case len(o.Flags()) > 0:
		return "no heap snapshot in the selected part of this trace"
	}
	return "no heap snapshot in " + r.extent() + "; take one with: gctrail dump -p PID"
}

// notWhole says that a heap snapshot lacks objects, and which one it is.
func notWhole(s *heap.Snapshot) string {
	switch {
	case s.Sampled:
		return "the heap snapshot is a sample of the objects"
	case s.Number > 0:
		return "the snapshot of " + s.Label() + " is not whole"
	}
	return "the heap snapshot is not whole"
}

// report writes the report on one trace.
func (o *convertOptions) report(ctx context.Context, std *stdio, paths []string) error {
	of := newReportOptions()
	of.inputFlags, of.perfMap = o.inputFlags, o.perfMap
	rep, err := of.gather(ctx, std, paths)
	if err != nil {
		return err
	}
	outs, err := o.create(std, paths)
	if err != nil {
		return err
	}
	return outs[0].end(writeMarkdown(outs[0], rep.WriteMarkdown))
}

// events writes the events of one trace.
func (o *convertOptions) events(ctx context.Context, std *stdio, paths []string) error {
	var events jsonl.Events
	r, err := std.read(ctx, paths, open.Options{
		Stacks: true,
		Want:   func(d *trace.Descriptor) bool { return convert.Wants(d) || o.wants(d, events.Name(d)) },
	})
	if err != nil {
		return err
	}
	defer r.Close()
	pids, err := o.processIDs(r)
	if err != nil {
		return err
	}
	opts := convert.EventOptions{Selected: &o.Selection, PIDs: pids}
	if o.redaction.On {
		opts.Redact, opts.Lost, err = o.redaction.learn(ctx, r)
	} else {
		opts.Lost, err = r.lossAhead(ctx)
	}
	if err != nil {
		return err
	}
	outs, err := o.create(std, paths)
	if err != nil {
		return err
	}
	written, err := convert.Events(r, outs[0], opts)
	nothing := errors.Is(err, convert.ErrNothing)
	if nothing {
		err = nil
	}
	if err := outs[0].end(err); err != nil {
		return err
	}
	r.finish(nil)
	if nothing {
		r.nothingSelected(&o.Selection, nil, "no event matches")
		return nil
	}
	said := text.Plural(int64(written.Events), "event", "events")
	if written.LeftOut > 0 {
		said += fmt.Sprintf("; %s left out: %s", text.Plural(int64(written.LeftOut), "event was", "events were"), o.unwritten())
	}
	if written.Refused > 0 {
		said += fmt.Sprintf("; %s lost: too large for the format", text.Plural(int64(written.Refused), "event was", "events were"))
	}
	if o.output != "-" {
		o.summarize(std, outs, said)
	}
	return nil
}

// unwritten returns why events are left out.
func (o *convertOptions) unwritten() string {
	if o.redaction.On {
		return "of kinds that the runtime does not define, or about code"
	}
	return "their fields are not known"
}

// create opens the outputs of one trace.
func (o *convertOptions) create(std *stdio, paths []string) ([]*output, error) {
	if !o.folder {
		out, err := std.create(o.output, o.files)
		return []*output{out}, err
	}
	if err := os.MkdirAll(o.output, 0o777); err != nil {
		return nil, &collect.OutputError{Name: o.output, Err: err, Kind: "folder"}
	}
	var outs []*output
	for _, name := range o.format.Files(withoutSuffixes(filepath.Base(paths[0]))) {
		out, err := std.create(filepath.Join(o.output, name), o.files)
		if err != nil {
			return nil, endAll(outs, err)
		}
		outs = append(outs, out)
	}
	return outs, nil
}

// endAll ends the outputs of work that may have failed, with err. Earlier files are
// replaced only once there is room for all outputs.
func endAll(outs []*output, err error) error {
	for _, out := range outs {
		if err == nil {
			err = out.Flush()
		}
	}
	for _, out := range outs {
		failed := out.end(err)
		if err == nil {
			err = failed
		}
	}
	return err
}

// held returns a summary of a file, in words.
func held(c *convert.Converter) string {
	if s := c.Snapshot; s != nil {
		said := text.Plural(s.Objects, "object", "objects")
		if c.Live > 0 {
			said = text.Plural(c.Live, "live object", "live objects")
		}
		if s.Number > 0 {
			said += " of " + s.Label()
		}
		if c.Snapshots > 1 {
			said += fmt.Sprintf(", the last of %d snapshots; choose another with --gc N", c.Snapshots)
		}
		return said
	}
	var words []string
	if c.Collections > 0 && !c.OnlyAllocations() {
		words = append(words, text.Plural(c.Collections, "collection", "collections"))
	}
	if c.Snapshots > 0 && !c.OnlyAllocations() {
		words = append(words, text.Counted(c.Snapshots, "heap snapshot"))
	}
	if c.Samples > 0 {
		words = append(words, text.Plural(c.Samples, "allocation sample", "allocation samples"))
	}
	if c.Requests > 0 {
		words = append(words, text.Plural(c.Requests, "span of requests", "spans of requests"))
	}
	said := strings.Join(words, " and ")
	if c.Snapshots > 0 && c.OnlyAllocations() {
		said += "; for the heap snapshot, add --by dominator"
	}
	if c.Incomplete > 0 {
		said += fmt.Sprintf("; %s not whole, and left out", text.Counted(c.Incomplete, "heap snapshot"))
	}
	if c.RequestsLeftOut > 0 {
		said += fmt.Sprintf("; %s left out: too many at once", text.Plural(c.RequestsLeftOut, "span was", "spans were"))
	}
	if c.LeftOut > 0 {
		said += fmt.Sprintf("; the last %s left out: limit the time with --from and --to", text.Plural(c.LeftOut, "collection was", "collections were"))
	}
	return said
}

// summarize prints a summary of the written file, and how to open it.
func (o *convertOptions) summarize(std *stdio, outs []*output, said string) {
	if o.redaction.On {
		said += "; not hashed: figures, times, process and thread ids, heap addresses, the runtime's version, the operating system"
	}
	if o.format.Next != "" {
		said += "; next: " + fmt.Sprintf(o.format.Next, text.Quoted(outs[0].name))
	}
	name := outs[0].name
	if o.folder {
		name = o.output
	}
	std.warn(name, said)
}
