package report

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// jsonProcessors holds the processors, the processor time and the limits of a process, read
// by the program that recorded the trace; null if the trace lacks them.
type jsonProcessors struct {
	Processors        *int     `json:"processors"`
	MachineProcessors *int     `json:"machine_processors"`
	Quota             *float64 `json:"quota_processors"`
	MemoryLimit       *int64   `json:"memory_limit_bytes"`
	Settings          []string `json:"settings"`
	Covered           *jsonMS  `json:"covered_ms"`
	Run               *jsonMS  `json:"thread_run_ms"`
	Wait              *jsonMS  `json:"thread_wait_ms"`
	WaitPct           *float64 `json:"thread_wait_pct"`
	PauseWaitPct      *float64 `json:"thread_wait_pct_in_pauses"`
	Periods           *int64   `json:"quota_periods"`
	Throttled         *int64   `json:"throttled_periods"`
	ThrottledFor      *jsonMS  `json:"throttled_ms"`
	Busy              *jsonMS  `json:"machine_busy_ms"`
	Stolen            *jsonMS  `json:"machine_stolen_ms"`
	MachineWait       *jsonMS  `json:"machine_wait_ms"`
	CgroupWait        *jsonMS  `json:"cgroup_wait_ms"`
}

// processorsJSON returns the processors of a process; nil if the trace has none of these
// figures.
func processorsJSON(p *gc.Process) *jsonProcessors {
	t := &p.Processor
	if p.Limits == nil && !t.Covered.Known() {
		return nil
	}
	j := &jsonProcessors{
		Settings: []string{}, Covered: optionalMS(t.Covered), Busy: optionalMS(t.Busy), Stolen: optionalMS(t.Stolen),
		MachineWait: optionalMS(t.MachineWait), CgroupWait: optionalMS(t.CgroupWait),
	}
	if l := p.Limits; l != nil {
		j.Processors, j.MachineProcessors = positive(l.Processors), positive(l.MachineProcessors)
		j.Settings = append(j.Settings, l.Settings...)
		if l.MemoryLimit > 0 {
			j.MemoryLimit = &l.MemoryLimit
		}
		if q := quota(l); q > 0 {
			j.Quota = &q
		}
	}
	if t.Covered.Known() {
		j.Run, j.Wait = optionalMS(gc.Some(t.Run)), optionalMS(gc.Some(t.Wait))
		j.WaitPct, j.PauseWaitPct = share(t.Wait, t.Run+t.Wait), share(t.PauseWait, t.PauseCovered)
	}
	if th, known := t.Throttling.Get(); known {
		j.Periods, j.Throttled, j.ThrottledFor = &th.Periods, &th.Throttled, optionalMS(gc.Some(th.Time))
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

// share returns part as a share of whole in percent, nil if there is no whole.
func share(part, whole time.Duration) *float64 {
	if whole <= 0 {
		return nil
	}
	s := 100 * float64(part) / float64(whole)
	return &s
}

// writeProcessors writes the processor time of the process, if the trace has it.
func (c *Case) writeProcessors(p *text.Page) {
	process := c.Summary.Process
	t := &process.Processor
	if !t.Covered.Known() || t.Run+t.Wait <= 0 {
		return
	}
	says := fmt.Sprintf("Processors: threads ran %s and waited %s for a processor (%s of the time in which they could run)",
		units.Duration(t.Run), units.Duration(t.Wait), units.Percent(*share(t.Wait, t.Run+t.Wait)))
	if l := process.Limits; l != nil && quota(l) > 0 {
		th := t.Throttling.Or(gc.Throttling{})
		says += fmt.Sprintf("; quota of %.3g processors, throttled for %s in %s of %s",
			quota(l), units.Duration(th.Time), units.Count(th.Throttled), text.Plural(th.Periods, "period", "periods"))
	}
	p.Prose("", says+".")
}
