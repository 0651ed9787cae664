package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
)

type gcsOptions struct {
	listing
	columns     wordList
	generations choices
	kinds       choices
	reasons     choices
	minPause    selection.Duration
	pauseAbove  pauseAbove
	metrics     bool
	metricsAs   choice

	chosen   []figure.Figure // nil means the format's own
	perfview string          // which of PerfView's tables; empty for none
}

func newGCsOptions() *gcsOptions {
	return &gcsOptions{
		listing:     newListing("gcs", nil),
		metricsAs:   choice{asOwn, []string{asOwn, asTraceEvent}},
		generations: choices{kind: "N", of: []string{"0", "1", "2"}},
		kinds:       choices{kind: "KIND", of: []string{gc.Blocking.String(), gc.Background.String(), gc.Foreground.String()}},
		reasons:     choices{kind: "NAME", of: reasons()},
	}
}

func newGCsCmd(std *stdio) *cobra.Command {
	opts := newGCsOptions()
	cmd := newCmd(std, opts, "gcs FILE...", "List every garbage collection", someFiles(&opts.files))
	cmd.SuggestFor = []string{"collections", "log", "list-gcs"}
	flags := cmd.Flags()
	opts.addOutputFlags(flags, listFormats)
	flags.Var(&opts.columns, "columns", "the columns of a table, csv or parquet, also by the words of --until, as in number,pause,heap; or perfview")
	flags.Var(&opts.generations, "gen", "only collections of these generations")
	flags.Var(&opts.kinds, "kind", "only blocking, background or foreground collections")
	flags.Var(&opts.reasons, "reason", "only collections with these reasons, as in AllocSmall,Induced")
	flags.Var(&opts.minPause, "min-pause", "only collections with a pause of at least this long: 10ms, or a number of milliseconds")
	flags.Var(&opts.pauseAbove, "pause-above", "only collections with a pause as long as this, or longer: 50ms, or a percentile of the pauses of each process, p99")
	flags.BoolVar(&opts.perHeap, "per-heap", false, "one row for each heap of a collection")
	flags.BoolVar(&opts.metrics, "metrics", false, "instead of the collections, the run metrics of Microsoft's GC.Infrastructure, by their names there")
	flags.Var(&opts.metricsAs, "metrics-as", "whose figures metrics are computed from: gctrail's, or TraceEvent's as there")
	opts.addFlags(flags)
	std.completeList(cmd, "columns", func() []string { return append(columnWords(), "perfview") })
	return cmd
}

// columnHelp lists the names of the columns, but names of generations only once.
func columnHelp() string {
	var b, line strings.Builder
	for _, c := range figure.All() {
		name := c.Key
		if strings.HasPrefix(name, "gen1_") || strings.HasPrefix(name, "gen2_") ||
			strings.HasPrefix(name, "loh_") || strings.HasPrefix(name, "poh_") {
			continue
		}
		if stem, ok := strings.CutPrefix(name, "gen0_"); ok {
			name = "GEN_" + stem
		}
		if line.Len()+len(name) > 76 {
			b.WriteString(line.String() + "\n")
			line.Reset()
		}
		line.WriteString("  " + name)
	}
	return b.String() + line.String() + "\nwhere GEN is gen0, gen1, gen2, loh or poh.\n"
}

func (o *gcsOptions) conflict() error {
	switch {
	case o.perHeap && len(o.columns) > 0:
		return errors.New("--per-heap has columns of its own; leave out --columns")
	case o.metrics && (o.perHeap || len(o.columns) > 0):
		return errors.New("--metrics sums collections up; leave out --per-heap and --columns")
	case !o.metrics && o.metricsAs.value != asOwn:
		return errors.New("--metrics-as needs --metrics")
	case o.pauseAbove.percentile > 0 && slices.Contains(o.files, "-"):
		return errors.New("--pause-above with a percentile needs a file that can be read twice; give a length, as in 50ms")
	}
	return cmp.Or(o.choose(), o.listing.conflict())
}

