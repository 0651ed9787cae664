package findings

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

const (
	throttledShare = 5  // percent of the quota's periods; own
	waitingShare   = 20 // percent of the time in which threads could run; own: 12 to 18 on a machine that gave a program all it wanted
	enoughShare    = 10 // percent of the same, below which processors were not short; own
	foreignShare   = 25 // percent of the machine's processors that other programs use; own
	readingsShare  = 80 // percent of the pauses and of the time that readings must cover; own
)

// A shortage is the reason why a program's threads did not run when they could; 0 if the
// trace does not show it.
type shortage uint8

const (
	noShortage     shortage = 1 << iota
	quotaShortage           // the cgroup's quota was used up
	othersShortage          // other programs had the processors
	ownShortage             // more of the program's own threads wanted to run
)

// processors returns the processor time that the recording program read, and whether
// threads were short of processors. It returns no answer if the readings do not cover the
// trace, or the system does not say how long threads wait.
func (j *judgement) processors() (t gc.ProcessorTime, s shortage) {
	if j.Summary.Process == nil {
		return t, 0
	}
	t = j.Summary.Process.Processor
	covered, known := t.Covered.Get()
	share, waits := t.WaitPct().Get()
	if !known || !waits || t.Run <= 0 || of(covered, j.Summary.Watched()) < readingsShare {
		return t, 0
	}
	if th, limited := t.Throttling.Get(); limited && th.Throttled >= several && of(th.Throttled, th.Periods) >= throttledShare {
		s = quotaShortage
	}
	switch {
	case share < enoughShare:
		return t, max(s, noShortage)
	case share < waitingShare:
		return t, s
	}
	others, known := j.others(&t)
	switch {
	case !known:
		return t, s
	case others >= foreignShare:
		return t, s | othersShortage
	case s == 0:
		return t, ownShortage
	default:
		return t, s // waiting threads may have waited for the quota
	}
}

// others returns the share of the machine's processor time that other programs used, in percent.
// With the process's own share it is at most 100, although the system counts in whole ticks,
// whose sum can exceed the elapsed time.
func (j *judgement) others(t *gc.ProcessorTime) (float64, bool) {
	l := j.Summary.Process.Limits
	busy, known := t.Busy.Get()
	if !known || l == nil || l.MachineProcessors == 0 {
		return 0, false
	}
	all := time.Duration(l.MachineProcessors) * t.Covered.Or(0)
	return max(0, of(min(busy+t.Stolen.Or(0), all)-t.Run, all)), true
}

// shortOfProcessors returns a condition of advice: one of the wanted shortages applies
// or, if wanted is 0, the trace does not show whether one does.
func shortOfProcessors(wanted shortage) func(*judgement, *Finding) bool {
	return func(j *judgement, _ *Finding) bool {
		_, s := j.processors()
		return s&wanted != 0 || s == wanted
	}
}

// starved reports a shortage of any kind.
var starved = shortOfProcessors(quotaShortage | othersShortage | ownShortage)

var processorRules = []rule{
	{
		id: "R16", title: "a CPU quota throttles the program", kind: cause, minor: true,
		threshold: "in three periods of the cgroup's quota or more, and 5 % of them, threads had to wait for the next one; collect, run, top or agent recorded it on Linux",
		source:    "cpu.stat of the cgroup (cgroup-v2.rst); the thresholds are own",
		find:      throttled,
		advice:    []advice{{text: "Raise the CPU limit of the container. To verify, check that nr_throttled in the cgroup's cpu.stat stops growing."}},
	},
	{
		id: "R17", title: "other programs have the processors", kind: cause, minor: true,
		threshold: "threads waited for a processor in 20 % or more of the time in which they could run, while other programs used 25 % or more of the machine's processors; collect, run, top or agent recorded it on Linux",
		source:    "schedstat of the threads and /proc/stat; the thresholds are own",
		find:      crowdedOut,
		advice: []advice{
			{text: "Give the program a higher weight than the others (cpu.weight of its cgroup, cpu.shares in version 1), or move the others away."},
			{
				when: "threads waited around the GC pauses", fits: func(_ *judgement, f *Finding) bool { return f.weight >= someShare },
				text: "Then measure pauses again: in this trace, they are longer than the GC's work.",
			},
		},
	},
	{
		id: "R18", title: "more of the program's threads want to run than there are processors", kind: aside,
		threshold: "threads waited for a processor in 20 % or more of the time in which they could run, no quota throttled, and other programs used less than 25 % of the machine's processors; collect, run, top or agent recorded it on Linux",
		source:    "schedstat of the threads and /proc/stat; the thresholds are own",
		find:      crowded,
		advice:    []advice{{text: "Run fewer threads at a time: a thread that waits for a processor reaches its safe point late, which makes suspensions long."}},
	},
}

