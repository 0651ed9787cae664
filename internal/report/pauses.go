package report

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/perfview"
	"github.com/gctrail/gctrail/gc/stats"
)

// Pauses are the pauses of one process: their percentiles, the worst windows and
// the bottlenecks. NewPauses makes them.
type Pauses struct {
	stats.Summary
	classes     [4][4]stats.Ranking // by generation (3 is unknown) and kind
	all         stats.Ranking
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

// A Percentile is one percentile of the pauses of a generation and kind, and the
// collection that has it.
type Percentile struct {
	Generation gc.Opt[int]
	Kind       gc.Kind
	All        bool   // of every generation and kind
	Name       string // p50, max
	Percent    float64
	stats.Ranked
	AsLong int // collections with a pause as long, or longer
}

// Class returns what the percentile is of, as reports call it.
func (p *Percentile) Class() string {
	switch generation, known := p.Generation.Get(); {
	case p.All:
		return "all"
	case !known:
		return "unknown"
	default:
		return fmt.Sprintf("gen%d %v", generation, p.Kind)
	}
}

// NewPauses returns Pauses whose bottlenecks are the intervals of at least a length
// in which the program had less than some percent of the time. From and to narrow
// the time that is looked at.
func NewPauses(below float64, length time.Duration, from, to gc.Opt[time.Duration]) *Pauses {
	p := new(Pauses)
	p.From, p.To = from, to
	p.bottlenecks.Below, p.bottlenecks.MinLength = below, length
	return p
}

// Add adds a collection. Collections come in order of their start.
func (p *Pauses) Add(c *gc.Collection) {
	p.Summary.Add(c)
	generation := c.Generation.Or(3)
	if generation < 0 || generation > 3 {
		generation = 3
	}
	p.classes[generation][c.Kind].Add(c)
	p.all.Add(c)
	p.bottlenecks.Add(c)
}

// Known returns how many pauses are known.
func (p *Pauses) Known() int { return p.all.Count() }

// Exact reports whether the percentiles are those of the pauses themselves.
func (p *Pauses) Exact() bool { return p.all.Exact() }

// Bottlenecks returns those with most pause first, and how many there are.
// Nothing is to be added after it.
func (p *Pauses) Bottlenecks() ([]Bottleneck, int) { return p.bottlenecks.All() }

// percentiles are those of the table, with how many pauses a row takes.
var percentiles = []struct {
	name  string
	of    float64
	least int
}{{"p50", 50, 2}, {"p90", 90, 2}, {"p99", 99, 2}, {"p99.9", 99.9, 1000}, {"max", 100, 1}}

// Percentiles returns those of each generation and kind, and of all.
func (p *Pauses) Percentiles() []Percentile {
	var list []Percentile
	add := func(of Percentile, r *stats.Ranking) {
		for _, s := range percentiles {
			ranked, asLong, ok := r.Percentile(s.of)
			if !ok || r.Count() < s.least {
				continue
			}
			of.Name, of.Percent, of.Ranked, of.AsLong = s.name, s.of, ranked, asLong
			list = append(list, of)
		}
	}
	classes := 0
	for g := range p.classes {
		for k := range p.classes[g] {
			r := &p.classes[g][k]
			if r.Count() == 0 {
				continue
			}
			classes++
			generation := gc.Some(g)
			if g == 3 {
				generation = gc.Opt[int]{}
			}
			add(Percentile{Generation: generation, Kind: gc.Kind(k)}, r)
		}
	}
	if classes > 1 {
		add(Percentile{All: true}, &p.all)
	}
	return list
}

// Watched returns how long a process was watched, as far as it is looked at.
func Watched(of *gc.Process, from, to gc.Opt[time.Duration]) time.Duration {
	p := stats.Summary{Process: of, From: from, To: to}
	return p.Watched()
}

// metricNames returns those of the run metrics.
func metricNames() []string {
	var names []string
	for _, m := range new(perfview.Run).Metrics() {
		names = append(names, m.Name)
	}
	return names
}
