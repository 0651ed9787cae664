// Package report judges what a trace tells of its processes' collections, and writes it
// as text and as JSON.
package report

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/provider"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/trace"
)

// A Report is what one trace tells.
type Report struct {
	Name      string        // of the file, as it was given
	paths     []string      // for commands
	merged    *trace.Merged // nil for a single file
	info      *trace.Info
	loss      *trace.Loss
	collected []collected
	cases     []Case // the processes with collections, those that cost most first
	others    []*gc.Process
	narrowed  bool // only a part of the time, or of the collections, is looked at
}

// A Case is a process with what was found.
type Case struct {
	*findings.Case
	found []findings.Finding
}

// collected is what a trace holds of one provider.
type collected struct {
	provider string
	keywords uint64 // that must have been collected
	level    uint8  // the highest of an event
	events   uint64
}

// A Input is a trace that is read once, for its collections.
type Input interface {
	trace.Source
	Collections(*gc.Model) iter.Seq2[*gc.Collection, error]
	Name() string          // of the trace, as it was given
	Paths() []string       // for commands
	Merged() *trace.Merged // nil for a single file
}

// Gather reads a trace to its end and judges the processes in it.
func Gather(r Input, o *selection.Selection) (*Report, error) {
	var m gc.Model
	var order []*gc.Process
	narrowed := !o.AllTimes()
	cases := map[*gc.Process]*findings.Case{}
	for c, err := range r.Collections(&m) {
		if err != nil {
			return nil, err
		}
		if !o.HasCollection(r.Info(), c) {
			narrowed = true
			continue
		}
		k := cases[c.Process]
		if k == nil {
			k = new(findings.Case)
			if o.From.Given {
				k.Process.Timeline.Origin = max(0, o.From.After(r.Info().Start))
			}
			cases[c.Process] = k
			order = append(order, c.Process)
		}
		k.Add(c)
	}
	rep := &Report{Name: r.Name(), paths: r.Paths(), merged: r.Merged(), info: r.Info(), loss: r.Loss(), narrowed: narrowed}
	rep.collect(r)
	for _, p := range order {
		rep.add(o, cases[p])
	}
	rep.sort()
	for _, p := range m.Processes() {
		if cases[p] == nil && o.HasProcess(p) {
			rep.others = append(rep.others, p)
		}
	}
	return rep, nil
}

// Worst returns the process that paused for longest, and the rules that fired on
// it; nil where no process has a collection.
func (rep *Report) Worst() (*gc.Process, []string) {
	if len(rep.cases) == 0 {
		return nil, nil
	}
	var rules []string
	for i := range rep.cases[0].found {
		rules = append(rules, rep.cases[0].found[i].ID)
	}
	return rep.cases[0].Process.Process, rules
}

// Processes returns how many processes have collections.
func (rep *Report) Processes() int { return len(rep.cases) }

// Judge makes a report of a trace of one process that was read to its end.
func Judge(src trace.Source, found *findings.Case) *Report {
	rep := &Report{info: src.Info(), loss: src.Loss()}
	rep.collect(src)
	rep.add(new(selection.Selection), found)
	return rep
}

// add judges a process.
func (rep *Report) add(o *selection.Selection, c *findings.Case) {
	if o.From.Given {
		c.Process.From = gc.Some(o.From.After(rep.info.Start))
	}
	if o.To.Given {
		c.Process.To = gc.Some(o.To.After(rep.info.Start))
	}
	c.Trace = findings.Trace{
		Keywords: rep.provider(clr.RuntimeProvider).keywords, Lost: rep.loss.Events, Damaged: rep.loss.Damaged,
		Cut: rep.loss.Cut, Sampled: rep.provider(provider.SampleProfiler).events > 0, CPUs: rep.info.CPUs,
	}
	end := c.Process.Process.Stopped
	if c.Process.To.Known {
		end = min(end, c.Process.To.V)
	}
	c.Process.Timeline = c.Process.Timeline.Until(end)
	rep.cases = append(rep.cases, Case{c, c.Findings()})
}

// sort puts the processes first whose threads stood still for longest.
func (rep *Report) sort() {
	slices.SortStableFunc(rep.cases, func(a, b Case) int {
		return cmp.Compare(b.Process.All().Pause.Sum(), a.Process.All().Pause.Sum())
	})
}

// sessionBits are the keywords that an EventSource adds to its events for its
// own use.
const sessionBits = 0xF00000000000

// collect finds out what was collected. An event with several keywords comes
// with any of them: it does not tell with which.
func (rep *Report) collect(src trace.Source) {
	for d, n := range src.Counts() {
		if n == 0 {
			continue
		}
		i := slices.IndexFunc(rep.collected, func(c collected) bool { return c.provider == d.Provider })
		if i < 0 {
			i = len(rep.collected)
			rep.collected = append(rep.collected, collected{provider: d.Provider})
		}
		c := &rep.collected[i]
		c.events += n
		c.level = max(c.level, d.Level)
		if k := d.Keywords &^ sessionBits; bits.OnesCount64(k) == 1 {
			c.keywords |= k
		}
	}
	slices.SortFunc(rep.collected, func(a, b collected) int { return cmp.Compare(a.provider, b.provider) })
}

// provider is what was collected of one provider, zero for nothing.
func (rep *Report) provider(name string) collected {
	for _, c := range rep.collected {
		if c.provider == name {
			return c
		}
	}
	return collected{}
}
