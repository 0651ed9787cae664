package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

func phaseFields() []list.Field[background.Collection] {
	type row = background.Collection
	fields := []list.Field[row]{
		{Name: "pid", Type: figure.Int, Value: func(r *row) figure.Value { return list.PID(r.PID) }},
		{Name: "number", Heading: "GC", Type: figure.Int, Value: func(r *row) figure.Value { return list.Count(r.Number) }},
		{Name: "start_ms", Heading: "start ms", Rank: 4, Type: figure.Millis, Value: func(r *row) figure.Value { return list.Time(r.Start) }},
		{Name: "duration_ms", Heading: "ms", Type: figure.Millis, Value: func(r *row) figure.Value { return list.Time(r.End - r.Start) }},
	}
	headings := [background.NumPhases]string{"initial mark", "mark", "wait", "final mark", "", "sweep"}
	for phase := range background.NumPhases {
		fields = append(fields, list.Field[row]{
			Name: phase.String() + "_ms", Heading: headings[phase], Type: figure.Millis,
			Value: func(r *row) figure.Value {
				return list.Opt(r.Phases[phase], func(in background.Interval) figure.Value { return list.Time(in.Duration) })
			},
		})
	}
	return append(fields,
		list.Field[row]{Name: "foreground_gcs", Heading: "GCs inside", Rank: 1, Type: figure.Int, Value: func(r *row) figure.Value { return list.Count(r.Foreground) }},
		list.Field[row]{Name: "drained_objects", Type: figure.Int, Value: func(r *row) figure.Value { return list.Count(r.Drained) }},
		list.Field[row]{Name: "revisited_pages", Heading: "pages again", Rank: 3, Type: figure.Int, Value: func(r *row) figure.Value { return list.Count(r.Pages) }},
		list.Field[row]{Name: "revisited_objects", Heading: "objects again", Rank: 2, Type: figure.Int, Value: func(r *row) figure.Value { return list.Count(r.Objects) }},
		list.Field[row]{Name: "final_objects", Type: figure.Int, Value: func(r *row) figure.Value { return list.Count(r.Final) }},
		list.Field[row]{Name: "overflows", Type: figure.Int, Value: func(r *row) figure.Value { return list.Count(r.Overflows) }},
		list.Field[row]{Name: "overflow_objects", Type: figure.Int, Value: func(r *row) figure.Value { return list.Count(r.Overflown) }},
		list.Field[row]{Name: "alloc_waits", Type: figure.Int, Value: func(r *row) figure.Value { return list.Count(r.Waits) }},
		list.Field[row]{Name: "alloc_wait_ms", Type: figure.Millis, Value: func(r *row) figure.Value { return list.Time(r.Waiting) }})
}

type phasesOptions struct {
	listing
	blocking bool
}

func newPhasesOptions() *phasesOptions {
	names := slices.Concat(list.Names(phaseFields()), list.Names(phaseTimeFields()))
	slices.Sort(names)
	return &phasesOptions{listing: newListing("phases", slices.Compact(names))}
}

func newPhasesCmd(std *stdio) *cobra.Command {
	opts := newPhasesOptions()
	cmd := opts.newCmd(std, opts, "Show the phases of background GCs")
	cmd.Flags().BoolVar(&opts.blocking, "blocking", false, "show the phases in which threads are suspended, of all GCs")
	return cmd
}

func (o *phasesOptions) run(ctx context.Context, std *stdio) error {
	if o.blocking {
		return o.each(ctx, std, o.listPhaseTimes)
	}
	return o.each(ctx, std, o.listPhases)
}

// A phaseSum is the background collections of one process.
type phaseSum struct {
	pid  uint64
	rows []background.Collection
}

func (l *listing) listPhases(ctx context.Context, std *stdio, out *output, paths []string) error {
	w := newRowWriter(l, std, out, phaseFields())
	var all sums[uint64, phaseSum]
	rows := 0
	model := background.Model{Done: func(c *background.Collection) {
		if rows >= maxHeapRows || !l.has(c.Start) {
			return
		}
		s := all.of(c.PID)
		s.pid, s.rows = c.PID, append(s.rows, *c)
		rows++
	}}
	scan, err := l.scan(ctx, std, paths, []pass.Model{&model}, nil)
	if err != nil {
		return err
	}
	end := scan.Info().Last
	return sections(scan, w, all.all, func(s *phaseSum) uint64 { return s.pid },
		func(p *text.Page, of *gc.Process, s *phaseSum) { s.head(p, of, end) },
		func(s *phaseSum) []background.Collection { return s.rows },
		lack{what: "phases of background GCs", recording: report.RecordPhases})
}

