package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/symbol"
)

type allocsOptions struct {
	listing
	by      choice
	source  choice
	perfMap perfMapFlag
}

// allocBys are the values of --by.
var allocBys = map[string]alloc.By{
	"type":       alloc.ByType,
	"stack":      alloc.ByStack,
	"type,stack": alloc.ByType | alloc.ByStack,
	"method":     alloc.ByMethod,
	"heap":       alloc.ByHeap,
}

// allocSources are the values of --source, but for auto.
var allocSources = map[string]alloc.Source{
	alloc.Sampled.String(): alloc.Sampled,
	alloc.Tick.String():    alloc.Tick,
	alloc.Object.String():  alloc.Object,
}

func newAllocsOptions() *allocsOptions {
	return &allocsOptions{
		listing: newListing("allocs", list.Names((&allocSection{}).fields(alloc.ByType|alloc.ByStack|alloc.ByMethod))),
		by:      choice{"type", []string{"type", "stack", "type,stack", "method", "heap"}},
		source:  choice{"auto", []string{"auto", alloc.Sampled.String(), alloc.Tick.String(), alloc.Object.String()}},
	}
}

func newAllocsCmd(std *stdio) *cobra.Command {
	opts := newAllocsOptions()
	cmd := opts.newCmd(std, opts, "List what a program allocates, by type, stack, method or heap", "allocations", "memory")
	flags := cmd.Flags()
	flags.Var(&opts.by, "by", "group by type, stack, type,stack, method (that allocates) or heap (small, large, pinned)")
	flags.Var(&opts.source, "source", "the events to use")
	opts.perfMap.addFlag(flags)
	return cmd
}

func (o *allocsOptions) run(ctx context.Context, std *stdio) error { return o.each(ctx, std, o.list) }

// list writes the allocations of one trace.
func (o *allocsOptions) list(ctx context.Context, std *stdio, out *output, paths []string) error {
	by := allocBys[o.by.value]
	var model alloc.Model
	var snapshots heap.Snapshots
	s := &allocSection{model: &model}
	l := modelList[alloc.Total, alloc.Row]{
		model: &model, beside: []pass.Model{&snapshots}, rejected: model.Rejected, collection: s.collection, fields: s.fields(by),
		pid:  func(t alloc.Total) uint64 { return t.PID },
		none: lack{what: "allocation events", recording: report.RecordAllocations},
	}
	asked := allocSources[o.source.value]
	if asked != alloc.SourceUnknown {
		l.none.what, l.none.partial = asked.Event()+" events", true
	}
	model.Types, model.KeepStarts = l.naming.wantTypes(), true
	if by&(alloc.ByStack|alloc.ByMethod) != 0 {
		var err error
		if model.Stacks, err = l.naming.wantStacks(&o.perfMap); err != nil {
			return err
		}
	}
	if by&alloc.ByStack != 0 {
		l.below = func(r *alloc.Row) []string { return stackLines(model.Stacks, r.Stack) }
	}
	l.totals = func() []alloc.Total {
		loss := l.scan.Loss()
		s.lossy = loss.Incomplete() || model.Rejected() > 0
		return slices.DeleteFunc(model.Totals(), func(t alloc.Total) bool { return t.Source != cmp.Or(asked, model.BestSource(t.PID)) })
	}
	l.rows = func(t alloc.Total) []alloc.Row {
		s.total, s.seconds = t, o.watched(l.scan, t.PID).Seconds()
		s.over = s.overcounts(&t)
		return model.Rows(t.PID, t.Source, by)
	}
	l.head = func(p *text.Page, of *gc.Process, t alloc.Total) {
		s.head(p, of, &t)
		writeSnapshot(p, &model, snapshots.All(), t.PID, paths)
		l.naming.writeUnresolved(p, "samples", report.Record(of, l.scan.Info().Format, report.RecordAllocations), func(tally *symbol.Tally) {
			for _, r := range model.Rows(t.PID, t.Source, alloc.ByStack) {
				tally.Add(model.Stacks, r.Stack, r.Samples)
			}
		})
	}
	return l.list(ctx, &o.listing, std, out, paths)
}

