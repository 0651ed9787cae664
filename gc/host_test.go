package gc_test

import (
	"math"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
)

// TestHostOfTraces compares a process's processors as read by gc with what the traces'
// programs went through: one was throttled, one crowded out by eight busy loops, one ran 16
// threads on two processors.
func TestHostOfTraces(t *testing.T) {
	for _, tt := range []struct {
		trace     string
		quota     time.Duration
		throttled bool
		waits     float64 // at least, of the time in which threads could run
		others    float64 // at least, processors that other programs used
	}{
		{"net10-wks-throttled-collect.nettrace.gz", 20 * time.Millisecond, true, 0.5, 0},
		{"net10-wks-crowded-collect.nettrace.gz", 0, false, 0.9, 1.5},
		{"net10-wks-own-threads-collect.nettrace.gz", 0, false, 0.5, 0},
	} {
		f, err := open.File("../testdata/"+tt.trace, open.Options{Want: gc.Wants})
		if err != nil {
			t.Fatal(err)
		}
		var m gc.Model
		var pauses time.Duration
		for c, err := range m.Collections(f.Source) {
			if err != nil {
				t.Fatal(err)
			}
			pauses += c.Pause().Or(0)
		}
		f.Close()
		p := m.Processes()[0]
		l, cpu := p.Limits, p.Processor
		if l == nil || l.Processors != 2 || l.MachineProcessors != 2 || l.Quota != tt.quota {
			t.Errorf("%s: %+v", tt.trace, l)
		}
		covered := cpu.Covered.Or(0)
		th := cpu.Throttling.Or(gc.Throttling{})
		others := float64(cpu.Busy.Or(0)+cpu.Stolen.Or(0)-cpu.Run) / float64(covered)
		if waits := cpu.WaitPct().Or(-1) / 100; waits < tt.waits || others < tt.others || th.Throttled > 0 != tt.throttled || th.Throttled > th.Periods {
			t.Errorf("%s: waits %.2f, others %.2f, %+v", tt.trace, waits, others, th)
		}
		if cpu.PauseCovered <= 0 || cpu.PauseCovered > pauses+pauses/10 || cpu.PauseWait.Or(-1) < 0 || cpu.PauseWait.Or(0) > cpu.PauseCovered || th.PauseTime > th.PauseCovered {
			t.Errorf("%s: of %v paused, %v are covered, %v waited, %v throttled", tt.trace, pauses, cpu.PauseCovered, cpu.PauseWait, th.PauseTime)
		}
	}
}

// TestHostUnits reads counters of each kind twice: figures are what they grew by.
func TestHostUnits(t *testing.T) {
	s := newScript()
	for i := range uint64(2) {
		raise := func(k clr.Kind, fields ...any) { s.raise(float64(10*i), 0, k.Provider(), k.ID(), 0, fields...) }
		raise(clr.KindMachineTime, 10+i*3, 20+i*4)
		raise(clr.KindMachinePressure, 30+i*5)
		raise(clr.KindCgroupPressure, 40+i*6)
		raise(clr.KindGCThreadTime, uint32(1), 50+i*7, 60+i*8)
	}
	_, _, m := s.run(t)
	cpu := m.Processes()[0].Processor
	for name, figure := range map[string]struct{ got, want gc.Opt[time.Duration] }{
		"busy":    {cpu.Busy, gc.Some(3 * time.Nanosecond)},
		"stolen":  {cpu.Stolen, gc.Some(4 * time.Nanosecond)},
		"machine": {cpu.MachineWait, gc.Some(5 * time.Microsecond)},
		"cgroup":  {cpu.CgroupWait, gc.Some(6 * time.Microsecond)},
	} {
		if figure.got != figure.want {
			t.Errorf("%s: %v, want %v", name, figure.got, figure.want)
		}
	}
	if got := cpu.GC.Or(gc.CollectorTime{}); got.Server != 7 || got.Background != 8 {
		t.Errorf("server GC %v, background GC %v", got.Server, got.Background)
	}
}

// TestHostHostile reads counters that go back and that are as large as can be.
func TestHostHostile(t *testing.T) {
	s := newScript()
	for i, n := range []uint64{5, math.MaxUint64, 3, 1 << 63, 0} {
		at := float64(10 * i)
		raise := func(k clr.Kind, fields ...any) { s.raise(at, 0, k.Provider(), k.ID(), 0, fields...) }
		raise(clr.KindProcessThreadTime, uint32(1), n, n)
		raise(clr.KindGCThreadTime, uint32(1), n, n)
		raise(clr.KindProcessThrottling, n, n, n)
		raise(clr.KindMachineTime, n, n)
		raise(clr.KindMachinePressure, n)
		raise(clr.KindProcessLimits, uint32(1), uint32(1), n, n, n, uint16(0))
	}
	var m gc.Model
	for range m.Collections(s) {
		t.Fatal("a collection of no events")
	}
	p := m.Processes()[0]
	cpu := p.Processor
	th := cpu.Throttling.Or(gc.Throttling{})
	for name, d := range map[string]int64{
		"run": int64(cpu.Run), "wait": int64(cpu.Wait.Or(-1)), "busy": int64(cpu.Busy.Or(-1)), "stolen": int64(cpu.Stolen.Or(-1)), "machine": int64(cpu.MachineWait.Or(-1)),
		"server GC": int64(cpu.GC.Or(gc.CollectorTime{}).Server), "background GC": int64(cpu.GC.Or(gc.CollectorTime{}).Background),
		"periods": th.Periods, "throttled": th.Throttled, "time": int64(th.Time), "limit": p.Limits.MemoryLimit, "quota": int64(p.Limits.Quota), "period": int64(p.Limits.Period),
	} {
		if d < 0 {
			t.Errorf("%s is %d", name, d)
		}
	}
}
