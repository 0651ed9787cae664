package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/export/csv"
	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// A listing holds what allocs, pins, handles and the other commands that list a trace
// process by process have in common.
type listing struct {
	inputFlags
	files  []string
	format choice
	top    int
	sort   string
	output string
	raw    bool

	perHeap bool          // collections carry each heap's part
	names   *symbol.Table // of the methods in stacks; nil for none

	unselected func(*gc.Collection) // takes the collections that are not selected; nil for nothing
	rejected   int                  // events that are left out, because their sizes are impossible
}

// defaultTop is how many rows a table has.
const defaultTop = 20

// newListing returns the default options.
func newListing() listing {
	return listing{format: choice{"table", []string{"table", "jsonl", "csv"}}, top: -1}
}

// command adds the flags to a command, and has it run one for each trace.
func (l *listing) command(std *stdio, cmd *cobra.Command, names []string, one func(ctx context.Context, out *output, paths []string) error) *cobra.Command {
	cmd.Args = someFiles
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l.files = args
		if err := l.check(cmd, args); err != nil {
			return err
		}
		if l.sort != "" && !slices.Contains(names, l.sort) {
			return &usageError{unknownColumn(l.sort, names), cmd.CommandPath()}
		}
		out, err := std.create(l.output, l.files)
		if err != nil {
			return err
		}
		return out.end(each(l.groups(l.files), func(paths []string) error { return one(cmd.Context(), out, paths) }))
	}
	flags := cmd.Flags()
	flags.Var(&l.format, "format", "table, jsonl (JSON lines) or csv")
	flags.IntVar(&l.top, "top", -1, "only the first `N` rows of each process, 0 for all (default 20 in a table, otherwise all)")
	flags.Lookup("top").DefValue = "0" // which help does not show
	flags.StringVar(&l.sort, "sort", "", "sort by the csv column `NAME`: numbers in descending order, text in ascending order")
	flags.StringVarP(&l.output, "output", "o", "-", "write to this `file`; - is standard output")
	flags.BoolVar(&l.raw, "raw", false, rawHelp)
	l.addFlags(flags)
	std.complete(cmd, "format", l.format.of)
	std.complete(cmd, "sort", names)
	return cmd
}

// limit returns the number of rows to show, 0 for all.
func (l *listing) limit() int {
	switch {
	case l.top >= 0:
		return l.top
	case l.format.value == "table":
		return defaultTop
	default:
		return 0
	}
}

