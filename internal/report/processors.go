package report

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// processorsJSON returns the processors of a process; nil if the trace has none of these
// figures.
func processorsJSON(p *gc.Process) *Processors {
	t := &p.Processor
	if p.Limits == nil && !t.Covered.Known() {
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
		least, most := p.GCTime()
		j.GCThreads, j.GCTime, j.GCTimeMax, j.BackgroundGCTime = gc.Some(g.Threads), millis(least), millis(most), millis(gc.Some(g.Background))
		j.GCTimePct, j.GCTimeMaxPct = shareOf(least, t.Run), shareOf(most, t.Run)
	}
	if th, known := t.Throttling.Get(); known {
		j.QuotaPeriods, j.ThrottledPeriods, j.Throttled = gc.Some(th.Periods), gc.Some(th.Throttled), millis(gc.Some(th.Time))
	}
	return j
}

// quota returns a quota in processors; 0 if none is known.
func quota(l *gc.Limits) float64 {
	if l.Period <= 0 {
		return 0
	}
	return float64(l.Quota) / float64(l.Period)
}

// share returns part as a share of whole in percent, unknown if there is no whole.
func share(part, whole time.Duration) gc.Opt[float64] {
	if whole <= 0 {
		return gc.Opt[float64]{}
	}
	return gc.Some(100 * float64(part) / float64(whole))
}

// shareOf returns the share of a part that may be unknown.
func shareOf(part gc.Opt[time.Duration], whole time.Duration) gc.Opt[float64] {
	if !part.Known() {
		return gc.Opt[float64]{}
	}
	return share(part.Or(0), whole)
}

// gcTime returns the sentence on the processor time that the GC of a process used; empty if
// that is not known.
func gcTime(p *gc.Process) string {
	least, most := p.GCTime()
	if !least.Known() {
		return ""
	}
	run := p.Processor.Run
	percent := func(d gc.Opt[time.Duration]) string { return units.Percent(shareOf(d, run).Or(0)) }
	const of = " of the program's processor time"
	if least.Or(0) == 0 {
		if !most.Known() {
			return ""
		}
		return fmt.Sprintf(" The GC used at most %s%s, by its pauses.", percent(most), of)
	}
	says := fmt.Sprintf(" The GC used at least %s%s: %s on threads of its own", percent(least), of, units.Duration(least.Or(0)))
	if most.Known() {
		says += fmt.Sprintf("; at most %s, with its pauses", percent(most))
	}
	return says + "."
}

// writeProcessors writes the processor time of the process, if the trace has it.
func (c *Case) writeProcessors(p *text.Page) {
	process := c.Summary.Process
	t := &process.Processor
	if !t.Covered.Known() || t.Run+t.Wait.Or(0) <= 0 {
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
