package cli

import (
	"context"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

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
	fields := identity(itself, map[string]int{"start_ms": 6, "kind": 5, "suspend_ms": 1}, "pid", "number", "start_ms", "generation", "kind", "pause_ms", "suspend_ms")
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

// listPhaseTimes lists how long the phases took in which threads were suspended.
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
	return sections(scan, std, w, all.all, func(s *timedSum) uint64 { return s.process.PID },
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
