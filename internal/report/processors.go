package report

import (
	"fmt"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// processorsJSON returns the processors of a process; nil if the trace has none of these
// figures.
func processorsJSON(p *gc.Process) *Processors {
	t := &p.Processor
	if p.Limits == nil && !t.Covered.Known() && !p.Kernel.Known() {
		return nil
	}
	j := &Processors{
		Settings: []string{}, Covered: millis(t.Covered), MachineBusy: millis(t.Busy), MachineStolen: millis(t.Stolen),
		MachineWait: millis(t.MachineWait), CgroupWait: millis(t.CgroupWait),
	}
	if l := p.Limits; l != nil {
		j.Processors, j.MachineProcessors = positive(l.Processors), positive(l.MachineProcessors)
		j.Settings = append(j.Settings, l.Settings...)
		j.MemoryLimitBytes, j.QuotaProcessors = positive(l.MemoryLimit), positive(quota(l))
	}
	if t.Covered.Known() {
		j.Run, j.Wait = millis(gc.Some(t.Run)), millis(t.Wait)
		j.WaitPct, j.PauseWaitPct = t.WaitPct(), t.PauseWaitPct()
	}
	if g, known := t.GC.Get(); known {
		j.GCThreads, j.BackgroundGCTime = gc.Some(g.Threads), millis(gc.Some(g.Background))
	}
	if k, known := p.Kernel.Get(); known {
		j.setKernel(&k)
	}
	if g, known := p.GCTime().Get(); known {
		j.GCTimeSource, j.Run = gc.Some(g.Source.String()), millis(gc.Some(g.Run))
		j.GCTime, j.GCTimeMax, j.GCTimeEstimate = millis(gc.Some(g.Least)), millis(g.Most), millis(g.Estimate)
		j.GCTimePct, j.GCTimeMaxPct, j.GCTimeEstimatePct = g.LeastPct(), g.MostPct(), g.EstimatePct()
	}
	if th, known := t.Throttling.Get(); known {
		j.QuotaPeriods, j.ThrottledPeriods, j.Throttled = gc.Some(th.Periods), gc.Some(th.Throttled), millis(gc.Some(th.Time))
	}
	return j
}

// setKernel sets the figures that need the kernel's events.
func (j *Processors) setKernel(t *gc.KernelTime) {
	j.PausingGCTime = millis(gc.Some(t.Pausing))
	if !j.GCThreads.Known() {
		j.GCThreads, j.BackgroundGCTime = gc.Some(t.Threads), millis(gc.Some(t.Background))
	}
	if t.Source == gc.CPUSamples {
		j.Samples, j.GCSamples, j.UnknownSamples = gc.Some(t.Samples), gc.Some(t.GCSamples), gc.Some(t.Unknown)
		j.SampleInterval = millis(gc.Some(t.Interval))
	}
}

// quota returns a quota in processors; 0 if none is known.
func quota(l *gc.Limits) float64 {
	if l.Period <= 0 {
		return 0
	}
	return float64(l.Quota) / float64(l.Period)
}

// leastShown is the smallest share, in percent, that is more than none at one decimal.
const leastShown = 0.05

// gcTime returns the sentence on the processor time that the GC of a process used; empty if
// that is not known.
func gcTime(p *gc.Process) string {
	t, known := p.GCTime().Get()
	if !known || t.Run <= 0 {
		return ""
	}
	if t.Source != gc.ThreadTimes {
		return kernelTime(&t, p.Kernel.Or(gc.KernelTime{}))
	}
	percent := func(d gc.Opt[float64]) string { return units.Percent(d.Or(0)) }
	const of = " of the program's processor time"
	if t.LeastPct().Or(0) < leastShown {
		if !t.Most.Known() {
			return ""
		}
		return fmt.Sprintf(" The GC used at most %s%s, by its pauses.", percent(t.MostPct()), of)
	}
	says := fmt.Sprintf(" The GC used at least %s%s: %s on threads of its own", percent(t.LeastPct()), of, units.Duration(t.Least))
	if t.Most.Known() {
		says += fmt.Sprintf("; at most %s, with its pauses", percent(t.MostPct()))
	}
	return says + "."
}

// kernelTime returns the sentence by the kernel's events.
func kernelTime(t *gc.UsedTime, k gc.KernelTime) string {
	if t.Estimate.Or(0) == 0 && !t.Most.Known() {
		return ""
	}
	const of = " of the program's processor time"
	low, high := units.Percent(t.LeastPct().Or(0)), units.Percent(t.MostPct().Or(0))
	says := " The GC used "
	switch {
	case t.Source == gc.ContextSwitches && t.Most.Known():
		says += low + of
	case t.Source == gc.ContextSwitches:
		says += "at least " + low + of
	case t.Most.Known():
		says += units.Percent(t.EstimatePct().Or(0)) + of + " (" + low + " to " + high + ", with 95 % confidence)"
	default:
		says += "at least " + low + of + " (with 95 % confidence)"
	}
	return says + ": " + units.Duration(k.Pausing) + " on the threads that paused the others, " +
		units.Duration(k.Server+k.Background) + " on threads of its own."
}

// writeProcessors writes the processor time of the process, if the trace has it.
func (c *Case) writeProcessors(p *text.Page) {
	process := c.Summary.Process
	t := &process.Processor
	if !t.Covered.Known() || t.Run+t.Wait.Or(0) <= 0 {
		c.writeKernelTime(p)
		return
	}
	says := "Processors: threads ran " + units.Duration(t.Run)
	if waits, known := t.WaitPct().Get(); known {
		says += fmt.Sprintf(" and waited %s for a processor (%s of the time in which they could run)", units.Duration(t.Wait.Or(0)), units.Percent(waits))
	} else {
		says += "; how long they waited for a processor is not known"
	}
	if l := process.Limits; l != nil && quota(l) > 0 {
		th := t.Throttling.Or(gc.Throttling{})
		says += fmt.Sprintf("; quota of %.3g processors, throttled for %s in %s of %s",
			quota(l), units.Duration(th.Time), units.Count(th.Throttled), text.Plural(th.Periods, "period", "periods"))
	}
	p.Prose("", says+"."+gcTime(process))
}

// writeKernelTime writes the processor time of the process by the kernel's events, if the
// trace has them.
func (c *Case) writeKernelTime(p *text.Page) {
	process := c.Summary.Process
	k, known := process.Kernel.Get()
	if !known || k.Run <= 0 {
		return
	}
	says := "Processors: threads ran " + units.Duration(k.Run)
	switch {
	case k.Source == gc.ContextSwitches:
		says += ", by context switches"
	case k.Assumed:
		says += fmt.Sprintf(", by %s, if they are %s apart, as usual", text.Plural(int64(k.Samples), "CPU sample", "CPU samples"), units.Duration(k.Interval))
	default:
		says += fmt.Sprintf(", by %s, %s apart", text.Plural(int64(k.Samples), "CPU sample", "CPU samples"), units.Duration(k.Interval))
	}
	says += "." + gcTime(process)
	if k.Unknown > 0 {
		says += fmt.Sprintf(" The trace does not show the processes of %s.", text.Plural(int64(k.Unknown), "more sample", "more samples"))
	}
	p.Prose("", says)
}
