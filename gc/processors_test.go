package gc_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/trace"
)

// sample raises a sample of a thread, as Windows' kernel does.
func (s *script) sample(tid uint64, at ...float64) {
	for _, ms := range at {
		s.raise(ms, tid, "PerfInfo", 46, 2, uint64(0x1234), uint32(tid), uint32(1))
	}
}

// interval raises the event of an interval of samples, in units of 100 ns.
func (s *script) interval(ms float64, id, now, before uint32) {
	s.raise(ms, 1, "PerfInfo", id, 3, uint32(0), now, before)
}

// runs raises the context switch of a processor from one thread to another.
func (s *script) runs(ms float64, cpu uint32, tid, old uint64) {
	s.raise(ms, tid, "Thread", 36, 2, uint32(tid), uint32(old), make([]byte, 16))
	s.events[len(s.events)-1].CPU = cpu
	if tid == 0 {
		s.events[len(s.events)-1].PID = 0
	}
}

// runtimeStart raises the event that has the kind of GC.
func (s *script) runtimeStart(flags clr.StartupFlags) {
	v := clr.RuntimeInformationStart{ClrInstanceID: s.clr, Sku: clr.RuntimeSkuCoreClr, BclMajorVersion: 9, StartupFlags: flags}
	s.raise(0, 1, clr.RuntimeProvider, 187, 0, v.Append(nil, 0, 8))
}

func (s *script) mark(ms float64, tid uint64, heap uint32) {
	s.raise(ms, tid, clr.RuntimeProvider, 202, 0, heap, s.clr, uint32(clr.RootTypeStack), uint64(10))
}