// head sums up the phases, and shows when they were.
func (s *phaseSum) head(p *text.Page, of *gc.Process, end time.Duration) {
	var sums, longest [background.NumPhases]time.Duration
	for i := range s.rows {
		for phase, p := range s.rows[i].Phases {
			in := p.Or(background.Interval{})
			sums[phase] += in.Duration
			longest[phase] = max(longest[phase], in.Duration)
		}
	}
	p.Heading("%s: %s", called(of), text.Plural(int64(len(s.rows)), "background GC", "background GCs"))
	p.Prose("Paused: ", fmt.Sprintf("%s by initial marks (longest %s), %s by final marks (longest %s).",
		units.Duration(sums[background.InitialMark]), units.Duration(longest[background.InitialMark]),
		units.Duration(sums[background.FinalMark]), units.Duration(longest[background.FinalMark])))
	p.Prose("Concurrent: ", fmt.Sprintf("%s marking, %s sweeping.",
		units.Duration(sums[background.ConcurrentMark]), units.Duration(sums[background.Sweep])))
	if strip := s.strip(p.Width-len("  ||"), end); strip != "" {
		p.Line("")
		p.Line("  |%s|", strip)
		p.Prose("   ", "m marking, s sweeping, ! paused for marking; from 0 to "+units.Duration(end))
	}
}

// stripMarks are the signs of phases in a strip. Where a cell has several, the last
// of these is shown.
const stripMarks = "ms!"

var stripOf = [background.NumPhases]byte{'!', 'm', 'm', '!', 's', 's'}

// strip returns a line that shows when background collections were in which
// phase.
func (s *phaseSum) strip(width int, end time.Duration) string {
	if width <= 0 || end <= 0 {
		return ""
	}
	cells := []byte(strings.Repeat(" ", width))
	cell := func(at time.Duration) int {
		return min(width-1, max(0, int(float64(at)/float64(end)*float64(width))))
	}
	for i := range s.rows {
		c := &s.rows[i]
		for phase, sign := range stripOf {
			in, known := c.Phases[phase].Get()
			if !known {
				continue
			}
			for k := cell(in.Begin); k <= cell(in.Begin+in.Duration); k++ {
				if strings.IndexByte(stripMarks, sign) > strings.IndexByte(stripMarks, cells[k]) {
					cells[k] = sign
				}
			}
		}
	}
	return string(cells)
}

// blockingPhases are the phases that the runtime times, with their keys and their
// headings. A collection sweeps, or relocates and compacts.
var blockingPhases = []struct {
	phase, name, heading string
	rank                 int
}{
	{"MarkSizedRef", "mark_sized_ref_ms", "", 0},
	{"MarkRoots", "mark_roots_ms", "mark roots", 0},
	{"MarkShortWeak", "mark_short_weak_ms", "short weak", 3},
	{"MarkScanFinalization", "mark_scan_finalization_ms", "finalization", 2},
	{"MarkLongWeak", "mark_long_weak_ms", "long weak", 4},
	{"Plan", "plan_ms", "plan", 0},
	{"Relocate", "relocate_ms", "relocate", 0},
	{"Sweep", "sweep_ms", "sweep", 0},
	{"Compact", "compact_ms", "compact", 0},
}

