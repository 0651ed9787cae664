package agent

import (
	"maps"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/hostevents"
	"github.com/gctrail/gctrail/internal/proccpu"
)

const (
	// readingProcessors is how often the processors that processes get are read:
	// windows last for minutes.
	readingProcessors = 5 * time.Second
	// limitsInterval is how often a process's limits are read, and its cgroup is found.
	limitsInterval = time.Minute
	// processorShare bounds what reading a process costs, as a share of a processor: one
	// with thousands of threads is read less often.
	processorShare = 0.005
	// recent is the age up to which a reading stands for the beginning of a window.
	recent = 3 * readingProcessors
)

// A reading is what the system said of a process's processors at a time.
type reading struct {
	at     time.Time
	events []clr.Event // sums
	limits *gc.Limits
}

// A processor reads what processors a process gets. One goroutine uses it.
type processor struct {
	reader  *proccpu.Reader // nil for none
	due     time.Time
	bounded time.Time // when limits were read
	limits  *gc.Limits
	before  proccpu.Sample
}

func newProcessor(p *diag.Process) (r processor) {
	if p.PID != 0 {
		r.reader = proccpu.NewReader(p.PID)
	}
	return r
}

// readProcessors reads the processors that each process gets. Files that processes share
// are read once.
func (a *Agent) readProcessors(now time.Time) {
	a.mu.Lock()
	all := slices.Collect(maps.Values(a.processes))
	a.mu.Unlock()
	var scan proccpu.Scan
	for _, p := range all {
		if p.processor.reader != nil && !now.Before(p.processor.due) {
			a.readProcessor(p, &scan, now)
		}
	}
}

func (a *Agent) readProcessor(p *process, scan *proccpu.Scan, now time.Time) {
	r, began := &p.processor, time.Now()
	if now.Sub(r.bounded) >= limitsInterval {
		r.bounded = now
		l := r.reader.Limits()
		event := hostevents.Limits(&l)
		r.limit(gc.NewLimits(&event))
	}
	s, err := r.reader.Read(scan)
	ended := time.Now()
	r.due = now.Add(time.Duration(float64(ended.Sub(began)) / processorShare))
	if err != nil {
		return // it has ended, or the agent may not read it
	}
	read := reading{ended, hostevents.Events(&s), r.limits}
	a.mu.Lock()
	defer a.mu.Unlock()
	p.countProcessors(&s)
	p.window.read(&read)
}

// limit takes the process's limits. Where the quota is another one, it may be that of
// another cgroup, with other sums.
func (r *processor) limit(limits *gc.Limits) {
	if b := r.limits; b == nil || b.Quota != limits.Quota || b.Period != limits.Period {
		r.before = proccpu.Sample{Run: r.before.Run, Wait: r.before.Wait}
	}
	r.limits = limits
}

// countProcessors counts what the sums have grown by since the sample before.
func (p *process) countProcessors(s *proccpu.Sample) {
	g, before := p.group, &p.processor.before
	grow(g, threadsRan, before.Run, s.Run, time.Second)
	grow(g, threadsWaited, before.Wait, s.Wait, time.Second)
	if l := p.processor.limits; l != nil && l.Quota > 0 {
		grow(g, quotaPeriods, before.Periods, s.Periods, 1)
		grow(g, throttledPeriods, before.Throttled, s.Throttled, 1)
		grow(g, throttledTime, before.ThrottledFor, s.ThrottledFor, time.Second)
	}
	p.processor.before = *s
}

// grow adds the growth of a sum to a counter, which begins with the first sum that is
// known.
func grow[T ~int64](g *group, m metricID, before, now gc.Opt[T], unit T) {
	if n, known := now.Get(); known {
		g.count(m, float64(max(0, n-before.Or(n)))/float64(unit))
	}
}
