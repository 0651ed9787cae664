package findings

import (
	"cmp"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/trace"
)

// Options restrict what is examined. The zero Options restrict nothing.
type Options struct {
	Budget Budget
	Retain int // as of Case
	// Only reports whether a collection counts; nil counts all.
	Only func(*gc.Collection) bool
	// Details returns what else is known about a process. It is called when the
	// trace has been read; it may be nil.
	Details func(*gc.Process) Details
	// From and To restrict the time that shares refer to.
	From, To gc.Opt[time.Duration]
}

// A Result holds the findings of one process.
type Result struct {
	*Case
	Findings []Finding
	Code     Code
	Verdict  string // in one sentence
}

// Examine reads a trace to its end and judges its processes, those with the
// longest total pause first. Processes without collections are left out. If src
// fails, Examine returns the error and the results up to it.
func Examine(src trace.Source, o Options) ([]Result, error) {
	var m gc.Model
	s := Set{Options: o}
	for c, err := range m.Collections(src) {
		if err != nil {
			return s.Judge(TraceOf(src)), err
		}
		s.Add(c)
	}
	return s.Judge(TraceOf(src)), nil
}

// A Set collects the evidence on all processes of one trace. The zero Set is
// empty; set Options before the first Add.
type Set struct {
	Options Options
	Skipped int // collections that do not count

	cases map[*gc.Process]*Case
	order []*Case
}

// Add adds a collection and may keep it. Collections come in order of their
// start.
func (s *Set) Add(c *gc.Collection) {
	if s.Options.Only != nil && !s.Options.Only(c) {
		s.Skipped++
		return
	}
	k := s.cases[c.Process]
	if k == nil {
		if s.cases == nil {
			s.cases = make(map[*gc.Process]*Case)
		}
		k = &Case{Budget: s.Options.Budget, Retain: s.Options.Retain}
		k.Summary.From, k.Summary.To = s.Options.From, s.Options.To
		k.Summary.Timeline.Origin = max(0, s.Options.From.Or(0))
		s.cases[c.Process] = k
		s.order = append(s.order, k)
	}
	k.Add(c)
}

// Has reports whether a process has collections that count.
func (s *Set) Has(p *gc.Process) bool { return s.cases[p] != nil }

// Judge applies the rules to each process, those with the longest total pause
// first.
func (s *Set) Judge(t Trace) []Result {
	for _, c := range s.order {
		if c.Summary.Process.Server.Or(false) {
			t.Servers++
			t.ServerHeaps += max(1, c.Summary.Heap.MaxHeaps)
		}
	}
	results := make([]Result, len(s.order))
	for i, c := range s.order {
		c.Trace = t
		if s.Options.Details != nil {
			c.Details = s.Options.Details(c.Summary.Process)
		}
		results[i] = c.Judge()
	}
	slices.SortStableFunc(results, func(a, b Result) int {
		return cmp.Compare(b.Summary.All().Pause.Sum(), a.Summary.All().Pause.Sum())
	})
	return results
}

// Judge applies the rules to the evidence.
func (c *Case) Judge() Result {
	found := c.Findings()
	code, verdict := c.verdict(found)
	return Result{c, found, code, verdict}
}
