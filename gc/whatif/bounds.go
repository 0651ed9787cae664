package whatif

import (
	"time"

	"github.com/gctrail/gctrail/gc"
)

// A Metric is a figure of a program, as it is now and with the settings.
type Metric struct {
	Name string          `json:"name"`
	Unit string          `json:"unit"`
	Now  gc.Opt[float64] `json:"now"`
	Low  gc.Opt[float64] `json:"low"`
	High gc.Opt[float64] `json:"high"`
}

// A Result is what some settings would change.
type Result struct {
	Settings   []Set
	Metrics    []Metric
	Assumes    []string // of the intervals
	CannotTell []string // reasons why intervals are unknown
	Notes      []string // settings that the runtime caps or ignores
}

// slack is how far measured values of equal runs differ from each other, as a factor:
// machines are busy, and programs do other work in each run.
const (
	slackCount = 2.4
	slackShare = 2.5
	slackPause = 4.0
	slackMax   = 8.0 // of the longest pause, which one event decides
	slackBytes = 1.8
)

// Predict bounds what settings would change of a program.
func Predict(p *Program, sets []Set) *Result {
	r := &Result{Settings: sets}
	usual, _, _ := p.budget()
	all := effect{least: usual, most: usual}
	for _, s := range sets {
		for i := range rules {
			if rules[i].name == s.Name {
				all.add(r, rules[i].of(p, s.Value))
			}
		}
	}
	if p.watched() <= 0 || p.pauses.Count() == 0 {
		r.CannotTell = append(r.CannotTell, "no collection in the trace has its pauses")
	}
	r.Metrics = p.now()
	if len(r.CannotTell) == 0 {
		p.bound(r.Metrics, usual, &all)
		r.Assumes = p.assumptions(usual, &all)
	} else if limit := all.limit; limit > 0 {
		m := &r.Metrics[len(r.Metrics)-1]
		m.Low, m.High = gc.Some(0.0), gc.Some(limit)
	}
	return r
}

// add adds the effect of another setting.
func (e *effect) add(r *Result, o effect) {
	if o.cannotTell != "" {
		r.CannotTell = append(r.CannotTell, o.cannotTell)
	}
	if o.note != "" {
		r.Notes = append(r.Notes, o.note)
	}
	if o.most > 0 {
		e.least, e.most = o.least, o.most
	}
	if o.limit > 0 {
		e.limit = o.limit
	}
}

func (p *Program) assumptions(usual float64, e *effect) []string {
	all := []string{
		"the program does the same work per byte that it allocates, on the same machine",
		"repeated runs vary as much as those of the programs that were measured",
	}
	if e.least != usual || e.most != usual {
		all = append(all, p.rule(),
			"with a larger gen 0, as many bytes survive as now or more, at most in proportion to its size",
			"collections for reasons other than gen 0's budget stay as frequent as now, or drop by up to half")
	}
	return all
}

// now returns the metrics of the trace.
func (p *Program) now() []Metric {
	ms := func(d time.Duration) gc.Opt[float64] {
		return gc.SomeIf(float64(d)/float64(time.Millisecond), p.pauses.Count() > 0)
	}
	watched := p.watched()
	rate, share := 0.0, 0.0
	if watched > 0 {
		rate, share = float64(p.pauses.Count())/watched.Minutes(), 100*p.share()
	}
	metrics := []Metric{
		{Name: "gcs_per_minute", Unit: "per_minute", Now: gc.Some(rate)},
		{Name: "paused_pct", Unit: "percent", Now: gc.Some(share)},
		{Name: "pause_p50_ms", Unit: "ms", Now: ms(p.pauses.Percentile(50))},
		{Name: "pause_p99_ms", Unit: "ms", Now: ms(p.pauses.Percentile(99))},
		{Name: "pause_max_ms", Unit: "ms", Now: ms(p.pauses.Max())},
		{Name: "committed_max_bytes", Unit: "bytes"},
	}
	if n, known := p.committed.Get(); known {
		metrics[len(metrics)-1].Now = gc.Some(float64(n))
	}
	return metrics
}
