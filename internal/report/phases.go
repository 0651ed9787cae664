package report

import (
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// Phases sum up the background collections of one process, by their phases.
type Phases struct {
	Collections int
	phases      [background.NumPhases]phaseSum
	// The counts of marking again memory that the program wrote to, and the overflows of
	// the mark stack.
	pages, objects, overflows int64
}

// A phaseSum is one phase of several collections.
type phaseSum struct {
	count      int
	total, max time.Duration
	longest    uint32 // collection
}

// phaseWords describe the phases.
var phaseWords = [background.NumPhases]string{
	"marks the roots, in a pause", "marks while the program runs", "suspends the threads again", "marks what changed, in a pause",
	"restarts the program", "frees memory while the program runs",
}

func (d *Details) addPhases(c *background.Collection) {
	if !d.selected.AllTimes() && !d.selected.HasTime(d.info, c.Start) {
		return
	}
	of := d.phases[c.PID]
	if of == nil {
		of = new(Phases)
		d.phases[c.PID] = of
	}
	of.Collections++
	of.pages += c.Pages
	of.objects += c.Objects
	of.overflows += int64(c.Overflows)
	for i := range of.phases {
		if in, known := c.Phases[i].Get(); known {
			of.phases[i].add(in.Duration, c.Number)
		}
	}
}

// phasesOf returns the phases of a process's background collections; nil if the
// trace lacks them.
func (d *Details) phasesOf(p *gc.Process) *Phases {
	if d == nil {
		return nil
	}
	return d.phases[p.PID]
}

func (s *phaseSum) add(took time.Duration, number uint32) {
	s.total += took
	if s.count++; s.count == 1 || took > s.max {
		s.max, s.longest = took, number
	}
}

// known returns the phases that a collection had.
func (p *Phases) known() []background.Phase {
	var known []background.Phase
	if p == nil {
		return nil
	}
	for i := range p.phases {
		if p.phases[i].count > 0 {
			known = append(known, background.Phase(i))
		}
	}
	return known
}

// showsPhases reports whether background collections take so much of the pauses
// that their phases matter.
func (c *Case) showsPhases() bool {
	return 10*c.Summary.Kind(gc.Background).Pause.Sum() > c.Summary.All().Pause.Sum()
}

func (c *Case) writePhases(p *text.Page) {
	rows := c.Phases.known()
	if len(rows) == 0 || !c.showsPhases() {
		return
	}
	sum := func(i *background.Phase) *phaseSum { return &c.Phases.phases[*i] }
	var g grid
	g.words("phase", 0, text.Each(rows, func(i *background.Phase) string { return i.String() }))
	g.times("total", 0, text.Each(rows, func(i *background.Phase) gc.Opt[time.Duration] { return gc.Some(sum(i).total) }))
	g.times("max", 0, text.Each(rows, func(i *background.Phase) gc.Opt[time.Duration] { return gc.Some(sum(i).max) }))
	g.numbers("GC", 0, text.Each(rows, func(i *background.Phase) string { return units.Count(int64(sum(i).longest)) }))
	g.words("", 1, text.Each(rows, func(i *background.Phase) string { return phaseWords[*i] }))
	g.section(p, "Phases of "+text.Plural(int64(c.Phases.Collections), "background GC", "background GCs"))
	if c.Phases.objects+c.Phases.overflows > 0 {
		p.Prose("", text.Plural(c.Phases.objects, "object", "objects")+" on "+text.Plural(c.Phases.pages, "page", "pages")+
			" were written to during marking and had to be marked again; the mark stack overflowed "+
			text.Plural(c.Phases.overflows, "time", "times")+".")
	}
}

// phasesJSON are the phases of background collections; empty if the trace does
// not have them.
func (c *Case) phasesJSON() []PhaseTotals {
	return text.Each(c.Phases.known(), func(i *background.Phase) PhaseTotals {
		s := &c.Phases.phases[*i]
		return PhaseTotals{i.String(), s.count, Millis(s.total), Millis(s.max), s.longest}
	})
}