func (o *gcsOptions) run(ctx context.Context, std *stdio) error {
	out, err := o.create(std, o.files)
	if err != nil {
		return err
	}
	var one func(paths []string) error
	switch {
	case o.metrics:
		one = func(paths []string) error { return o.account(ctx, std, out, paths, o.listMetrics) }
	case o.perfview != "":
		one = func(paths []string) error { return o.account(ctx, std, out, paths, o.listPerfview) }
	default:
		w := o.newWriter(std, out)
		one = func(paths []string) error { return o.list(ctx, std, out, w, paths) }
	}
	return o.end(out, withSpare(func() error { return each(o.groups(o.files), one) }))
}

// list writes the collections of one trace, or of several merged.
func (o *gcsOptions) list(ctx context.Context, std *stdio, out *output, w *stream, paths []string) error {
	thresholds, err := o.thresholds(ctx, std, paths)
	if err != nil {
		return err
	}
	m := gc.Model{PerHeap: o.perHeap, Reuse: true}
	r, err := std.read(ctx, paths, open.Options{Want: pass.Wants(&m), Head: pass.Head(&m), Runs: pass.Runs(&m)})
	if err != nil {
		return err
	}
	defer r.Close()
	if err := w.begin(r); err != nil {
		return err
	}
	var incomplete []uint32
	all, kept := 0, 0
	for c, err := range r.Collections(&m) {
		if err != nil {
			return errors.Join(w.end(), err)
		}
		all++
		if !c.Complete {
			incomplete = append(incomplete, c.Number)
		}
		if !o.keeps(r, c) || !o.isLong(c, thresholds) {
			continue
		}
		kept++
		if err := w.add(c); err != nil {
			return err
		}
	}
	if err := errors.Join(w.end(), out.Flush()); err != nil {
		return err
	}
	r.finish(incomplete)
	o.warnEmpty(r, m.Processes(), all, kept)
	return nil
}

// warnEmpty warns that a trace has no collections, or none that the options keep.
func (o *gcsOptions) warnEmpty(r *reading, processes []*gc.Process, all, kept int) {
	switch {
	case all == 0:
		r.lacks(new(selection.Selection), processes, lack{what: "collections", recording: report.RecordCollections})
	case kept == 0:
		r.nothingSelected(&o.Selection, processes, "none of the "+text.Plural(int64(all), "collection", "collections")+" matches")
	}
}

// keeps reports whether the options select c.
func (o *gcsOptions) keeps(r *reading, c *gc.Collection) bool {
	return o.HasCollection(r.Info(), c) &&
		(len(o.generations.values) == 0 || c.Generation.Known() && o.generations.allows(strconv.Itoa(c.Generation.Or(0)))) &&
		o.kinds.allows(c.Kind.String()) &&
		(len(o.reasons.values) == 0 || c.Reason.Known() && o.reasons.allows(c.Reason.Or(0).String())) &&
		pausesSeen(c) >= time.Duration(o.minPause)
}

// pausesSeen returns how long c paused the program, as far as the trace shows it.
func pausesSeen(c *gc.Collection) time.Duration {
	var sum time.Duration
	for i := range c.Pauses {
		sum += c.Pauses[i].Duration
	}
	return sum
}

// choose finds the columns that --columns names.
func (o *gcsOptions) choose() error {
	if len(o.columns) == 0 {
		return nil
	}
	if o.format.value == "jsonl" {
		return errors.New("--columns needs --format table, csv or parquet: JSON lines have all keys")
	}
	if theirs, err := o.choosePerfview(); theirs {
		return err
	}
	for _, name := range o.columns {
		c, err := columnCalled(name)
		if err != nil {
			return err
		}
		o.chosen = append(o.chosen, c)
	}
	return nil
}

