package agent

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/proc"
)

const cpuSeries = `{pid="1073741824",process="web",runtime=".NET 10.0.1"}`

// TestProcessorCounters checks that counters of processors begin with the first known
// sum, grow with it, and never fall.
func TestProcessorCounters(t *testing.T) {
	a := newAgent(t, nil)
	attach(a, 1, program(7, "web"))
	p := a.processes[1]
	sums := func(run, wait time.Duration, periods int64) *proc.ProcessorSample {
		return &proc.ProcessorSample{
			Run: gc.Some(run), Wait: gc.Some(wait),
			Periods: gc.Some(periods), Throttled: gc.Some(periods / 2), ThrottledFor: gc.Some(time.Duration(periods) * time.Millisecond),
		}
	}
	for _, step := range []struct {
		name                       string
		quota                      time.Duration
		sums                       *proc.ProcessorSample
		wait, throttled, throttles string
	}{
		{"nothing is known", 0, new(proc.ProcessorSample), "", "", ""},
		{"no quota", 0, sums(time.Second, time.Second, 100), "0", "", ""},
		{"a quota is there", 20, sums(2*time.Second, 3*time.Second, 200), "2", "0", "0"},
		{"it throttles", 20, sums(2*time.Second, 4*time.Second, 400), "3", "100", "0.2"},
		{"sums go back", 20, sums(0, 0, 0), "3", "100", "0.2"},
		{"and grow again", 20, sums(0, time.Second, 20), "4", "110", "0.22"},
		{"nothing can be read", 20, new(proc.ProcessorSample), "4", "110", "0.22"},
	} {
		p.processor.limit(&gc.Limits{Quota: step.quota})
		p.countProcessors(step.sums)
		s := scrape(t, a)
		for name, value := range map[string]string{
			"gctrail_process_cpu_wait_time_seconds_total": step.wait, "gctrail_cgroup_cpu_throttled_periods_total": step.throttled,
			"gctrail_cgroup_cpu_throttled_time_seconds_total": step.throttles,
		} {
			if got := s[name+cpuSeries]; got != value {
				t.Errorf("%s: %s is %q, want %q", step.name, name, got, value)
			}
		}
	}
}

// TestProcessorWindow has a program that its quota throttles for four minutes, and that
// other programs crowd out from the eighth on: findings describe the current window.
func TestProcessorWindow(t *testing.T) {
	var w window
	var s struct {
		run, wait, busy    time.Duration
		periods, throttled int64
	}
	for second := range 16 * 60 {
		now := traceStart.Add(time.Duration(second) * time.Second)
		quota, others := second < 4*60, second >= 8*60
		s.run += 100 * time.Millisecond
		s.periods += 10
		s.busy += 100 * time.Millisecond
		if quota {
			s.throttled += 8
		}
		if others {
			s.wait, s.busy = s.wait+400*time.Millisecond, s.busy+3500*time.Millisecond
		}
		if second%5 == 0 {
			sample := proc.ProcessorSample{
				Run: gc.Some(s.run), Wait: gc.Some(s.wait), Busy: gc.Some(s.busy), Stolen: gc.Some(time.Duration(0)),
				Periods: gc.Some(s.periods), Throttled: gc.Some(s.throttled), ThrottledFor: gc.Some(time.Duration(s.throttled) * 50 * time.Millisecond),
			}
			w.read(&reading{now, sample.Events(), &gc.Limits{Processors: 4, MachineProcessors: 4, Quota: 20, Period: 100}})
		}
		c := collectionOf(uint32(second), 0, 200*time.Millisecond)
		c.Reason = gc.Some(clr.GCReasonAllocSmall)
		w.add(c)
		if second%60 != 59 {
			continue
		}
		minute, found := (second+1)/60, w.judge(now.Add(time.Second))
		for id, want := range map[string]bool{"R16": minute <= 10, "R17": minute >= 10} {
			if got := slices.ContainsFunc(found, func(f findings.Finding) bool { return f.ID == id }); got != want {
				t.Errorf("after %d minutes, %s: %v", minute, id, got)
			}
		}
	}
	if covered := w.current.processor.Covered.Or(0); covered > span+recent {
		t.Errorf("a window covers %v", covered)
	}
}

// TestReadProcessors reads the test itself until the kernel has counted some of its
// processor time.
func TestReadProcessors(t *testing.T) {
	a := newAgent(t, nil)
	p := program(7, "web")
	p.PID = os.Getpid()
	attach(a, 1, p)
	attach(a, 2, program(8, "gone")) // which cannot be read
	now := time.Now()
	ran := func() float64 { return a.processes[1].group.counters[key{metric: threadsRan}] }
	for range 1 << 16 {
		now = now.Add(limitsInterval)
		if a.readProcessors(now); ran() > 0 {
			break
		}
	}
	latest := a.processes[1].window.latest
	if latest.limits == nil || latest.limits.Processors == 0 {
		t.Skip("this system does not say what processors a process gets")
	}
	if len(latest.events) == 0 || ran() <= 0 {
		t.Errorf("%v s ran; %v", ran(), latest.events)
	}
	if _, counted := a.processes[2].group.counters[key{metric: threadsRan}]; counted {
		t.Error("a process that cannot be read has a counter")
	}
}

// TestCountGC counts the time of the GC's threads from the first reading that has it on.
func TestCountGC(t *testing.T) {
	a := newAgent(t, nil)
	attach(a, 1, program(7, "web"))
	p := a.processes[1]
	for _, s := range []proc.ProcessorSample{
		{},
		{GCThreads: gc.Some(2), ServerGC: gc.Some(3 * time.Second), BackgroundGC: gc.Some(time.Second)},
		{GCThreads: gc.Some(2), ServerGC: gc.Some(5 * time.Second), BackgroundGC: gc.Some(1500 * time.Millisecond)},
	} {
		p.countProcessors(&s)
	}
	if got := p.group.counters[key{metric: threadsCollected}]; got != 2.5 {
		t.Errorf("%v s, want 2.5", got)
	}
}
