package report

import (
	"fmt"
	"slices"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// Ranks order the collections of one process by the lengths of their pauses. The
// zero Ranks are empty.
type Ranks struct {
	classes [4][4]stats.Ranking // by generation (3 is unknown) and kind
	all     stats.Ranking
}

// Add adds a collection.
func (p *Ranks) Add(c *gc.Collection) {
	generation := c.Generation.Or(3)
	if generation < 0 || generation > 3 {
		generation = 3
	}
	p.classes[generation][c.Kind].Add(c)
	p.all.Add(c)
}

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

// Class returns the collections of the percentile, as reports call them.
func (p *Percentile) Class() string {
	if p.All {
		return "all"
	}
	return className(stats.Class{Generation: p.Generation, Kind: p.Kind})
}

// percentiles are the percentiles of the table, with how many pauses a row takes.
var percentiles = []struct {
	name  string
	of    float64
	least int
}{{"p50", 50, 2}, {"p90", 90, 2}, {"p99", 99, 2}, {"p99.9", 99.9, 1000}, {"max", 100, 1}}

// Percentiles returns the percentiles of each generation and kind, and of all.
func (p *Ranks) Percentiles() []Percentile {
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

// writePercentiles writes which collections have the pauses at the percentiles.
func (c *Case) writePercentiles(p *text.Page) {
	if c.Ranks == nil {
		return
	}
	all := c.Ranks.Percentiles()
	if len(all) == 0 {
		return
	}
	p.Section("Percentiles of pauses, with their GCs")
	scale := units.TimeScale(c.Summary.All().Pause.Max())
	var columns []text.Column
	column := make(map[string]int)
	for _, s := range percentiles {
		if s.least <= c.Ranks.all.Count() {
			column[s.name] = len(columns) + 1
			columns = append(columns, text.Column{Heading: s.name + " " + scale.Unit})
		}
	}
	var rows [][]string
	for i := range all {
		of := &all[i]
		if len(rows) == 0 || rows[len(rows)-1][0] != of.Class() {
			row := slices.Repeat([]string{units.Unknown}, 1+len(columns))
			row[0] = of.Class()
			rows = append(rows, row)
		}
		rows[len(rows)-1][column[of.Name]] = fmt.Sprintf("%s (%s)", scale.Time(of.Pause), units.Count(int64(of.Number)))
	}
	p.Table(append([]text.Column{{Heading: "GC", Left: true}}, columns...), rows)
}

// percentilesJSON are the collections at the percentiles of the pauses.
func (c *Case) percentilesJSON() []PausePercentile {
	if c.Ranks == nil {
		return []PausePercentile{}
	}
	return text.Each(c.Ranks.Percentiles(), func(p *Percentile) PausePercentile {
		j := PausePercentile{
			Generation: p.Generation, Percentile: p.Name, Pause: Millis(p.Pause), Number: p.Number,
			Reason: reasonOf(p.Reason), Start: millis(p.Start), AsLong: p.AsLong,
		}
		if !p.All {
			j.Kind = filled(p.Kind.String())
		}
		return j
	})
}
