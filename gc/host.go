package gc

import (
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

// Limits hold the processors and the memory that the system lets a process use, as read by
// the program that recorded the trace.
type Limits struct {
	Processors        int           // that the process may run on; 0 if unknown
	MachineProcessors int           // 0 if unknown
	Quota             time.Duration // of processor time in each Period; 0 if no quota is known
	Period            time.Duration
	MemoryLimit       int64    // of its cgroups, in bytes; 0 if none is known
	Settings          []string // the environment variables that configure its GC, as NAME=VALUE
}

// ProcessorTime holds the processor time of a process, read periodically by the program
// that recorded the trace. Sums span the first reading to the last.
type ProcessorTime struct {
	Covered Opt[time.Duration] // from the first reading to the last
	Run     time.Duration      // of all threads
	Wait    Opt[time.Duration] // of all threads that could run, for a processor; unknown on Windows
	// PauseCovered sums up the GC pauses between readings. PauseWait estimates for how much
	// of it threads waited: each pause counts by the threads' share of waiting between the
	// two readings around it.
	PauseCovered time.Duration
	PauseWait    Opt[time.Duration] // unknown as Wait is

	GC         Opt[CollectorTime]
	Throttling Opt[Throttling]

	// Busy and Stolen sum up the time that the machine's processors worked and that a
	// hypervisor took from them. In MachineWait and CgroupWait, at least one thread of the
	// machine or the cgroup waited for a processor.
	Busy, Stolen, MachineWait, CgroupWait Opt[time.Duration]

	waits, throttles     pauseShare
	first                hostReading
	throttledFirst, last clr.ProcessThrottling
	lastRun, lastWait    uint64
}

// Throttling sums up how a cgroup's quota held back its threads. See cpu.stat in the
// kernel's cgroup-v2.rst.
type Throttling struct {
	Periods   int64
	Throttled int64         // periods in which threads had to wait for the next one
	Time      time.Duration // for which they waited, summed up over processors
	// PauseCovered and PauseTime are like PauseCovered and PauseWait of ProcessorTime: each
	// pause counts by the throttled share of the time.
	PauseCovered, PauseTime time.Duration
}

// hostReading holds the first reading of each figure.
type hostReading struct {
	at                            Opt[time.Duration] // of the thread time
	busy, stolen, machine, cgroup Opt[uint64]
	serverGC, backgroundGC        Opt[uint64]
}

// A pauseShare adds up a share of the pauses that differs from reading to reading.
type pauseShare struct {
	at      Opt[time.Duration] // of the last reading
	share   float64            // before it
	pending time.Duration      // of pauses since then
	covered time.Duration
	sum     time.Duration
}

// pause adds a pause. Its part before the last reading has that reading's share.
func (p *pauseShare) pause(from, to time.Duration) {
	at, known := p.at.Get()
	if !known || to <= from {
		return
	}
	if from < at {
		p.add(min(to, at) - from)
		from = at
	}
	p.pending = units.AddCapped(p.pending, max(0, to-from))
}

// reading ends the time for which share holds.
func (p *pauseShare) reading(at time.Duration, share float64) {
	p.share = min(1, max(0, share))
	p.add(p.pending)
	p.pending, p.at = 0, Some(at)
}

func (p *pauseShare) add(d time.Duration) {
	p.covered = units.AddCapped(p.covered, d)
	p.sum = units.AddCapped(p.sum, time.Duration(p.share*float64(d)))
}

// Paused notes a pause for a collection, for a program that reads processors beside a
// trace without such readings. A Model notes the pauses of its own.
func (t *ProcessorTime) Paused(from, to time.Duration) {
	t.waits.pause(from, to)
	t.throttles.pause(from, to)
}

// grown returns by how much a counter has grown since its first reading; 0 if it went
// back.
func grown(first *Opt[uint64], now uint64) time.Duration {
	if !first.Known() {
		*first = Some(now)
	}
	return time.Duration(since(first.Or(0), now))
}

// since returns the difference of two readings of a counter that grows.
func since(before, now uint64) int64 {
	if now < before || now-before > 1<<62 {
		return 0
	}
	return int64(now - before)
}

func (m *Model) processLimits(e *event) {
	if v, ok := decode[clr.ProcessLimits](m, e); ok && m.reserveText(e, len(v.Settings)) {
		e.process.Limits = NewLimits(v)
	}
}

// NewLimits returns the limits in an event of the provider gctrail.
func NewLimits(v *clr.ProcessLimits) *Limits {
	l := &Limits{
		Processors: int(v.Processors), MachineProcessors: int(v.MachineProcessors), MemoryLimit: since(0, v.MemoryLimit),
		Quota:  time.Duration(min(v.QuotaMicroseconds, maxMicroseconds)) * time.Microsecond,
		Period: time.Duration(min(v.PeriodMicroseconds, maxMicroseconds)) * time.Microsecond,
	}
	if text := v.Settings.String(); text != "" {
		l.Settings = strings.Split(text, "\n")
	}
	return l
}

// maxMicroseconds is the longest time.Duration.
const maxMicroseconds = (1<<63 - 1) / 1000

// processorTime reads an event about the processors that a process gets.
func (m *Model) processorTime(e *event) {
	if v, ok := e.Decoded(); ok {
		e.process.Processor.Read(e.Time, v)
	}
}

// Read adds the reading in an event of the provider gctrail; it ignores other events.
// Readings of the same kind come in order of their time.
func (t *ProcessorTime) Read(at time.Duration, e clr.Event) {
	switch v := e.(type) {
	case *clr.ProcessThreadTime:
		t.readThreads(at, v)
	case *clr.GCThreadTime:
		t.readGC(v)
	case *clr.ProcessThrottling:
		t.readThrottling(at, v)
	case *clr.MachinePressure:
		t.MachineWait = Some(grown(&t.first.machine, min(v.WaitMicroseconds, maxMicroseconds)*1000))
	case *clr.CgroupPressure:
		t.CgroupWait = Some(grown(&t.first.cgroup, min(v.WaitMicroseconds, maxMicroseconds)*1000))
	case *clr.MachineTime:
		t.Busy, t.Stolen = Some(grown(&t.first.busy, v.BusyNanoseconds)), Some(grown(&t.first.stolen, v.StolenNanoseconds))
	}
}

func (t *ProcessorTime) readThreads(at time.Duration, v *clr.ProcessThreadTime) {
	if !t.first.at.Known() {
		t.first.at = Some(at)
	}
	run, wait := since(t.lastRun, v.RunNanoseconds), since(t.lastWait, v.WaitNanoseconds)
	t.lastRun, t.lastWait = v.RunNanoseconds, v.WaitNanoseconds
	waits := !v.WaitUnknown && (t.Wait.Known() || !t.Covered.Known()) // in each reading
	var waited time.Duration
	if t.Covered.Known() {
		t.Run, waited = units.AddCapped(t.Run, time.Duration(run)), units.AddCapped(t.Wait.Or(0), time.Duration(wait))
	}
	t.Covered = Some(at - t.first.at.Or(0))
	share := 0.0
	if run+wait > 0 {
		share = float64(wait) / (float64(run) + float64(wait))
	}
	t.waits.reading(at, share)
	t.PauseCovered, t.Wait, t.PauseWait = t.waits.covered, Opt[time.Duration]{}, Opt[time.Duration]{}
	if waits {
		t.Wait, t.PauseWait = Some(waited), Some(t.waits.sum)
	}
}

// WaitPct returns the share of the time in which threads could run that they waited for a
// processor, in percent.
func (t *ProcessorTime) WaitPct() Opt[float64] {
	return percentOf(t.Wait, units.AddCapped(t.Run, t.Wait.Or(0)))
}

// PauseWaitPct returns the same around GC pauses.
func (t *ProcessorTime) PauseWaitPct() Opt[float64] { return percentOf(t.PauseWait, t.PauseCovered) }

// percentOf returns a share in percent; unknown if the part is, or if there is no whole.
func percentOf(part Opt[time.Duration], whole time.Duration) Opt[float64] {
	if !part.Known() || whole <= 0 {
		return Opt[float64]{}
	}
	return Some(100 * float64(part.Or(0)) / float64(whole))
}

func (t *ProcessorTime) readThrottling(at time.Duration, v *clr.ProcessThrottling) {
	if !t.Throttling.Known() {
		t.throttledFirst, t.last = *v, *v
	}
	share := 0.0
	if before := t.throttles.at; before.Known() && at > before.Or(0) {
		share = float64(since(t.last.ThrottledNanoseconds, v.ThrottledNanoseconds)) / float64(at-before.Or(0))
	}
	t.last = *v
	t.throttles.reading(at, share)
	t.Throttling = Some(Throttling{
		Periods: since(t.throttledFirst.Periods, v.Periods), Throttled: since(t.throttledFirst.ThrottledPeriods, v.ThrottledPeriods),
		Time:         time.Duration(since(t.throttledFirst.ThrottledNanoseconds, v.ThrottledNanoseconds)),
		PauseCovered: t.throttles.covered, PauseTime: t.throttles.sum,
	})
}
