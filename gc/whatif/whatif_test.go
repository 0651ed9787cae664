package whatif

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// program returns a program with ten collections of gen 0, one a second, each with a pause of
// 10 ms, and a budget of 64 MiB.
func program(p *gc.Process) *Program {
	p.Started, p.Stopped = 0, 10*time.Second
	out := new(Program)
	for i := range 10 {
		out.Add(collectionOf(p, i))
	}
	return out
}

func collectionOf(p *gc.Process, i int) *gc.Collection {
	p.Stopped = max(p.Stopped, 10*time.Second)
	at := time.Duration(i) * time.Second
	return &gc.Collection{
		Process: p, Number: uint32(i + 1), Kind: gc.Blocking, Generation: gc.Some(0), Reason: gc.Some(clr.GCReasonAllocSmall),
		Start: gc.Some(at), End: gc.Some(at + 10*time.Millisecond), AllPauses: true, Complete: true,
		Pauses:         []gc.Pause{{Kind: gc.PauseBlocking, Start: at, Duration: 10 * time.Millisecond}},
		Generations:    []gc.Generation{{Before: 64 * mib, Out: mib, Budget: 64 * mib}},
		HeapAfter:      gc.Some(int64(8 * mib)),
		CommittedAfter: gc.Some(int64(80 * mib)),
	}
}

