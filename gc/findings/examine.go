package findings

import (
	"cmp"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/gc/whatif"
	"github.com/gctrail/gctrail/trace"
)

// Options configure an examination. The zero Options restrict nothing.
type Options struct {
	Budget Budget
	// Retain is how many numbers each finding's All may have. It costs memory, because a
	// Set holds them all.
	Retain int
	// Only reports whether a collection counts; nil counts all.
	Only func(*gc.Collection) bool
	// Details returns further figures on a process. It is called when the trace has been
	// read; it may be nil.
	Details func(*gc.Process) Details
	// SumsOnly leaves out parts of each Summary that findings do not need (see there), so
	// that a process takes some 25 kB, however many collections it has.
	SumsOnly bool
	// Expect adds to settings bounds of their effect. It costs up to a megabyte for each process.
	Expect bool
	// From and To restrict the time that shares refer to.
	From, To gc.Opt[time.Duration]
}

// A Result holds the findings on one process.
type Result struct {
	*Case
	// Findings are sorted by importance: problems before warnings, specific causes
	// before generic ones. If nothing is worse than a note, the first finding is that
	// the garbage collector is innocent.
	Findings []Finding
	Code     Code
	Verdict  string // in a sentence, or two if it is not certain
}

// Examine reads a trace to its end and judges its processes, in descending order of total
// pause. Processes without collections are left out. If src fails, Examine returns the
// error and the results up to it. Other models may read the trace too, for Options.Details.
func Examine(src trace.Source, o Options, models ...pass.Model) ([]Result, error) {
	var m gc.Model
	s := Set{Options: o}
	for c, err := range m.Collections(src, models...) {
		if err != nil {
			return s.Judge(TraceOf(src)), err
		}
		s.Add(c)
	}
	return s.Judge(TraceOf(src)), nil
}

// A Set collects the evidence on all processes of one trace, and judges it at any
// time. The zero Set is empty; set Options before the first Add. Unless
// Options.Retain is set, neither its memory nor the time that Judge takes grows with
// the number of collections.
type Set struct {
	Options Options
	Skipped int // collections that do not count

	cases map[gc.Identity]*Case
	order []*Case
}

// Add adds a collection and may keep it. Collections come in order of their
// start.
func (s *Set) Add(c *gc.Collection) {
	if s.Options.Only != nil && !s.Options.Only(c) {
		s.Skipped++
		if k := s.cases[c.Process.Identity()]; k != nil {
			k.Summary.AddOutside(c.Outside)
		}
		return
	}
	id := c.Process.Identity()
	k := s.cases[id]
	if k == nil {
		if s.cases == nil {
			s.cases = make(map[gc.Identity]*Case)
		}
		k = &Case{allowed: s.Options.Budget, retain: s.Options.Retain}
		k.Summary.SumsOnly = s.Options.SumsOnly
		k.Summary.From, k.Summary.To = s.Options.From, s.Options.To
		k.Summary.Timeline.Origin = max(0, s.Options.From.Or(0))
		if s.Options.Expect {
			k.bounds = new(whatif.Program)
		}
		s.cases[id] = k
		s.order = append(s.order, k)
	}
	k.add(c)
}

// Describe replaces the description of a process that has collections, for one whose trace
// has ended.
func (s *Set) Describe(p *gc.Process) {
	if c := s.cases[p.Identity()]; c != nil {
		c.Summary.Process = p
	}
}

// Has reports whether a process has collections that count.
func (s *Set) Has(p *gc.Process) bool { return s.cases[p.Identity()] != nil }

// Judge applies the rules to the evidence so far on each process, in descending order of
// total pause. It changes nothing, so that further collections can be added. The totals
// in the results' summaries belong to the Set: they change with it.
func (s *Set) Judge(t Trace) []Result {
	for _, c := range s.order {
		if c.Summary.Process.Server.Or(false) {
			t.Servers++
			t.ServerHeaps += max(1, c.Summary.Heap.MaxHeaps)
		}
	}
	results := make([]Result, len(s.order))
	for i, c := range s.order {
		results[i] = s.judge(*c, t)
	}
	slices.SortStableFunc(results, func(a, b Result) int {
		return cmp.Compare(b.Summary.All().Pause.Sum(), a.Summary.All().Pause.Sum())
	})
	return results
}

func (s *Set) judge(c Case, t Trace) Result {
	c.Trace = t
	if t.incomplete() != "" {
		c.Summary.SetIncomplete()
	}
	if until, known := t.Until.Get(); known {
		p := c.Summary.Process.Snapshot()
		p.Stopped = max(p.Stopped, until)
		c.Summary.Process = p
	}
	if p := c.Summary.Process; t.Silence > p.Started && !p.StartSeen { // the start may be damaged
		p = p.Snapshot()
		p.Started = t.Silence
		c.Summary.Process = p
	}
	if s.Options.Details != nil {
		c.Details = s.Options.Details(c.Summary.Process)
	}
	j := c.judge()
	found := j.findings()
	code, verdict := j.verdict(found)
	return Result{&c, found, code, verdict}
}