func phaseTimeFields() []list.Field[gc.Collection] {
	type row = gc.Collection
	fields := identity(func(c *gc.Collection) *gc.Collection { return c }, map[string]int{"start_ms": 6, "kind": 5, "suspend_ms": 1}, "pid", "number", "start_ms", "generation", "kind", "pause_ms", "suspend_ms")
	fields[len(fields)-1].Heading = "suspend" // as the phases that follow
	for _, p := range blockingPhases {
		fields = append(fields, list.Field[row]{Name: p.name, Heading: p.heading, Rank: p.rank, Type: figure.Millis, Value: func(r *row) figure.Value {
			for _, t := range r.PhaseTimes {
				if t.Phase == p.phase {
					return list.Opt(t.Duration, list.Time)
				}
			}
			return figure.Value{}
		}})
	}
	return append(fields,
		list.Field[row]{Name: "rest_ms", Heading: "rest", Rank: 2, Type: figure.Millis, Value: func(r *row) figure.Value { return list.Opt(restOf(r), list.Time) }},
		list.Field[row]{Name: "longest_root", Heading: "longest from", Left: true, Rank: 3, Type: figure.Text, Value: func(r *row) figure.Value { return list.Word(longestRoot(r)) }})
}

// restOf returns a pause without its suspension and the phases that the runtime times.
func restOf(c *gc.Collection) gc.Opt[time.Duration] {
	pause, known := c.Pause().Get()
	if !known || len(c.PhaseTimes) == 0 {
		return gc.Opt[time.Duration]{}
	}
	rest := pause - c.Suspend().Or(0)
	for _, t := range c.PhaseTimes {
		if !t.Duration.Known() {
			return gc.Opt[time.Duration]{}
		}
		rest -= t.Duration.Or(0)
	}
	return gc.Some(max(0, rest))
}

// longestRoot returns the kind of root from which marking took longest on any heap.
func longestRoot(c *gc.Collection) string {
	var root clr.RootType
	longest := time.Duration(-1)
	for _, m := range c.Marks {
		if m.Duration > longest {
			root, longest = m.Root, m.Duration
		}
	}
	if longest < 0 {
		return ""
	}
	return root.String()
}

// A timedSum is the collections of one process whose phases are timed.
type timedSum struct {
	process *gc.Process
	rows    []gc.Collection
	pause   gc.Sum[time.Duration]
	phases  sums[string, timedPhase]
}

// A timedPhase sums up the times of a phase as far as they are known.
type timedPhase struct {
	name     string
	duration gc.Sum[time.Duration]
}

// collect adds a collection with its phases.
func (s *timedSum) collect(c *gc.Collection) {
	s.process, s.rows = c.Process, append(s.rows, *c)
	s.pause.Add(c.Pause())
	for _, t := range c.PhaseTimes {
		p := s.phases.of(t.Phase)
		p.name = t.Phase
		p.duration.Add(t.Duration)
	}
}

// sumInWords returns a sum of times for sentences.
func sumInWords(s gc.Sum[time.Duration]) string {
	switch total, is := s.Get(); is {
	case gc.Uncertain:
		return "an unknown time"
	case gc.LowerBound:
		return "at least " + units.Duration(total)
	default:
		return units.Duration(total)
	}
}

// listPhaseTimes lists the durations of the phases while threads were suspended.
func (l *listing) listPhaseTimes(ctx context.Context, std *stdio, out *output, paths []string) error {
	w := newRowWriter(l, std, out, phaseTimeFields())
	var all sums[*gc.Process, timedSum]
	rows := 0
	scan, err := l.scan(ctx, std, paths, nil, func(c *gc.Collection) {
		if len(c.PhaseTimes) == 0 || rows >= maxHeapRows {
			return
		}
		rows++
		all.of(c.Process).collect(c)
	})
	if err != nil {
		return err
	}
	return sections(scan, w, all.all, func(s *timedSum) uint64 { return s.process.PID },
		func(p *text.Page, of *gc.Process, s *timedSum) {
			p.Heading("%s: %s paused in %s", called(of), sumInWords(s.pause), text.Plural(int64(len(s.rows)), "GC", "GCs"))
			var words []string
			for _, t := range s.phases.all {
				if total, is := t.duration.Get(); total > 0 || is != gc.Exact {
					words = append(words, t.name+" "+sumInWords(t.duration))
				}
			}
			if len(words) > 0 {
				p.Prose("Phases: ", strings.Join(words, ", ")+".")
			}
		},
		func(s *timedSum) []gc.Collection { return s.rows },
		lack{what: "phase times, which .NET 6 and later write,", recording: report.RecordCollections})
}