// kernelTime reads the script's trace with its events of the kernel, and returns the time of
// the first process.
func (s *script) kernelTime(t *testing.T) (gc.KernelTime, *gc.Process) {
	t.Helper()
	m := new(gc.Model)
	for _, err := range m.Collections(s, m.Processors()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(m.Processes()) == 0 {
		t.Fatal("no process")
	}
	p := m.Processes()[0]
	return p.Kernel.Or(gc.KernelTime{}), p
}

// workstation raises a blocking collection of thread 1 from 100 to 101.2 ms, a background one
// that thread 1 starts at 200 and thread 3 ends at 240, and samples of threads 1 to 3.
func workstation(s *script) {
	s.runtimeStart(clr.StartupFlagsConcurrentGC)
	s.sample(1, 50, 99)
	s.sample(2, 60)
	s.blockingWith(100, 1, 1, func() { s.sample(1, 100.2, 100.4); s.sample(2, 100.45) })
	s.sample(1, 150)
	s.suspendBegin(200, 1, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(200.1, 1)
	s.start(200.2, 1, 2, 2, clr.GCTypeBackgroundGC)
	s.sample(3, 200.3, 200.6)
	s.restartBegin(201, 1)
	s.restartEnd(201.1, 1)
	s.sample(3, 210, 211, 212)
	s.sample(2, 213)
	s.suspendBegin(220, 3, clr.SuspendReasonSuspendForGCPrep)
	s.suspendEnd(220.1, 3)
	s.sample(3, 220.5)
	s.restartBegin(221, 3)
	s.restartEnd(221.1, 3)
	s.sample(3, 230)
	s.end(240, 3, 2, 2)
	s.stats(240, 3, 700)
	s.sample(1, 250)
}

// blockingWith is blocking, with other events before its end.
func (s *script) blockingWith(ms float64, tid uint64, number uint32, more func()) {
	s.suspendBegin(ms-0.1, tid, clr.SuspendReasonSuspendForGC)
	s.suspendEnd(ms-0.05, tid)
	s.start(ms, tid, number, 0, clr.GCTypeNonConcurrentGC)
	more()
	s.history(ms+0.5, tid, 0, clr.GlobalMechanismsCompaction, [5]size{{before: 1000, out: 100}})
	s.end(ms+1, tid, number, 0)
	s.stats(ms+1, tid, 100)
	s.restartBegin(ms+1.1, tid)
	s.restartEnd(ms+1.2, tid)
}

// TestSamples counts the samples of the thread that pauses the others while it does, and all
// of the thread of background GC, also ones before it is known to be that.
func TestSamples(t *testing.T) {
	s := newScript()
	s.interval(0, 73, 5000, 5000) // half a millisecond
	workstation(s)
	k, p := s.kernelTime(t)
	const ms = time.Millisecond
	want := gc.KernelTime{
		Source: gc.CPUSamples, Run: 16 * ms / 2, Pausing: 2 * ms / 2, Background: 7 * ms / 2, Threads: 1,
		Samples: 16, GCSamples: 9, Interval: ms / 2, Whole: true,
	}
	if k != want {
		t.Errorf("%+v, want %+v", k, want)
	}
	g, known := p.GCTime().Get()
	if !known || g.Source != gc.CPUSamples || g.Estimate != gc.Some(9*ms/2) || g.Run != 8*ms {
		t.Fatalf("%+v", g)
	}
	// The exact bounds of a Poisson distribution's mean for 9 are 4.12 and 17.08.
	if low, high := ms2(g.Least), ms2(g.Most.Or(0)); low < 2.0 || low > 2.1 || high < 8.5 || high > 8.6 {
		t.Errorf("%v to %v ms, want 2.06 to 8.54", low, high)
	}
	if pct := g.MostPct().Or(0); pct != 100 {
		t.Errorf("at most %v %%", pct)
	}
}

func ms2(d time.Duration) float64 { return d.Seconds() * 1000 }

// TestIntervals: samples count with the interval of their time, also ones before the event
// that says it. Without one, it is Windows' usual one, and that is said.
func TestIntervals(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		raise   func(*script)
		run     time.Duration
		assumed bool
	}{
		"none": {func(s *script) { s.sample(2, 1, 2, 3) }, 3 * ms, true},
		"another source": {func(s *script) {
			s.sample(2, 1)
			s.raise(2, 1, "PerfInfo", 73, 3, uint32(9), uint32(65536), uint32(65536))
		}, ms, true},
		"too short":       {func(s *script) { s.sample(2, 1); s.raise(2, 1, "PerfInfo", 73, 3, uint32(0), uint32(65536)) }, ms, true},
		"at the end":      {func(s *script) { s.sample(2, 1, 2); s.interval(3, 74, 20000, 20000) }, 4 * ms, false},
		"set":             {func(s *script) { s.sample(2, 1, 2); s.interval(3, 72, 10000, 2500); s.sample(2, 4) }, 3 * ms / 2, false},
		"set to nonsense": {func(s *script) { s.interval(0, 73, 10000, 10000); s.interval(0, 72, 1<<31, 0); s.sample(2, 1) }, ms, false},
	} {
		s := newScript()
		tt.raise(s)
		s.blocking(10, 1, 1)
		if k, _ := s.kernelTime(t); k.Run != tt.run || k.Assumed != tt.assumed {
			t.Errorf("%s: %v, assumed %v; want %v", name, k.Run, k.Assumed, tt.run)
		}
	}
}

// TestWhole: an upper bound is known only if all of the collector's threads and times are.
func TestWhole(t *testing.T) {
	server := func(heaps int, marked ...uint64) func(*script) {
		return func(s *script) {
			s.runtimeStart(clr.StartupFlagsServerGC)
			s.sample(11, 1) // not yet known to collect
			s.blockingWith(100, 10, 1, func() {
				for i, tid := range marked {
					s.mark(100.1, tid, uint32(i))
				}
				s.sample(11, 100.2)
				s.sample(10, 100.3)
				all := make([][5]size, heaps)
				s.history(100.4, 10, 0, clr.GlobalMechanismsCompaction, all...)
			})
		}
	}
	for name, tt := range map[string]struct {
		raise     func(*script)
		gcSamples uint64
		whole     bool
	}{
		"workstation": {workstation, 9, true},
		"missing":     {func(s *script) { workstation(s); s.blocking(300, 1, 4) }, 9, false},
		"lost":        {func(s *script) { workstation(s); s.loss.Add(3, 1, 2) }, 9, false},
		"late":        {func(s *script) { workstation(s); s.sample(1, 260); s.events[len(s.events)-1].Late = true }, 9, false},
		"pause cut at the end": {func(s *script) {
			workstation(s)
			s.suspendBegin(300, 1, clr.SuspendReasonSuspendForGC)
			s.sample(1, 301)
		}, 9, false},
		"pause cut at the start": {func(s *script) {
			s.sample(1, 1)
			s.restartBegin(2, 1)
			s.restartEnd(2.1, 1)
			workstation(s)
		}, 9, false},
		"a background GC runs on": {func(s *script) {
			workstation(s)
			s.suspendBegin(300, 1, clr.SuspendReasonSuspendForGC)
			s.suspendEnd(300.1, 1)
			s.start(300.2, 1, 3, 2, clr.GCTypeBackgroundGC)
			s.restartBegin(301, 1)
			s.restartEnd(301.1, 1)
		}, 9, false},
		"of an unknown kind":       {func(s *script) { s.blockingWith(100, 1, 1, func() { s.sample(1, 100.2) }) }, 1, false},
		"server":                   {server(2, 10, 11), 3, true},
		"server, a thread unknown": {server(2, 10), 1, false},
		"server without marking":   {server(2), 1, false},
		"suspended for something else": {func(s *script) {
			workstation(s)
			s.suspendBegin(300, 1, clr.SuspendReasonSuspendForShutdown)
			s.sample(1, 300.1)
			s.restartBegin(301, 1)
			s.restartEnd(301.1, 1)
		}, 9, true},
	} {
		s := newScript()
		s.interval(0, 73, 10000, 10000)
		tt.raise(s)
		k, p := s.kernelTime(t)
		g := p.GCTime().Or(gc.UsedTime{})
		if k.GCSamples != tt.gcSamples || k.Whole != tt.whole || g.Most.Known() != tt.whole {
			t.Errorf("%s: %+v, %+v, want %d samples, whole %v", name, k, g, tt.gcSamples, tt.whole)
		}
	}
}

// TestUnknownSamples: samples of threads of unknown processes may be the collector's.
func TestUnknownSamples(t *testing.T) {
	s := newScript()
	s.interval(0, 73, 10000, 10000)
	workstation(s)
	of := func(pid, tid uint64) {
		s.sample(tid, 260)
		s.events[len(s.events)-1].PID = pid
	}
	of(8, 9)
	of(0, 0) // nothing to do
	of(trace.UnknownID, 0)
	before, p := s.kernelTime(t)
	most := p.GCTime().Or(gc.UsedTime{}).Most.Or(0)
	of(trace.UnknownID, 9)
	of(trace.UnknownID, 9)
	k, p := s.kernelTime(t)
	if before.Unknown != 0 || k.Unknown != 2 || k.Samples != before.Samples || k.GCSamples != before.GCSamples {
		t.Errorf("%+v, before %+v", k, before)
	}
	if g := p.GCTime().Or(gc.UsedTime{}); g.Most.Or(0) <= most+2*time.Millisecond {
		t.Errorf("at most %v, before %v", g.Most, most)
	}
}

// TestContextSwitches: they show the time to the tick, and which part of it is in a pause.
func TestContextSwitches(t *testing.T) {
	raise := func(s *script, between func()) {
		s.runtimeStart(0)
		s.runs(90, 0, 1, 0) // thread 1 runs from 90 to 100.5, with a pause from 99.9 on
		s.runs(95, 1, 2, 0) // thread 2 from 95 to 97
		s.runs(97, 1, 0, 2)
		s.suspendBegin(99.9, 1, clr.SuspendReasonSuspendForGC)
		s.suspendEnd(99.95, 1)
		s.start(100, 1, 1, 0, clr.GCTypeNonConcurrentGC)
		s.runs(100.5, 0, 0, 1)
		s.runs(100.8, 2, 1, 0) // and on another processor to 102, with the pause up to 101.2
		between()
		s.history(100.9, 1, 0, clr.GlobalMechanismsCompaction, [5]size{{before: 1000, out: 100}})
		s.end(101, 1, 1, 0)
		s.stats(101, 1, 100)
		s.restartBegin(101.1, 1)
		s.restartEnd(101.2, 1)
		s.sample(1, 101.5) // counts for nothing beside them
		s.runs(102, 2, 0, 1)
	}
	s := newScript()
	raise(s, func() {})
	k, p := s.kernelTime(t)
	near := func(d time.Duration, ms float64) bool { return d > 0 && ms2(d)-ms < 1e-3 && ms-ms2(d) < 1e-3 }
	if k.Source != gc.ContextSwitches || !near(k.Run, 13.7) || !near(k.Pausing, 1.0) || !k.Whole || k.Samples != 0 {
		t.Errorf("%+v", k)
	}
	if g := p.GCTime().Or(gc.UsedTime{}); g.Most != gc.Some(g.Least) || g.Estimate != gc.Some(g.Least) || g.Source != gc.ContextSwitches {
		t.Errorf("%+v", g)
	}
	s = newScript()
	raise(s, func() { s.runs(100.85, 2, 5, 4) }) // the switch from 1 to 4 is missing
	if k, _ = s.kernelTime(t); k.Whole || !near(k.Pausing, 0.6) {
		t.Errorf("broken: %+v", k)
	}
}

// TestNoKernel: nothing is known without the kernel's events, or without being asked.
func TestNoKernel(t *testing.T) {
	s := newScript()
	workstationOnly := func() { s.runtimeStart(0); s.blocking(100, 1, 1) }
	workstationOnly()
	if _, p := s.kernelTime(t); p.Kernel.Known() || p.GCTime().Known() {
		t.Errorf("%+v", p.Kernel)
	}
	s = newScript()
	workstationOnly()
	s.sample(1, 150)
	if _, _, m := s.run(t); m.Processes()[0].Kernel.Known() {
		t.Error("known without being asked for")
	}
	named := &trace.Descriptor{Provider: "PerfInfo", ID: 46, Name: "Mine"}
	if gc.Wants(&trace.Descriptor{Provider: "PerfInfo", ID: 46}) || gc.Wants(named) {
		t.Error("a model wants samples without being asked")
	}
}

// TestCoverage: of 400 random programs whose truth is known, the bounds hold for 95 %.
func TestCoverage(t *testing.T) {
	const programs = 400
	random := rand.New(rand.NewPCG(1, 2))
	held := 0
	for range programs {
		s := newScript()
		s.interval(0, 73, 10000, 10000)
		s.runtimeStart(0)
		var truth, at time.Duration
		next := time.Duration(random.IntN(1e6)) // of the timer
		ticks := func(to time.Duration) {
			for ; next < to; next += time.Millisecond {
				s.sample(1, ms2(next))
			}
		}
		for n := range uint32(20) {
			at += time.Duration(random.IntN(20e6))
			ticks(at)
			took := time.Duration(random.IntN(3e6)) + 10
			from, to := ms2(at), ms2(at+took)
			s.suspendBegin(from, 1, clr.SuspendReasonSuspendForGC)
			s.suspendEnd(from, 1)
			s.start(from, 1, n+1, 0, clr.GCTypeNonConcurrentGC)
			at += took
			ticks(at)
			s.end(to, 1, n+1, 0)
			s.restartBegin(to, 1)
			s.restartEnd(to, 1)
			truth += took
		}
		_, p := s.kernelTime(t)
		if g := p.GCTime().Or(gc.UsedTime{}); g.Least <= truth && truth <= g.Most.Or(0) {
			held++
		}
	}
	if held < programs*95/100 {
		t.Errorf("the bounds held for %d of %d", held, programs)
	}
}
