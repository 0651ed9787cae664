package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// A listing holds the common flags of allocs, pins, handles and the other commands that
// list a trace process by process.
type listing struct {
	inputFlags
	redaction redaction // of lists with the flags for it
	command   string    // without gctrail
	sortable  []string
	files     []string
	format    choice
	top       int
	sort      string
	output    string
	raw       bool
	file      *list.File // in output

	info    *trace.Info     // of the trace that is read
	perHeap bool            // collections carry each heap's part
	byID    bool            // ids are needed while events are read
	ids     map[uint64]bool // of the selected processes; nil for all
	stacks  bool            // of events are read
	names   *symbol.Table   // of the methods in stacks; nil for none

	heapDump   func(io.Reader) error // takes the content of a .gcdump file; nil to refuse these
	unselected func(*gc.Collection)  // called with the collections that are not selected; may be nil
	rejected   int                   // events that are left out, because their sizes are impossible
}

// defaultTop is how many rows a table has.
const defaultTop = 20

// newListing returns the default options of a command, whose rows can be sorted by the
// fields of the given names.
func newListing(command string, names []string) listing {
	return listing{command: command, sortable: names, format: choice{list.Table, list.Formats()}, top: -1, output: "-"}
}

// newCmd returns the command, with the flags of all lists; others are words for which cobra
// suggests the command.
func (l *listing) newCmd(std *stdio, o options, short string, others ...string) *cobra.Command {
	cmd := newCmd(std, o, l.command+" FILE...", short, someFiles(&l.files))
	cmd.SuggestFor = others
	flags := cmd.Flags()
	l.addOutputFlags(flags, listFormats)
	flags.IntVar(&l.top, "top", -1, "only the first `N` rows of each process, 0 for all (default 20 in a table, otherwise all)")
	flags.Lookup("top").DefValue = "0" // which help does not show
	flags.StringVar(&l.sort, "sort", "", "sort by the csv column `NAME`: numbers in descending order, text in ascending order")
	l.addFlags(flags)
	std.complete(cmd, "sort", l.sortable)
	return cmd
}

// addOutputFlags adds the flags for the output, in some formats.
func (l *listing) addOutputFlags(flags *pflag.FlagSet, formats string) {
	flags.Var(&l.format, "format", formats)
	flags.StringVarP(&l.output, "output", "o", "-", "write to this `file`; - is standard output")
	flags.BoolVar(&l.raw, "raw", false, "in csv, do not escape text that a spreadsheet would take for a formula")
}

// listFormats describes the flag --format of lists.
const listFormats = "table, jsonl (JSON lines), csv or parquet"

// refuseBinary refuses to write parquet to a terminal.
func refuseBinary(std *stdio, format, output string) error {
	if format == list.Parquet && output == "-" && std.outTerm.Is {
		return misusef("refusing to write parquet, a binary format, to a terminal: redirect standard output, or use -o FILE")
	}
	return nil
}

func (l *listing) conflict() error {
	err := l.inputFlags.conflict(l.files)
	if l.sort != "" && !slices.Contains(l.sortable, l.sort) {
		err = cmp.Or(err, unknownColumn(l.sort, l.sortable))
	}
	return err
}

// each calls one for each trace, or for several that are merged.
func (l *listing) each(ctx context.Context, std *stdio, one func(ctx context.Context, std *stdio, out *output, paths []string) error) error {
	out, err := l.create(std, l.files)
	if err != nil {
		return err
	}
	return l.end(out, each(l.groups(l.files), func(paths []string) error { return one(ctx, std, out, paths) }))
}

// create opens the output of a list.
func (l *listing) create(std *stdio, inputs []string) (*output, error) {
	if err := refuseBinary(std, l.format.value, l.output); err != nil {
		return nil, err
	}
	out, err := std.create(l.output, inputs)
	if err != nil {
		return nil, err
	}
	l.file = &list.File{Out: out, Format: l.format.value, Name: l.command, Raw: l.raw}
	return out, nil
}

// end ends the output of a list that may have failed, with err.
func (l *listing) end(out *output, err error) error {
	return out.end(errors.Join(err, l.file.Close()))
}

// limit returns the number of rows to show, 0 for all.
func (l *listing) limit() int {
	switch {
	case l.top >= 0:
		return l.top
	case l.format.value == list.Table:
		return defaultTop
	default:
		return 0
	}
}

