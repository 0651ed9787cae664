package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
	return sections(scan, std, w, all.all, func(s *phaseSum) uint64 { return s.pid },
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
