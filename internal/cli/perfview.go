package cli

import (
	"strconv"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/gc"
)

// perfviewColumns are those of the table All GC Events of PerfView's GCStats
// page, under its headings and in its units (GcStats.cs, PrintEventTable). The
// share of the CPU is not among them; POH is. Allocations are those of all
// generations, not only of generation 0.
func perfviewColumns() []column.Column {
	columns := []column.Column{
		{Name: "GC Index", Value: named("number")},
		{Name: "Pause Start", Value: func(c *gc.Collection) column.Value { return msec(c.PauseStart) }},
		{Name: "Trigger Reason", Value: named("reason")},
		{Name: "Gen", Value: perfviewGeneration},
		{Name: "Suspend Msec", Value: func(c *gc.Collection) column.Value { return msec(c.Suspend()) }},
		{Name: "Pause MSec", Value: func(c *gc.Collection) column.Value { return msec(c.Pause()) }},
		{Name: "% Pause Time", Value: pauseShare},
		{Name: "Alloc MB", Value: func(c *gc.Collection) column.Value { return megabytes(c.Allocated) }},
		{Name: "Alloc Rate MB/sec", Value: allocationRate},
		{Name: "Peak MB", Value: func(c *gc.Collection) column.Value { return megabytes(c.HeapPeak) }},
		{Name: "After MB", Value: func(c *gc.Collection) column.Value { return megabytes(c.HeapAfter) }},
		{Name: "Ratio Peak/After", Value: func(c *gc.Collection) column.Value { return ratio(c.HeapPeak, c.HeapAfter, 1) }},
		{Name: "Promoted MB", Value: func(c *gc.Collection) column.Value { return megabytes(c.Promoted) }},
	}
	for i, name := range [...]string{"Gen0", "Gen1", "Gen2", "LOH", "POH"} {
		of := func(value func(*gc.Generation) column.Value) func(*gc.Collection) column.Value {
			return func(c *gc.Collection) column.Value {
				if i >= len(c.Generations) {
					return column.Value{}
				}
				return value(&c.Generations[i])
			}
		}
		columns = append(columns,
			column.Column{Name: name + " MB", Value: of(func(g *gc.Generation) column.Value { return megabytes(g.After) })},
			column.Column{Name: name + " Survival Rate %", Value: of(func(g *gc.Generation) column.Value {
				return number(g.Survival.Or(0), g.Survival.Known())
			})},
			column.Column{Name: name + " Frag %", Value: of(func(g *gc.Generation) column.Value {
				return ratio(g.Fragmentation, g.After, 100)
			})})
	}
	return append(columns,
		column.Column{Name: "Finalizable Surv MB", Value: func(c *gc.Collection) column.Value {
			return megabytes(c.FinalizationPromoted)
		}},
		column.Column{Name: "Pinned Obj", Value: named("pinned_objects")})
}

// named is the value of the column of that name.
func named(name string) func(*gc.Collection) column.Value {
	c, _ := column.Named(name)
	return c.Value
}

func number(v float64, known bool) column.Value {
	if !known {
		return column.Value{}
	}
	return column.Value{Type: column.Float, Float: v}
}

func megabytes(v gc.Opt[int64]) column.Value { return number(float64(v.Or(0))/1e6, v.Known()) }

func msec(v gc.Opt[time.Duration]) column.Value { return number(float64(v.Or(0))/1e6, v.Known()) }

// ratio is a/b times unit.
func ratio(a, b gc.Opt[int64], unit float64) column.Value {
	return number(float64(a.Or(0))/float64(b.Or(0))*unit, a.Known() && b.Known() && b.Or(0) != 0)
}

// perfviewGeneration is the generation with how it was collected: 2B is a
// background collection of generation 2, 2NI an induced one that blocks.
func perfviewGeneration(c *gc.Collection) column.Value {
	if !c.Generation.Known() {
		return column.Value{}
	}
	s := strconv.Itoa(c.Generation.Or(0))
	s += map[gc.Kind]string{gc.Blocking: "N", gc.Background: "B", gc.Foreground: "F"}[c.Kind]
	if c.Reason.Known() {
		switch c.Reason.Or(0) {
		case clr.GCReasonInduced, clr.GCReasonInducedLowMemory, clr.GCReasonInducedCompacting, clr.GCReasonInducedAggressive:
			s += "I"
		case clr.GCReasonInducedNotForced:
			s += "i"
		}
	}
	return column.Value{Type: column.Text, Text: s}
}

// pauseShare is the pause's part of the time since the collection before.
func pauseShare(c *gc.Collection) column.Value {
	pause := c.Pause()
	whole := c.SinceLast.Or(0) + pause.Or(0)
	return number(float64(pause.Or(0))/float64(whole)*100, pause.Known() && c.SinceLast.Known() && whole > 0)
}

func allocationRate(c *gc.Collection) column.Value {
	return number(float64(c.Allocated.Or(0))/1e6/c.SinceLast.Or(0).Seconds(), c.Allocated.Known() && c.SinceLast.Known() && c.SinceLast.Or(0) > 0)
}