func set(t *testing.T, s string) Set {
	t.Helper()
	v, err := ParseSet(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// metric returns a metric of a result.
func metric(t *testing.T, r *Result, name string) Metric {
	t.Helper()
	for _, m := range r.Metrics {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no metric %s", name)
	return Metric{}
}

func TestGen0Size(t *testing.T) {
	p := program(&gc.Process{Server: gc.Some(false), Concurrent: gc.Some(true)})
	smaller, larger := Predict(p, []Set{set(t, "GCgen0size=16M")}), Predict(p, []Set{set(t, "DOTNET_gcgen0SIZE=128M")})
	for _, tt := range []struct {
		r       *Result
		name    string
		inside  float64
		outside float64
	}{
		{smaller, "gcs_per_minute", 240, 61}, // four times as often
		{larger, "gcs_per_minute", 30, 160},
		{smaller, "pause_p50_ms", 2.5, 41},
		{larger, "pause_p50_ms", 20, 81},
		{larger, "committed_max_bytes", 144 * mib, 320 * mib},
		{smaller, "committed_max_bytes", 32 * mib, 150 * mib},
		{larger, "paused_pct", 0.5, 3},
	} {
		m := metric(t, tt.r, tt.name)
		low, high := m.Low.Or(math.NaN()), m.High.Or(math.NaN())
		if !(low <= tt.inside && tt.inside <= high) || low <= tt.outside && tt.outside <= high {
			t.Errorf("%s: %g to %g, want %g in it and %g not", m.Name, low, high, tt.inside, tt.outside)
		}
	}
	if len(smaller.Assumes) == 0 || len(smaller.CannotTell) > 0 {
		t.Errorf("%+v", smaller)
	}
}

// TestNamed: settings that the runtime caps or ignores are named, and answers that it cannot give.
func TestNamed(t *testing.T) {
	const telling, ignored = "cannot_tell", "note"
	workstation := func() *gc.Process {
		return &gc.Process{Runtime: ".NET 10.0.1", Server: gc.Some(false), Concurrent: gc.Some(true)}
	}
	server := func() *gc.Process { return &gc.Process{Runtime: ".NET 6.0.1", Server: gc.Some(true)} }
	limited := func() *gc.Process {
		return &gc.Process{Settings: &clr.GCSettingsRundown{HardLimit: 100 * mib, Gen0MaxBudgetConfig: 8 * mib}}
	}
	capped := func() *gc.Process {
		return &gc.Process{Settings: &clr.GCSettingsRundown{Gen0MaxBudgetConfig: 32 * mib}}
	}
	for _, tt := range []struct {
		process  *gc.Process
		set      string
		kind, in string
	}{
		{workstation(), "GCgen0size=1G", ignored, "128 MiB"},
		{workstation(), "GCgen0size=1", ignored, "64 KiB"},
		{limited(), "GCgen0size=64M", telling, "hard limit"},
		{capped(), "GCgen0size=64M", ignored, "GCGen0MaxBudget"},
		{workstation(), "GCHeapCount=2", ignored, "workstation"},
		{server(), "GCHeapCount=4", telling, "heaps"},
		{workstation(), "GCDynamicAdaptationMode=1", ignored, "workstation"},
		{server(), "GCDynamicAdaptationMode=1", ignored, ".NET 8"},
		{workstation(), "gcConcurrent=1", ignored, "already"},
		{workstation(), "gcConcurrent=0", telling, "background"},
		{workstation(), "gcServer=1", telling, "server GC"},
		{workstation(), "GCLOHThreshold=80000", telling, "sizes of objects"},
		{workstation(), "GCLOHThreshold=100", ignored, "85,000"},
		{workstation(), "GCConserveMemory=5", telling, "free space"},
		{workstation(), "GCHeapHardLimit=4M", telling, "whether the program would run"},
		{workstation(), "GCHeapHardLimit=1G", telling, "how often"},
	} {
		r := Predict(program(tt.process), []Set{set(t, tt.set)})
		said := strings.Join(r.Notes, "; ")
		if tt.kind == telling {
			said = strings.Join(r.CannotTell, "; ")
			if m := metric(t, r, "paused_pct"); m.Low.Known() || m.High.Known() {
				t.Errorf("%s: has bounds", tt.set)
			}
		}
		if !strings.Contains(said, tt.in) {
			t.Errorf("%s: %q does not have %q", tt.set, said, tt.in)
		}
	}
	m := metric(t, Predict(program(workstation()), []Set{set(t, "GCHeapHardLimit=50M")}), "committed_max_bytes")
	if m.High.Or(0) != 50*mib {
		t.Errorf("committed under a limit: %+v", m)
	}
}

func TestParseSet(t *testing.T) {
	for _, s := range []string{"", "GCgen0size", "GCgen0size=", "GCgen0size=x", "GCHeapAffinitizeMask=1", "=1"} {
		if got, err := ParseSet(s); err == nil {
			t.Errorf("%q is %+v", s, got)
		}
	}
	if s := set(t, "COMPlus_GCGen0Size=40"); s.Name != "GCgen0size" || s.Value.Value != 64 {
		t.Errorf("%+v", s)
	}
}

// TestOdd: collections as damaged traces have them, without generations, times and pauses, in
// any order, give finite bounds or none.
func TestOdd(t *testing.T) {
	sets := make([][]Set, 0, len(rules))
	for _, name := range Names() {
		for _, v := range []string{"0", "1", "64M", "ffffffffffffffff"} {
			sets = append(sets, []Set{set(t, name+"="+v)})
		}
	}
	for _, of := range []*gc.Process{{}, {Runtime: ".NET x"}, {Runtime: ".NET ", Stopped: time.Hour, Server: gc.Some(true)}, {Stopped: 1}} {
		for _, c := range []gc.Collection{
			{},
			{Generations: []gc.Generation{{}}},
			{Generations: []gc.Generation{{Before: 1, FreeBefore: 1 << 60, Out: 1 << 60, Budget: 1 << 60}}, Heaps: gc.Some(1024)},
			{Generations: []gc.Generation{{Before: 1 << 60, Budget: 1}}, HeapAfter: gc.Some(int64(1 << 60)), Reason: gc.Some(clr.GCReasonAllocSmall)},
			{Pauses: []gc.Pause{{Duration: time.Hour}}, AllPauses: true, Kind: gc.Background, Generation: gc.Some(2)},
		} {
			p := Program{Process: of}
			for range 3 {
				c.Process = of
				p.Add(&c)
			}
			for _, s := range sets {
				for _, m := range Predict(&p, s).Metrics {
					for _, v := range []gc.Opt[float64]{m.Now, m.Low, m.High} {
						if f := v.Or(0); math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
							t.Errorf("%+v: %+v", s, m)
						}
					}
					if m.Low.Or(0) > m.High.Or(math.MaxFloat64) {
						t.Errorf("%+v: %+v", s, m)
					}
				}
			}
		}
	}
}

// TestFarSmaller: concurrent workstation GC lets survivors raise gen 0's budget to 6 MiB, however
// small its least is; and how short pauses of gen 0 could be is not known from other pauses.
func TestFarSmaller(t *testing.T) {
	of := &gc.Process{Server: gc.Some(false), Concurrent: gc.Some(true)}
	young := metric(t, Predict(program(of), []Set{set(t, "GCgen0size=1M")}), "gcs_per_minute")
	if low := young.Low.Or(0); low < 60 || low > 60*64/6 {
		t.Errorf("GCs a minute with 1 MiB: at least %g; 64 of 6 MiB allocate as much as 6 of 64", low)
	}
	p := new(Program)
	for i := range 10 {
		c := collectionOf(of, i)
		c.Generation = gc.Some(1)
		p.Add(c)
	}
	if m := metric(t, Predict(p, []Set{set(t, "GCgen0size=1M")}), "pause_p50_ms"); m.Low.Or(1) != 0 || m.High.Or(0) < 10 {
		t.Errorf("median pause without collections of gen 0 in the trace: %+v", m)
	}
	if m := metric(t, Predict(program(of), []Set{set(t, "GCgen0size=1M")}), "pause_p50_ms"); !(m.Low.Or(0) > 0) {
		t.Errorf("median pause with collections of gen 0 in the trace: %+v", m)
	}
}

// TestFew: percentiles of few pauses are less certain.
func TestFew(t *testing.T) {
	width := func(n int) float64 {
		of, p := &gc.Process{Server: gc.Some(false), Concurrent: gc.Some(true), Stopped: time.Second}, new(Program)
		for i := range n {
			c := collectionOf(of, i)
			c.Pauses[0].Duration *= time.Duration(1 + i%4)
			p.Add(c)
		}
		m := metric(t, Predict(p, []Set{set(t, "GCgen0size=64M")}), "pause_p50_ms")
		return m.High.Or(0) - m.Low.Or(0)
	}
	if few, many := width(8), width(400); !(few > many) {
		t.Errorf("width of the median's bounds from 8 pauses: %g ms, from 400: %g ms", few, many)
	}
}
