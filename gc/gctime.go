package gc

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

// CollectorTime holds the processor time of the threads that do nothing but collect, from the first
// reading to the last.
type CollectorTime struct {
	Threads    int           // at most, in a reading
	Server     time.Duration // of the threads of server GC
	Background time.Duration // of the threads of background GC
}

// Least returns the processor time that the GC used at least.
func (t CollectorTime) Least() time.Duration { return units.AddCapped(t.Server, t.Background) }

func (t *ProcessorTime) readGC(v *clr.GCThreadTime) {
	before := t.GC.Or(CollectorTime{})
	t.GC = Some(CollectorTime{
		Threads:    max(before.Threads, int(v.Threads)),
		Server:     grown(&t.first.serverGC, v.ServerNanoseconds),
		Background: grown(&t.first.backgroundGC, v.BackgroundNanoseconds),
	})
}

// A UsedTime bounds the processor time that the GC of a process used.
type UsedTime struct {
	Source   TimeSource
	Run      time.Duration // of all threads of the process
	Least    time.Duration
	Most     Opt[time.Duration]
	Estimate Opt[time.Duration] // between Least and Most; unknown of ThreadTimes
}

// LeastPct and MostPct return the bounds as shares of Run, in percent.
func (t *UsedTime) LeastPct() Opt[float64] { return t.pct(Some(t.Least)) }
func (t *UsedTime) MostPct() Opt[float64]  { return t.pct(t.Most) }

// EstimatePct returns the estimate as a share of Run, in percent.
func (t *UsedTime) EstimatePct() Opt[float64] { return t.pct(t.Estimate) }

func (t *UsedTime) pct(d Opt[time.Duration]) Opt[float64] {
	v, known := percentOf(d, t.Run).Get()
	if !known {
		return Opt[float64]{}
	}
	return Some(min(100, v))
}

// GCTime returns bounds of the processor time that the GC used; unknown if the trace has
// nothing about the processors. Context switches are exact, readings of the threads' times
// are from the trace's recorder, and samples have an error.
func (p *Process) GCTime() Opt[UsedTime] {
	kernel, traced := p.Kernel.Get()
	if traced && kernel.Source == ContextSwitches {
		return Some(kernel.gcTime())
	}
	if t, read := p.readTime().Get(); read {
		return Some(t)
	}
	if traced {
		return Some(kernel.gcTime())
	}
	return Opt[UsedTime]{}
}

// readTime returns the bounds by the readings of threads. The lower bound is the time of the
// threads that do nothing but collect. With workstation GC, the thread that starts a
// collection pauses the others and does the work, unless a background GC does it. How much of
// a pause that thread ran is not known: the upper bound takes all of it. Server GC has no
// upper bound, and needs none, because its own threads do the work; that they ran shows that
// it is on.
func (p *Process) readTime() Opt[UsedTime] {
	t, known := p.Processor.GC.Get()
	if !known || p.Processor.Run <= 0 {
		return Opt[UsedTime]{}
	}
	g := UsedTime{Source: ThreadTimes, Run: p.Processor.Run, Least: min(t.Least(), p.Processor.Run)}
	if !p.Server.Or(false) && t.Server == 0 && p.Missing == 0 {
		g.Most = Some(min(units.AddCapped(t.Least(), p.Processor.PauseCovered), p.Processor.Run))
	}
	return Some(g)
}
