package report

import (
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/perfview"
	"github.com/gctrail/gctrail/internal/text"
)

// Pauses are the pauses of one process: their percentiles, the worst windows and
// the bottlenecks. NewPauses makes them.
type Pauses struct {
	stats.Summary
	ranks       Ranks
	bottlenecks stats.Bottlenecks
}

type (
	// A Window is the worst of all windows of one length.
	Window = stats.Stall
	// A Bottleneck is an interval in which the program had too little of the time.
	Bottleneck = stats.Bottleneck
	// A Threshold finds the percentile of some pauses.
	Threshold = stats.Distribution
)

// NewPauses returns Pauses whose bottlenecks are the intervals of at least a length
// in which the program had less than some percent of the time. From and to narrow
// the time that is looked at.
func NewPauses(below float64, length time.Duration, from, to gc.Opt[time.Duration]) *Pauses {
	p := new(Pauses)
	p.From, p.To = from, to
	p.bottlenecks.Below, p.bottlenecks.MinLength = below, length
	p.bottlenecks.From, p.bottlenecks.To = from, to
	return p
}

// Add adds a collection. Collections come in order of their start.
func (p *Pauses) Add(c *gc.Collection) {
	p.Summary.Add(c)
	p.ranks.Add(c)
	p.bottlenecks.Add(c)
}

// AddOutside adds the suspensions outside collections of a collection that is not added
// itself, because they may still lie in the selected time.
func (p *Pauses) AddOutside(all []gc.Outside) {
	p.Summary.AddOutside(all)
	p.bottlenecks.AddOutside(all)
}

// Known returns how many pauses are known.
func (p *Pauses) Known() int { return p.ranks.all.Count() }

// Exact reports whether the percentiles are computed from the pauses themselves.
func (p *Pauses) Exact() bool { return p.ranks.all.Exact() }

// Bottlenecks returns the bottlenecks in descending order of pause, and how many there
// are. Nothing may be added after it.
func (p *Pauses) Bottlenecks() ([]Bottleneck, int) { return p.bottlenecks.All() }

// Percentiles returns the percentiles of each generation and kind, and of all.
func (p *Pauses) Percentiles() []Percentile { return p.ranks.Percentiles() }

// metricNames returns the names of the run metrics.
func metricNames() []string {
	return text.Each(new(perfview.Run).Metrics(), func(m *perfview.Metric) string { return m.Name })
}
