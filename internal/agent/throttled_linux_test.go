package agent

import (
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// TestThrottled watches a busy program under a CPU quota until it has been throttled in ten
// periods: the agent counts them, and finds that they explain the pauses of its GCs.
func TestThrottled(t *testing.T) {
	args := dotnettest.NewQuota(t).Run("sh", "-c", "while :; do :; done")
	loop := exec.Command(args[0], args[1:]...)
	if err := loop.Start(); err != nil {
		t.Skip("a program that is busy: ", err)
	}
	defer func() {
		_ = loop.Process.Kill()
		_ = loop.Wait()
	}()
	a := newAgent(t, nil)
	watched := program(7, "web")
	watched.PID = loop.Process.Pid
	attach(a, 1, watched)
	p := a.processes[1]
	count := func(m *metric) float64 { return p.group.counters[key{metric: m}] }

	start, limit := time.Now(), time.Now().Add(dotnettest.Patience)
	for number := uint32(1); count(throttledPeriods) < 10; number++ {
		began := time.Since(start)
		time.Sleep(50 * time.Millisecond) // in which the kernel throttles the program
		c := collectionOf(number, 0, time.Since(start)-began)
		c.Collection.Start, c.PauseStart, c.Pauses[0].Start = gc.Some(began), gc.Some(began), began
		c.Start, c.Began, c.Ended = start, start.Add(began), time.Now()
		happen(a, 1, c)
		a.readProcessors(start.Add(time.Duration(number) * limitsInterval))
		if time.Now().After(limit) {
			t.Fatalf("throttled in %v of %v periods; limits %+v", count(throttledPeriods), count(quotaPeriods), p.processor.limits)
		}
	}
	if periods, took := count(quotaPeriods), count(throttledTime); periods < count(throttledPeriods) || took <= 0 {
		t.Errorf("throttled in %v of %v periods, for %v s", count(throttledPeriods), periods, took)
	}
	if l := p.processor.limits; l.Quota <= 0 || 5*l.Quota != l.Period {
		t.Errorf("a quota of %v in %v, want a fifth", l.Quota, l.Period)
	}
	found := p.window.judge(time.Now())
	if !slices.ContainsFunc(found, func(f findings.Finding) bool { return f.ID == "R16" }) {
		t.Errorf("found %+v", found)
	}
	samples := scrape(t, a)
	if got := samples[fmt.Sprintf(`gctrail_cgroup_cpu_throttled_periods_total{pid="%d",process="web",runtime=".NET 10.0.1"}`, watched.PID)]; got == "" || got == "0" {
		t.Errorf("exported %q", got)
	}
}