// scan reads a trace to its end. It passes each event to feed, and each selected
// collection to collection, which may be nil.
func (l *listing) scan(ctx context.Context, std *stdio, paths []string, opts open.Options, feed func(*trace.Info, *trace.Event), collection func(*gc.Collection)) (*scanned, error) {
	want := opts.Want
	opts.Want = func(d *trace.Descriptor) bool { return gc.Wants(d) || want(d) }
	r, err := std.read(ctx, paths, opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info := r.Info()
	r.feed, r.names = func(ev *trace.Event) { feed(info, ev) }, l.names
	s := &scanned{reading: r}
	s.model.PerHeap = l.perHeap
	for c, err := range r.Collections(&s.model) {
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

// during reports whether an event is in the selected time.
func (l *listing) during(info *trace.Info, ev *trace.Event) bool {
	return l.AllTimes() || l.HasTime(info, ev.Time())
}

// A scanned trace was read to its end.
type scanned struct {
	*reading
	model gc.Model
}

// process returns what is known of a process.
func (s *scanned) process(pid uint64) *gc.Process {
	for _, p := range s.model.Processes() {
		if p.PID == pid {
			return p
		}
	}
	return &gc.Process{PID: pid, Name: s.Info().Processes[pid].Name}
}

// called returns the name of a process in a heading.
func called(p *gc.Process) string {
	who := cmp.Or(p.Name, "a process")
	if p.PID != trace.UnknownID {
		who += fmt.Sprintf(" (pid %d)", p.PID)
	}
	return who
}

// A field is one figure of the rows of a listing.
type field[R any] struct {
	name    string // the key in JSON, and the heading in csv
	heading string // in tables, which leave out a field without one
	left    bool   // aligned
	rank    int    // in tables, those with the highest are left out first if there is no room
	value   func(*R) column.Value
	is      func(*R) gc.Certainty // by which tables mark the value; nil for no mark
}

func fieldNames[R any](fields []field[R]) []string {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].name
	}
	return names
}

// A rowWriter writes rows in the format of a listing.
type rowWriter[R any] struct {
	*listing
	std    *stdio
	out    *output
	fields []field[R]
	below  func(*R) []string // lines under a row of a table; nil for none

	headed bool // csv
	begun  int  // sections of tables
	whole  bool // a table has all rows unless --top is given
}

// section writes the rows of one process, in a table below what head writes.
func (w *rowWriter[R]) section(head func(*text.Page), rows []R) error {
	w.order(rows)
	all := len(rows)
	if n := w.limit(); n > 0 && n < all && !(w.whole && w.top < 0) {
		rows = rows[:n]
	}
	switch w.format.value {
	case "jsonl":
		return w.jsonl(rows)
	case "csv":
		return w.csv(rows)
	}
	p := newPage(w.std, w.out)
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
	_, err := w.out.Write(p.Bytes())
	return err
}

// sections writes the rows of each process that is selected, and what is
// missing of the trace. None is what is missing where no process has rows.
func sections[T, R any](s *scanned, std *stdio, w *rowWriter[R], totals []T,
	pid func(T) uint64, head func(*text.Page, *gc.Process, T), rows func(T) []R, none lack,
) error {
	shown := 0
	for _, t := range totals {
		p := s.process(pid(t))
		if !w.HasProcess(p) {
			continue
		}
		shown++
		if err := w.section(func(page *text.Page) { head(page, p, t) }, rows(t)); err != nil {
			return err
		}
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	std.warn(s.in.Name, report.Missing(s.in, nil))
	std.warn(s.in.Name, report.Unmerged(s.Merged()))
	if w.rejected > 0 {
		std.warn(s.in.Name, text.Counted(w.rejected, "event")+" with impossible sizes left out")
	}
	if shown == 0 {
		std.lacks(s.reading, &w.Selection, s.model.Processes(), none)
	}
	return nil
}

// order sorts the rows by the column of --sort.
func (w *rowWriter[R]) order(rows []R) {
	for _, f := range w.fields {
		if f.name != w.sort {
			continue
		}
		slices.SortStableFunc(rows, func(a, b R) int { return compareValues(f.value(&a), f.value(&b)) })
	}
}

// compareValues orders large numbers first, words alphabetically, and unknown values
// last.
func compareValues(a, b column.Value) int {
	switch {
	case a.Type == column.Unknown || b.Type == column.Unknown:
		return cmp.Compare(b.Type, a.Type)
	case a.Type == column.Text || a.Type == column.List:
		return cmp.Compare(a.Text, b.Text)
	}
	return cmp.Or(cmp.Compare(b.Int, a.Int), cmp.Compare(b.Float, a.Float))
}

func (w *rowWriter[R]) values(r *R) []column.Value {
	values := make([]column.Value, len(w.fields))
	for i := range w.fields {
		values[i] = w.fields[i].value(r)
	}
	return values
}

func (w *rowWriter[R]) jsonl(rows []R) error {
	names := fieldNames(w.fields)
	var line []byte
	for i := range rows {
		line = jsonl.AppendRow(line[:0], names, w.values(&rows[i]))
		if _, err := w.out.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func (w *rowWriter[R]) csv(rows []R) error {
	var line []byte
	if !w.headed {
		w.headed = true
		line = append(append(line, strings.Join(fieldNames(w.fields), ",")...), '\n')
	}
	for i := range rows {
		line = (&csv.Writer{Raw: w.raw}).AppendRow(line, w.values(&rows[i]))
		if _, err := w.out.Write(line); err != nil {
			return err
		}
		line = line[:0]
	}
	_, err := w.out.Write(line)
	return err
}

// table writes a table of rows, with the lines under them.
func (w *rowWriter[R]) table(p *text.Page, rows []R) {
	var columns []text.Column
	cells := make([][]string, len(rows))
	for _, f := range w.fields {
		if f.heading == "" {
			continue
		}
		columns = append(columns, text.Column{Heading: f.heading, Left: f.left, Rank: f.rank})
		for i := range rows {
			write := listCell
			if f.name == "pid" {
				write = cell // to be copied, so without separators
			}
			mark := ""
			if f.is != nil {
				mark = certaintyMarks[f.is(&rows[i])]
			}
			cells[i] = append(cells[i], mark+write(f.value(&rows[i])))
		}
	}
	var below func(int) []string
	if w.below != nil {
		below = func(i int) []string { return w.below(&rows[i]) }
	}
	p.List(columns, cells, below)
}