// newWriter returns the writer of the collections of all traces.
func (o *gcsOptions) newWriter(std *stdio, out *output) *stream {
	w := &stream{std: std, out: out, perHeap: o.perHeap, asked: o.chosen != nil, several: len(o.files) > 1}
	if o.perHeap {
		w.rows = list.NewWriter(o.file, perHeapFields())
		return w
	}
	o.file.Name = "collections" // as convert calls them
	start := func() time.Time { return w.r.Info().Start }
	w.rows = list.NewWriter(o.file, o.fields(start))
	w.rows.AppendLine = func(dst []byte, r *heapRow) []byte { return jsonl.AppendCollection(dst, start(), r.Collection) }
	return w
}

// columnField returns a column of collections as a field of rows that have one.
func columnField[R any](c figure.Figure, of func(*R) *gc.Collection) list.Field[R] {
	f := list.Field[R]{Name: c.Key, Heading: c.Heading, Type: c.Type, Left: c.Type == figure.Text, Rank: 1}
	f.Value = func(r *R) figure.Value { return c.Value(of(r)) }
	if c.Is != nil {
		f.Is = func(r *R) gc.Certainty { return c.Is(of(r)) }
	}
	return f
}

// identity returns the fields that say which collection a row is of, and how it was, from
// the table of figures. Lists have a heading for each process, and no column.
func identity[R any](of func(*R) *gc.Collection, ranks map[string]int, keys ...string) []list.Field[R] {
	fields := make([]list.Field[R], len(keys))
	for i, key := range keys {
		c, _ := figure.Named(key)
		fields[i] = columnField(c, of)
		fields[i].Rank = ranks[key]
		if key == "pid" {
			fields[i].Heading = ""
		}
	}
	return fields
}

// fields returns the fields of a row for each collection.
func (o *gcsOptions) fields(start func() time.Time) []list.Field[heapRow] {
	var fields []list.Field[heapRow]
	if o.chosen == nil && o.format.value == list.Table {
		for _, c := range figure.InList() {
			f := columnField(c, (*heapRow).collection)
			f.Rank, f.Varies = c.Listed.Rank, c.Listed.Varies
			fields = append(fields, f)
		}
		return fields
	}
	if o.format.value == list.Parquet { // a file of collections of several traces
		fields = append(fields, list.Field[heapRow]{Name: "start_time", Type: figure.Time, Value: func(r *heapRow) figure.Value {
			return list.Opt(r.Start, func(at time.Duration) figure.Value { return figure.Instant(start(), at) })
		}})
	}
	columns := o.chosen
	if columns == nil {
		columns = figure.All()
	}
	for _, c := range columns {
		fields = append(fields, columnField(c, (*heapRow).collection))
	}
	return fields
}

// reasons returns the names that a collection's reason can have.
func reasons() []string {
	var names []string
	for r := clr.GCReason(0); ; r++ {
		name := r.String()
		if strings.HasSuffix(name, ")") { // GCReason(18)
			return names
		}
		names = append(names, name)
	}
}

// columnCalled returns the column of a name, as it is called in files, in --until,
// in headings, or by report --explain.
func columnCalled(name string) (figure.Figure, error) {
	candidates := []string{name}
	for _, c := range figure.All() {
		if c.Until != nil && strings.EqualFold(c.Until.Word, name) {
			candidates = append(candidates, c.Key)
		}
	}
	candidates = append(candidates, report.Key(name))
	for _, c := range figure.All() {
		if strings.EqualFold(c.Heading, name) {
			candidates = append(candidates, c.Key)
		}
	}
	for _, f := range report.Definitions(name) {
		candidates = append(candidates, f.Keys...)
	}
	for _, candidate := range candidates {
		if c, ok := figure.Named(candidate); ok {
			return c, nil
		}
	}
	return figure.Figure{}, unknownColumn(name, columnWords())
}

// columnWords returns the words that --columns takes, the short ones first.
func columnWords() []string {
	var words, keys []string
	for _, c := range figure.All() {
		if c.Until != nil && c.Until.Word != c.Key {
			words = append(words, c.Until.Word)
		}
		keys = append(keys, c.Key)
	}
	slices.Sort(words)
	return append(words, keys...)
}
