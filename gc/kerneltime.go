package gc

import (
	"math"
	"time"

	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// A TimeSource is where processor time is known from.
type TimeSource uint8

const (
	NoTime          TimeSource = iota
	ThreadTimes                // the times of the threads, read by the program that recorded the trace
	ContextSwitches            // the kernel's events for them
	CPUSamples                 // the kernel's samples of the processors
)

var timeSourceNames = [...]string{"", "thread_times", "context_switches", "samples"}

func (s TimeSource) String() string { return units.Name("TimeSource", timeSourceNames[:], s) }

// KernelTime holds the processor time of a process by the kernel's events, in all of the
// trace. Of samples, times are their number times their interval.
type KernelTime struct {
	Source TimeSource // ContextSwitches or CPUSamples
	Run    time.Duration

	// Of Run, Server and Background are the threads' that do nothing but collect. Pausing is
	// the other threads', from when they began to pause the rest for a collection until they
	// had restarted it.
	Server, Background, Pausing time.Duration
	Threads                     int // that do nothing but collect, as far as is known

	Samples   uint64 // of the process
	GCSamples uint64 // of them, in Server, Background and Pausing
	Unknown   uint64 // samples of threads whose process the trace does not have
	// Interval is the mean one of the process's samples; Assumed if the trace has no event
	// with it.
	Interval time.Duration
	Assumed  bool
	// Whole is set if no more of the collector's time can be in the trace, apart from what
	// threads spend on waiting for it and on allocating.
	Whole bool
}

// Collector returns the time of the collector.
func (t *KernelTime) Collector() time.Duration {
	return units.AddCapped(units.AddCapped(t.Server, t.Background), t.Pausing)
}

// gcTime bounds the collector's time. Of samples, the bounds hold with 95 % confidence.
func (t *KernelTime) gcTime() UsedTime {
	g := UsedTime{Source: t.Source, Run: t.Run, Estimate: Some(t.Collector())}
	if t.Source == ContextSwitches {
		g.Least = t.Collector()
		if t.Whole {
			g.Most = Some(t.Collector())
		}
		return g
	}
	low, _ := poisson(t.GCSamples)
	g.Least = time.Duration(low * float64(t.Interval))
	if t.Whole {
		_, high := poisson(t.GCSamples + t.Unknown)
		g.Most = Some(time.Duration(high * float64(t.Interval)))
	}
	return g
}

// poisson bounds the mean of a Poisson distribution that a count is from, with 95 %
// confidence: the exact bounds (F. Garwood, Fiducial limits for the Poisson distribution,
// 1936) as E. B. Wilson and M. M. Hilferty approximate the chi-squared distribution. Samples
// at regular times deviate less.
func poisson(n uint64) (low, high float64) {
	const z = 1.96
	bound := func(n, z float64) float64 {
		root := 1 - 1/(9*n) + z/(3*math.Sqrt(n))
		return n * root * root * root
	}
	if n > 0 {
		low = bound(float64(n), -z)
	}
	return low, bound(float64(n)+1, z)
}

// end sets the times of a model's processes when the trace has ended.
func (p *processors) end(m *Model) {
	if p == nil || !p.sampled && !p.switched {
		return
	}
	complete := !p.broken && !m.loss.Incomplete() && !m.dropped.Incomplete()
	of := make(map[uint64]*kernelSum)
	for _, process := range m.processes {
		if process.PID != trace.UnknownID {
			of[process.PID] = &kernelSum{process: process}
		}
	}
	for k, r := range p.threads {
		if s := of[k.pid]; s != nil {
			s.add(r)
		}
	}
	for _, s := range of {
		if t := p.timeOf(s); t.Run > 0 || s.all.samples > 0 {
			t.Whole = complete && s.whole()
			s.process.Kernel = Some(t)
		}
	}
}

// A kernelSum sums up how much the threads of a process ran.
type kernelSum struct {
	process                          *Process
	all, server, background, pausing tally
	markers, backgrounds             int // threads
}

func (s *kernelSum) add(r *ran) {
	s.all.add(r.tally)
	switch {
	case r.role&runsBackgroundGC != 0:
		s.background.add(r.tally)
		s.backgrounds++
	case r.role&marks != 0 && s.process.Server.Or(false):
		s.server.add(r.tally)
		s.markers++
	default:
		s.pausing.add(r.pausing)
	}
}

// whole reports whether all threads are known on which the process's collections can have
// run. With server GC there is one for each heap. The further threads of a background
// collection are not known, because they raise no events of their own.
func (s *kernelSum) whole() bool {
	p := s.process
	ranBackground, open := s.backgrounds > 0, len(p.runtimes) == 0
	for _, rt := range p.runtimes {
		ranBackground = ranBackground || rt.lastBackground != nil
		open = open || rt.background != nil || rt.early.runs.Or(true) || len(rt.windows) > 0
	}
	switch {
	case p.Missing > 0 || p.partial || open || !p.Server.Known():
		return false
	case p.Server.Or(false):
		return !ranBackground && s.markers >= max(1, p.heaps)
	}
	return !ranBackground || s.backgrounds > 0
}

// timeOf returns the time of a process. Where there are both, context switches count, because
// samples have an error.
func (p *processors) timeOf(s *kernelSum) KernelTime {
	t := KernelTime{Source: CPUSamples, Threads: s.markers + s.backgrounds, Unknown: p.unknown}
	if p.switched {
		t.Source, t.Unknown = ContextSwitches, 0
	}
	first := p.first
	if first == 0 {
		first, t.Assumed = defaultInterval, p.interval == 0 && !p.switched
	}
	duration := func(of tally) time.Duration {
		if p.switched {
			return of.switched
		}
		return of.sampled + time.Duration(of.early)*first
	}
	t.Run, t.Server, t.Background, t.Pausing = duration(s.all), duration(s.server), duration(s.background), duration(s.pausing)
	if !p.switched {
		t.Samples, t.GCSamples = s.all.samples, s.server.samples+s.background.samples+s.pausing.samples
		t.Interval = t.Run / time.Duration(max(1, t.Samples))
	}
	return t
}