// An allocSection holds the allocations of a process until their rows are written.
type allocSection struct {
	model   *alloc.Model
	lossy   bool
	total   alloc.Total // of the process whose rows are written
	over    bool        // its events count more than was allocated
	seconds float64     // that this process was watched
	sums    sums[uint64, collectedAllocs]
}

// collectedAllocs are the bytes allocated between the collections of a process,
// according to heap histories and according to events.
type collectedAllocs struct {
	before      alloc.BySource // the latest collection
	known       bool
	collections int // that have both
	histories   int64
	atLeast     bool // histories is a lower bound
	events      alloc.BySource
}

// collection adds the bytes that were allocated since the previous collection.
func (s *allocSection) collection(c *gc.Collection) {
	sum := s.sums.of(c.Process.PID)
	before, known := s.model.TakeBefore(c.Process.PID, c.Number)
	if allocated, ok := c.Allocated.Get(); ok && known && sum.known {
		sum.collections++
		sum.histories += allocated
		sum.atLeast = sum.atLeast || c.AllocatedQuality == gc.LowerBound
		for i := range before {
			sum.events[i] += before[i] - sum.before[i]
		}
	}
	sum.before, sum.known = before, known
}

func (s *allocSection) fields(by alloc.By) []list.Field[alloc.Row] {
	all := []struct {
		by alloc.By // that it is a part of
		list.Field[alloc.Row]
	}{
		{0, list.Field[alloc.Row]{Name: "pid", Type: figure.Int, Value: func(r *alloc.Row) figure.Value { return list.PID(r.PID) }}},
		{0, list.Field[alloc.Row]{Name: "bytes", Heading: "MB", Type: figure.Bytes, Value: func(r *alloc.Row) figure.Value { return list.Bytes(r.Bytes) }}},
		{0, list.Field[alloc.Row]{Name: "share_pct", Heading: "%", Type: figure.Percent, Value: func(r *alloc.Row) figure.Value { return list.Share(r.Bytes, s.total.Bytes) }}},
		{0, list.Field[alloc.Row]{Name: "low_bytes", Heading: "95 % from", Rank: 3, Type: figure.Bytes, Value: func(r *alloc.Row) figure.Value { return list.If(!s.over, list.Bytes(r.Low)) }}},
		{0, list.Field[alloc.Row]{Name: "high_bytes", Heading: "to MB", Rank: 3, Type: figure.Bytes, Value: func(r *alloc.Row) figure.Value { return list.If(!r.Open && !s.over, list.Bytes(r.High)) }}},
		{alloc.ByMethod, list.Field[alloc.Row]{Name: "inclusive_bytes", Heading: "with callees MB", Type: figure.Bytes, Value: func(r *alloc.Row) figure.Value {
			return list.If(r.Method != "", list.Bytes(r.Inclusive))
		}}},
		{0, list.Field[alloc.Row]{Name: "samples", Heading: "samples", Rank: 2, Type: figure.Int, Value: func(r *alloc.Row) figure.Value { return list.Count(r.Samples) }}},
		{0, list.Field[alloc.Row]{Name: "bytes_per_s", Heading: "MB/s", Rank: 1, Type: figure.Bytes, Value: func(r *alloc.Row) figure.Value {
			return list.If(s.seconds > 0, list.Bytes(units.IntCapped(float64(r.Bytes)/s.seconds)))
		}}},
		{alloc.ByType | alloc.ByHeap, list.Field[alloc.Row]{Name: "heap", Heading: "heap", Left: true, Type: figure.Text, Value: func(r *alloc.Row) figure.Value { return list.Word(r.Heap.String()) }}},
		{alloc.ByType, list.Field[alloc.Row]{Name: "type", Heading: "type", Left: true, Type: figure.Text, Value: func(r *alloc.Row) figure.Value { return list.Word(r.Type) }}},
		{alloc.ByMethod, list.Field[alloc.Row]{Name: "method", Heading: "method", Left: true, Type: figure.Text, Value: func(r *alloc.Row) figure.Value { return list.Word(r.Method) }}},
		{alloc.ByStack, list.Field[alloc.Row]{Name: "stack", Type: figure.List, Value: func(r *alloc.Row) figure.Value { return list.Words(stackNames(s.model.Stacks, r.Stack)) }}},
		{0, list.Field[alloc.Row]{Name: "source", Type: figure.Text, Value: func(r *alloc.Row) figure.Value { return list.Word(r.Source.String()) }}},
	}
	var fields []list.Field[alloc.Row]
	for _, f := range all {
		if f.by == 0 || f.by&by != 0 {
			fields = append(fields, f.Field)
		}
	}
	return fields
}