// scan reads a trace to its end and feeds it to models. It calls collection, which may be
// nil, with each selected collection.
func (l *listing) scan(ctx context.Context, std *stdio, paths []string, models []pass.Model, collection func(*gc.Collection)) (*scanned, error) {
	all := append(slices.Clip(models), new(gc.Model))
	r, err := l.redaction.read(ctx, std, paths, open.Options{Want: pass.Wants(all...), Head: pass.Head(all...), Runs: pass.Runs(all...), Stacks: l.stacks, HeapDumps: l.heapDump != nil})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if dump := r.In.HeapDump; dump != nil {
		if err := l.heapDump(dump); err != nil {
			return nil, r.Fail(err)
		}
		return &scanned{reading: r}, nil
	}
	l.info, r.Names = r.Info(), l.names
	if l.byID {
		if l.ids, err = l.processIDs(r); err != nil {
			return nil, err
		}
	}
	s := &scanned{reading: r}
	s.model.PerHeap = l.perHeap
	for c, err := range r.Collections(&s.model, models...) {
		if err != nil {
			return nil, err
		}
		if selected := l.HasCollection(r.Info(), c); selected && collection != nil {
			collection(c)
		} else if !selected && l.unselected != nil {
			l.unselected(c)
		}
	}
	return s, nil
}

// has reports whether a time of the trace is selected.
func (l *listing) has(at time.Duration) bool { return l.HasTime(l.info, at) }

// during returns a model that is given the events of the selected time.
func (l *listing) during(m pass.Model) pass.Model {
	if l.AllTimes() {
		return m
	}
	return pass.When(l.has, m)
}

// A scanned trace was read to its end.
type scanned struct {
	*reading
	model gc.Model
}

// called returns the name of a process in a heading.
func called(p *gc.Process) string {
	switch {
	case p.PID == trace.UnknownID:
		return cmp.Or(p.Name, "a process")
	case p.Name == "":
		return fmt.Sprintf("pid %d, name unknown", p.PID)
	}
	return fmt.Sprintf("%s (pid %d)", p.Name, p.PID)
}

// A rowWriter writes the rows of one process after the other.
type rowWriter[R any] struct {
	*listing
	std   *stdio
	out   *output
	rows  *list.Writer[R]
	below func(*R) []string // lines under a row of a table; nil for none

	begun int  // sections of tables
	whole bool // a table has all rows unless --top is given
}

func newRowWriter[R any](l *listing, std *stdio, out *output, fields []list.Field[R]) *rowWriter[R] {
	return &rowWriter[R]{listing: l, std: std, out: out, rows: list.NewWriter(l.file, fields)}
}

// section writes the rows of one process, in a table below what head writes.
func (w *rowWriter[R]) section(head func(*text.Page), rows []R) error {
	list.Sort(rows, w.rows.Fields, w.sort)
	all := len(rows)
	if n := w.limit(); n > 0 && n < all && !(w.whole && w.top < 0) {
		rows = rows[:n]
	}
	if w.format.value != list.Table {
		return w.rows.Rows(rows)
	}
	return w.std.writePage(w.out, func(p *text.Page) {
		if w.begun++; w.begun > 1 {
			p.Line("")
		}
		head(p)
		if len(rows) > 0 {
			p.Line("")
			w.table(p, rows)
		}
		if more := all - len(rows); more > 0 {
			p.Prose("", text.Plural(int64(more), "more row", "more rows")+"; --top 0 shows all.")
		}
	})
}

// table writes a table of rows, with the lines under them.
func (w *rowWriter[R]) table(p *text.Page, rows []R) {
	cells := text.Each(rows, func(r *R) []string { return list.Cells(w.rows.Fields, r) })
	var below func(int) []string
	if w.below != nil {
		below = func(i int) []string { return w.below(&rows[i]) }
	}
	p.List(list.Columns(w.rows.Fields), cells, below)
}

// sections writes the rows of each selected process, and warns of gaps in the trace. None is
// the warning where no process has rows.
func sections[T, R any](s *scanned, w *rowWriter[R], totals []T,
	pid func(T) uint64, head func(*text.Page, *gc.Process, T), rows func(T) []R, none lack,
) error {
	shown := 0
	for _, t := range totals {
		p := s.model.Process(pid(t))
		if !w.HasProcess(p) {
			continue
		}
		shown++
		if err := w.section(func(page *text.Page) { head(page, p, t) }, rows(t)); err != nil {
			return err
		}
	}
	return w.finish(s, w.out, shown, none)
}

// finish writes the rest of the rows of a trace, and warns of its gaps, and if it shows none of its
// processes.
func (l *listing) finish(s *scanned, out *output, shown int, none lack) error {
	if err := out.Flush(); err != nil {
		return err
	}
	s.finish(nil)
	if l.rejected > 0 {
		s.Warn(text.Counted(l.rejected, "event") + " with impossible sizes left out")
	}
	if shown == 0 {
		s.lacks(&l.Selection, s.model.Processes(), none)
	}
	return nil
}
