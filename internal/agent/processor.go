package agent

import (
	"maps"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/proc"
)

const (
	// readingProcessors is the interval between readings of processor time. It need not
	// be short, because windows last for minutes.
	readingProcessors = 5 * time.Second
	// limitsInterval is the interval at which a process's limits are read and its cgroup is
	// looked up.
	limitsInterval = time.Minute
	// processorShare bounds the cost of reading a process, as a share of a processor, so
	// that a process with thousands of threads is read less often.
	processorShare = 0.005
	// recent is the age up to which a reading counts as the beginning of a window.
	recent = 3 * readingProcessors
)

// A reading holds the processor time of a process at a time.
type reading struct {
	at     time.Time
	events []clr.Event // sums
	limits *gc.Limits
}

// A processor reads the processor time of a process. It is for use by one goroutine.
type processor struct {
	reader  *proc.ProcessorReader // nil for none
	due     time.Time
	bounded time.Time // when limits were read
	limits  *gc.Limits
	before  proc.ProcessorSample
}

func newProcessor(p *diag.Process) (r processor) {
	if p.PID != 0 {
		r.reader = proc.NewProcessorReader(p.PID)
	}
	return r
}

// readProcessors reads the processor time of each process. It reads files shared by
// several processes once.
func (a *Agent) readProcessors(now time.Time) {
	a.mu.Lock()
	all := slices.Collect(maps.Values(a.processes))
	a.mu.Unlock()
	var scan proc.Scan
	for _, p := range all {
		if p.processor.reader != nil && !now.Before(p.processor.due) {
			a.readProcessor(p, &scan, now)
		}
	}
}

func (a *Agent) readProcessor(p *process, scan *proc.Scan, now time.Time) {
	r, began := &p.processor, time.Now()
	if now.Sub(r.bounded) >= limitsInterval {
		r.bounded = now
		limits := r.reader.Limits()
		r.limit(gc.NewLimits(&limits))
	}
	s, err := r.reader.Read(scan)
	ended := time.Now()
	r.due = now.Add(time.Duration(float64(ended.Sub(began)) / processorShare))
	if err != nil {
		return // it has ended, or the agent may not read it
	}
	read := reading{ended, s.Events(), r.limits}
	a.mu.Lock()
	defer a.mu.Unlock()
	p.countProcessors(&s)
	p.window.read(&read)
}

// limit records the process's limits. If the quota has changed, counting starts anew,
// because the process may be in another cgroup, whose counters have other sums.
func (r *processor) limit(limits *gc.Limits) {
	if b := r.limits; b == nil || b.Quota != limits.Quota || b.Period != limits.Period {
		r.before = proc.ProcessorSample{
			Run: r.before.Run, Wait: r.before.Wait, ServerGC: r.before.ServerGC, BackgroundGC: r.before.BackgroundGC,
		}
	}
	r.limits = limits
}

// countProcessors adds the growth of the sums since the previous sample to the counters.
func (p *process) countProcessors(s *proc.ProcessorSample) {
	g, before := p.group, &p.processor.before
	grow(g, threadsRan, before.Run, s.Run, time.Second)
	grow(g, threadsWaited, before.Wait, s.Wait, time.Second)
	grow(g, threadsCollected, before.GC(), s.GC(), time.Second)
	if l := p.processor.limits; l != nil && l.Quota > 0 {
		grow(g, quotaPeriods, before.Periods, s.Periods, 1)
		grow(g, throttledPeriods, before.Throttled, s.Throttled, 1)
		grow(g, throttledTime, before.ThrottledFor, s.ThrottledFor, time.Second)
	}
	p.processor.before = *s
}

// grow adds the growth of a sum to a counter, from the first known sum on.
func grow[T ~int64](g *group, m *metric, before, now gc.Opt[T], unit T) {
	if n, known := now.Get(); known {
		g.count(m, float64(max(0, n-before.Or(n)))/float64(unit))
	}
}
