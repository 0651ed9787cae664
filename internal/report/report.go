// Package report judges the collections of a trace's processes, and writes the result
// as text and as JSON.
package report

import (
	"iter"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/trace"
)

// A Report is the report on one trace.
type Report struct {
	Name     string   // of the file, as it was given
	PerfMap  string   // the file that names methods, for commands; empty for none
	paths    []string // for commands
	selected selection.Selection
	budget   Budget
	merged   *trace.Merged // nil for a single file
	info     *trace.Info
	loss     *trace.Loss
	recorded []findings.Recorded
	counts   map[clr.Kind]uint64 // of events
	cases    []Case              // the processes with collections, the most expensive first
	others   []*gc.Process
	skipped  int    // collections that are not selected
	outside  string // the trace's own processes or times, if the selection has none of them
	narrowed bool   // only a part of the time, or of the collections, is looked at
}

// A Case is a process with its findings.
type Case struct {
	findings.Result
	Ranks  *Ranks  // nil for a trace that is judged while it is recorded
	Phases *Phases // of background collections; nil if the trace lacks them
	Memory *Memory // by a ledger; nil for none
}

// A Input is a trace that is read once, for its collections.
type Input interface {
	trace.Source
	Collections(*gc.Model, ...pass.Model) iter.Seq2[*gc.Collection, error]
	Name() string          // of the trace, as it was given
	Paths() []string       // for commands
	Merged() *trace.Merged // nil for a single file
	Beside() string        // which files beside it are read with it
}

// A Budget is the cost of pauses from which the garbage collector is to blame.
type Budget = findings.Budget

// ParseBudget parses a budget: 50ms, 5%, or both with a comma between them.
func ParseBudget(s string) (Budget, error) { return findings.ParseBudget(s) }

// Gather reads a trace to its end and judges the processes in it, with details unless
// these are nil.
func Gather(r Input, o *selection.Selection, budget Budget, details *Details) (*Report, error) {
	return gather(r, o, budget, details, 0)
}

// gather gathers findings that retain a number of collections.
func gather(r Input, o *selection.Selection, budget Budget, details *Details, retain int) (*Report, error) {
	var m gc.Model
	set := findings.Set{Options: findings.Options{
		Budget: budget, Retain: retain, Expect: true,
		Only: func(c *gc.Collection) bool { return o.HasCollection(r.Info(), c) },
	}}
	if details != nil {
		set.Options.Details = details.of
	}
	ranks := make(map[*gc.Process]*Ranks)
	for c, err := range r.Collections(&m, append(details.Models(), m.Processors())...) {
		if err != nil {
			return nil, err
		}
		set.Options.From, set.Options.To = o.Span(r.Info()) // known at the first collection
		set.Add(c)
		if set.Has(c.Process) && set.Options.Only(c) {
			if ranks[c.Process] == nil {
				ranks[c.Process] = new(Ranks)
			}
			ranks[c.Process].Add(c)
			if details != nil {
				details.collection(c)
			}
		}
	}
	rep := &Report{
		Name: r.Name(), paths: r.Paths(), selected: *o, budget: budget, merged: r.Merged(), info: r.Info(), loss: r.Loss(), recorded: findings.RecordedOf(r),
		counts: countKinds(r), skipped: set.Skipped, outside: Outside(o, r.Info(), m.Processes()), narrowed: !o.AllTimes() || set.Skipped > 0,
	}
	details.lost(rep.loss)
	for _, result := range set.Judge(findings.TraceOf(r)) {
		rep.add(Case{Result: result, Ranks: ranks[result.Summary.Process], Phases: details.phasesOf(result.Summary.Process)})
	}
	for _, p := range m.Processes() {
		if !set.Has(p) && o.HasProcess(p) {
			rep.others = append(rep.others, p)
		}
	}
	return rep, nil
}

// Worst returns the process that paused for longest, and the rules that fired
// on it; nil if no process has a collection.
func (rep *Report) Worst() (*gc.Process, []string) {
	if len(rep.cases) == 0 {
		return nil, nil
	}
	c := &rep.cases[0]
	return c.Summary.Process, text.Each(c.Findings, func(f *findings.Finding) string { return f.ID })
}

// HasRequests reports whether requests are known of the process that paused for longest.
func (rep *Report) HasRequests() bool {
	return len(rep.cases) > 0 && rep.cases[0].Details.Requests != nil
}

// OverBudget reports whether pauses exceed the budget.
func (rep *Report) OverBudget() bool {
	if len(rep.cases) == 0 {
		return false
	}
	switch rep.cases[0].Code {
	case findings.LongPauses, findings.CostsTime, findings.Guilty:
		return true
	}
	return false
}

// Verdict returns the verdict on Worst's process.
func (rep *Report) Verdict() string {
	if len(rep.cases) == 0 {
		_, verdict := rep.emptyVerdict()
		return verdict
	}
	return rep.cases[0].Verdict
}

// Processes returns how many processes have collections.
func (rep *Report) Processes() int { return len(rep.cases) }

// Of makes a report of the findings on a trace that was read to its end.
func Of(src trace.Source, found []findings.Result) *Report {
	rep := &Report{info: src.Info(), loss: src.Loss(), recorded: findings.RecordedOf(src), counts: countKinds(src)}
	for _, result := range found {
		rep.add(Case{Result: result})
	}
	return rep
}

// add adds a process. Its timeline ends with the selected time.
func (rep *Report) add(c Case) {
	end := c.Summary.Process.Stopped
	if c.Summary.To.Known() {
		end = min(end, c.Summary.To.Or(0))
	}
	c.Summary.Timeline = c.Summary.Timeline.Until(end)
	rep.cases = append(rep.cases, c)
}

// countKinds counts the events of each kind that a source was found to hold.
func countKinds(src trace.Source) map[clr.Kind]uint64 {
	counts := make(map[clr.Kind]uint64)
	for d, n := range src.Counts() {
		counts[clr.KindOf(d.Provider, d.ID)] += n
	}
	return counts
}

// provider returns the recording of one provider, zero if there is none.
func (rep *Report) provider(name string) findings.Recorded {
	for _, r := range rep.recorded {
		if r.Provider == name {
			return r
		}
	}
	return findings.Recorded{}
}
