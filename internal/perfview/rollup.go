package perfview

import (
	"math"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// A Rollup sums up collections as the table GC Rollup By Generation does. The
// zero Rollup is empty.
type Rollup struct {
	rows [4]RollupRow // all, and each generation
}

// A RollupRow is the sum of all collections, or of one generation's.
type RollupRow struct {
	Name      string // ALL, 0, 1, 2
	Count     int
	MaxPause  time.Duration
	MaxPeak   float64 // MB
	MaxRate   float64 // MB allocated a second
	Pause     time.Duration
	Allocated float64 // MB
	Induced   int

	allAllocated float64 // MB, of all generations
}

// Add adds a collection.
func (r *Rollup) Add(g *GC) {
	allocated := g.Allocated[0] + g.Allocated[3] + g.Allocated[4]
	for _, row := range [...]*RollupRow{&r.rows[0], &r.rows[1+g.Generation]} {
		row.Count++
		row.MaxPause = max(row.MaxPause, g.Pause)
		row.MaxPeak = math.Max(row.MaxPeak, g.HeapPeak)
		row.MaxRate = math.Max(row.MaxRate, allocated/g.SinceLast.Seconds())
		row.Pause += g.Pause
		row.Allocated += allocated
		if g.Reason == clr.GCReasonInduced || g.Reason == clr.GCReasonInducedNotForced {
			row.Induced++
		}
	}
}

// Rows returns the row of all collections and the row of each generation.
func (r *Rollup) Rows() []RollupRow {
	rows := r.rows
	for i := range rows {
		rows[i].Name, rows[i].allAllocated = "ALL", r.rows[0].Allocated
		if i > 0 {
			rows[i].Name = strconv.Itoa(i - 1)
		}
	}
	return rows[:]
}

// A RollupColumn is one column of GC Rollup By Generation.
type RollupColumn struct {
	Name   string
	digits int
	number func(*RollupRow) float64
}

// RollupColumns returns the columns of the table, except the one that needs CPU
// samples.
func RollupColumns() []RollupColumn {
	return []RollupColumn{
		{"Count", 0, func(r *RollupRow) float64 { return float64(r.Count) }},
		{"Max Pause", 1, func(r *RollupRow) float64 { return millis(r.MaxPause) }},
		{"Max Peak MB", 1, func(r *RollupRow) float64 { return r.MaxPeak }},
		{"Max Alloc MB/sec", 3, func(r *RollupRow) float64 { return r.MaxRate }},
		{"Total Pause", 1, func(r *RollupRow) float64 { return millis(r.Pause) }},
		{"Total Alloc MB", 1, func(r *RollupRow) float64 { return r.Allocated }},
		{"Alloc MB/MSec GC", 1, func(r *RollupRow) float64 { return r.allAllocated / millis(r.Pause) }},
		{"Mean Pause", 1, func(r *RollupRow) float64 { return millis(r.Pause) / float64(r.Count) }},
		{"Induced", 0, func(r *RollupRow) float64 { return float64(r.Induced) }},
	}
}

// Text returns PerfView's text for a row, "-" in place of NaN or infinity.
func (c *RollupColumn) Text(r *RollupRow) string {
	return (&Column{Digits: c.digits}).format(c.number(r))
}