// recordProcessors records a trace that shows whether threads are short of processors.
var recordProcessors = Step{Action: Record, Purpose: "on Linux, also record whether threads wait for processors", Recording: Collections}

// byShortage returns advice on long pauses or suspensions: one text each for threads that
// were short of processors, for threads that were not, and for a trace that does not show
// which, with the next steps.
func byShortage(short, enough, unknown string, next ...Step) []advice {
	return []advice{
		{when: "threads were short of processors", fits: starved, text: short},
		{when: "threads were not short of processors", fits: shortOfProcessors(noShortage), text: enough},
		{when: "the trace does not show whether processors were short", fits: shortOfProcessors(0), text: unknown, next: next},
	}
}

// waited describes how long the threads waited for a processor.
func waited(t *gc.ProcessorTime) string {
	return fmt.Sprintf("threads of the process waited %s for a processor (%s of the time in which they could run)",
		units.Duration(t.Wait.Or(0)), units.Percent(t.WaitPct().Or(0)))
}

// processorFigures returns the evidence of all rules about processors.
func (j *judgement) processorFigures(t *gc.ProcessorTime) []Figure {
	figures := []Figure{
		{"thread_run_ms", millis(t.Run)},
		{"thread_wait_ms", millis(t.Wait.Or(0))},
		{"thread_wait_pct", t.WaitPct().Or(0)},
		{"thread_wait_pct_in_pauses", t.PauseWaitPct().Or(0)},
	}
	if busy, known := t.Busy.Get(); known {
		figures = append(figures, Figure{"machine_busy_ms", millis(busy)}, Figure{"machine_stolen_ms", millis(t.Stolen.Or(0))})
	}
	return figures
}

func throttled(j *judgement) (Finding, bool) {
	t, why := j.processors()
	if why&quotaShortage == 0 {
		return Finding{}, false
	}
	th := t.Throttling.Or(gc.Throttling{})
	share := of(th.PauseTime, th.PauseCovered)
	return Finding{
		Severity: max(j.costs(share), warningIf(j.hurts())), Confidence: Medium, weight: share,
		Description: fmt.Sprintf("The container was throttled for %s, in %s of %s%s. Around the GC pauses, it was throttled %s of the time. Overall, %s.",
			units.Duration(th.Time), units.Count(th.Throttled), plural(int(th.Periods), "period"), j.quota(), units.Percent(share), waited(&t)),
		Evidence: append([]Figure{
			{"quota_periods", float64(th.Periods)},
			{"throttled_periods", float64(th.Throttled)},
			{"throttled_ms", millis(th.Time)},
			{"throttled_pct_in_pauses", share},
		}, j.processorFigures(&t)...),
	}, true
}

// quota describes the quota in processors; empty if it is not known.
func (j *judgement) quota() string {
	l := j.Summary.Process.Limits
	if l == nil || l.Quota <= 0 || l.Period <= 0 {
		return ""
	}
	return fmt.Sprintf(" of its quota of %.3g processors", float64(l.Quota)/float64(l.Period))
}

func crowdedOut(j *judgement) (Finding, bool) {
	t, why := j.processors()
	if why&othersShortage == 0 {
		return Finding{}, false
	}
	share := t.PauseWaitPct().Or(0)
	explains := share
	if th, limited := t.Throttling.Get(); limited { // kernels before 6.18 count that as waiting
		explains = max(0, share-of(th.PauseTime, th.PauseCovered))
	}
	f := j.waiting(&t, explains)
	f.Description = upper(waited(&t)) + ". " + j.used(&t)
	if t.PauseWaitPct().Known() {
		f.Description += fmt.Sprintf(" Around the GC pauses, threads waited for a processor %s of the time.", units.Percent(share))
	}
	return f, true
}

func crowded(j *judgement) (Finding, bool) {
	t, why := j.processors()
	if why&ownShortage == 0 {
		return Finding{}, false
	}
	f := j.waiting(&t, 0)
	f.Description = upper(waited(&t)) + ". " + j.used(&t)
	return f, true
}

// used describes who used the processors.
func (j *judgement) used(t *gc.ProcessorTime) string {
	n := j.Summary.Process.Limits.MachineProcessors
	others, _ := j.others(t)
	return fmt.Sprintf("Of %s, the process used %.2f on average, and other programs %.2f.",
		plural(n, "processor"), of(t.Run, t.Covered.Or(0))/100, float64(n)*others/100)
}

// waiting returns a finding about waiting that explains a share of the pauses.
func (j *judgement) waiting(t *gc.ProcessorTime, share float64) Finding {
	return Finding{Severity: j.costs(share), Confidence: Medium, weight: share, Evidence: j.processorFigures(t)}
}