// why describes the quality of a source.
var why = map[alloc.Source]string{
	alloc.Sampled: "unbiased estimates from a sample of all bytes",
	alloc.Tick:    "totals are complete; " + ofTicks,
	alloc.Object:  "all objects are counted, up to each type's last event",
}

// ofTicks describes the types that allocation ticks have.
const ofTicks = "each type is that of the object that crossed 100 KB"

// mark returns how a total compares with the true one. It is a lower bound if events were
// lost, or come only after more objects of a type. Otherwise it is an estimate, because
// events are samples or count whole allocation contexts.
func (s *allocSection) mark(t *alloc.Total) string {
	if t.Open || s.lossy {
		return gc.LowerBound.Mark()
	}
	return gc.Estimate.Mark()
}

// overcounts reports whether the events of a total count more than was allocated. Where collections
// are missing or their figures lower bounds, the histories are no measure.
func (s *allocSection) overcounts(t *alloc.Total) bool {
	sum := s.sums.by[t.PID]
	return sum != nil && !s.lossy && !sum.atLeast && t.Source.Overcounts(int64(sum.events[t.Source]), sum.histories)
}

// head prints the total, the events that it is counted from, and how far they agree with the
// heap histories.
func (s *allocSection) head(p *text.Page, of *gc.Process, t *alloc.Total) {
	over := s.overcounts(t)
	counted, rate, mark := "allocated", "", s.mark(t)
	if over {
		counted, mark = "counted, more than was allocated,", ""
	}
	if s.seconds > 0 {
		rate = ", " + mark + units.Bytes(units.IntCapped(float64(t.Bytes)/s.seconds)) + "/s"
	}
	p.Heading("%s: %s %s in %s s%s", called(of), mark+units.Bytes(t.Bytes), counted, units.Number(s.seconds), rate)
	quality := why[t.Source]
	switch {
	case over:
		quality = ofTicks
	case t.Source == alloc.Tick && s.lossy:
		quality = "totals lack what was lost; " + ofTicks
	}
	source := fmt.Sprintf("%s %s: %s", units.Count(t.Samples), t.Source.Event(), quality)
	if t.Low != t.High {
		source += fmt.Sprintf(" (95 %%: %s to %s)", units.Bytes(t.Low), units.Bytes(t.High))
	}
	p.Prose("Source: ", source+".")
	if sum := s.sums.by[of.PID]; sum != nil && sum.histories > 0 {
		events := sum.events[t.Source]
		check := fmt.Sprintf("between collections, the events add up to %s and the heap histories to %s (%+.1f %%), in %s.",
			units.Bytes(int64(events)), units.Bytes(sum.histories), 100*(events/float64(sum.histories)-1), text.Counted(sum.collections, "collection"))
		if over {
			check += " Trust the histories: the events count whole allocation contexts, and .NET 5 and earlier count parts of them again."
		}
		p.Prose("Check: ", check)
	}
}

// watched returns how long a process was watched in the selected part of the trace, or how long
// that part is if no event of the process has a time.
func (l *listing) watched(s *scanned, pid uint64) time.Duration {
	from, to := l.Span(s.Info())
	p := *s.model.Process(pid)
	p.Stopped = cmp.Or(p.Stopped, s.Info().Last)
	return p.Watched(from, to)
}
