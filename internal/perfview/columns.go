package perfview

import (
	"math"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// A Column is one column of a table of GCStats.
type Column struct {
	Name   string
	Digits int                                  // after the point, of numbers
	Number func(*GC) float64                    // NaN if unknown; nil for a column of words
	Word   func(*GC) string                     // nil for a column of numbers
	Own    func(*gc.Collection) gc.Opt[float64] // gctrail's figure; nil if the definitions agree
	Why    string                               // how Own is defined instead; empty if the definitions agree
}

// Text returns PerfView's text for a collection, "-" in place of NaN.
func (c *Column) Text(g *GC) string {
	if c.Word != nil {
		return c.Word(g)
	}
	return c.format(c.Number(g))
}

func (c *Column) format(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', c.Digits, 64)
}

// Differs reports whether gctrail's own figure of the same collection is
// different, to the digits printed. An unknown figure differs from a known one.
func (c *Column) Differs(g *GC, own *gc.Collection) bool {
	if c.Own == nil {
		return false
	}
	text := "-"
	if v, known := c.Own(own).Get(); known {
		text = c.format(v)
	}
	return text != c.Text(g)
}

var generationNames = [numGenerations]string{"Gen0", "Gen1", "Gen2", "LOH", "POH"}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Events returns the columns of the tables All GC Events and Pause > 200 Msec
// GC Events, except the share of the CPU, which needs CPU samples.
func Events() []Column {
	columns := []Column{
		{Name: "GC Index", Number: func(g *GC) float64 { return float64(g.Number) }},
		{
			Name: "Pause Start", Digits: 3, Number: func(g *GC) float64 { return millis(g.PauseStart) },
			Own: func(c *gc.Collection) gc.Opt[float64] { return ms(c.PauseStart) },
			Why: "from SuspendEEBegin, also of an ephemeral GC in the initial pause of a background GC; PerfView has that begin with its GCStart",
		},
		{Name: "Trigger Reason", Word: func(g *GC) string { return g.Reason.String() }},
		{Name: "Gen", Word: (*GC).Name},
		{
			Name: "Suspend Msec", Digits: 3, Number: func(g *GC) float64 { return millis(g.Suspend) },
			Own: func(c *gc.Collection) gc.Opt[float64] { return ms(c.Suspend()) },
			Why: "by thread: PerfView adds other suspensions during a background GC to it",
		},
		{
			Name: "Pause MSec", Digits: 3, Number: func(g *GC) float64 { return millis(g.Pause) },
			Own: func(c *gc.Collection) gc.Opt[float64] { return ms(c.Pause()) },
			Why: "to RestartEEBegin, as the runtime counts; PerfView counts to RestartEEEnd",
		},
		{
			Name: "% Pause Time", Digits: 1, Number: func(g *GC) float64 { return g.PauseShare },
			Own: ownPauseShare,
			Why: "of the time from the restart before it; PerfView's begins at the statistics of the GC before, and for a background GC at that GC's end",
		},
		{
			Name: "Gen0 Alloc MB", Digits: 3, Number: func(g *GC) float64 { return g.Allocated[0] },
			Own: func(c *gc.Collection) gc.Opt[float64] { return sizeOf(c.Allocated) },
			Why: "of all generations, summed over the heaps first",
		},
		{
			Name: "Gen0 Alloc Rate MB/sec", Digits: 2, Number: func(g *GC) float64 { return g.Allocated[0] / g.SinceLast.Seconds() },
			Own: ownRate,
			Why: "of all generations, over the time that threads could run",
		},
		{
			Name: "Peak MB", Digits: 3, Number: func(g *GC) float64 { return g.HeapPeak },
			Own: func(c *gc.Collection) gc.Opt[float64] { return sizeOf(c.HeapPeak) },
			Why: "the larger of before and after; PerfView takes the size before",
		},
		{
			Name: "After MB", Digits: 3, Number: func(g *GC) float64 { return g.HeapAfter },
			Own: func(c *gc.Collection) gc.Opt[float64] { return sizeOf(c.HeapAfter) },
			Why: "of the same GC; PerfView gives late statistics to a neighbour",
		},
		{
			Name: "Ratio Peak/After", Digits: 2, Number: func(g *GC) float64 { return g.HeapPeak / g.HeapAfter },
			Own: func(c *gc.Collection) gc.Opt[float64] { return quotient(sizeOf(c.HeapPeak), sizeOf(c.HeapAfter)) },
			Why: "of gctrail's Peak MB",
		},
		{
			Name: "Promoted MB", Digits: 3, Number: func(g *GC) float64 { return g.Promoted },
			Own: func(c *gc.Collection) gc.Opt[float64] { return sizeOf(c.Promoted) },
			Why: "with the POH; PerfView's lacks it, and for background GCs holds what an earlier GC left there in gen 0 and gen 1",
		},
	}
	for i, name := range generationNames[:4] {
		own := func(of func(*gc.Generation) gc.Opt[float64]) func(*gc.Collection) gc.Opt[float64] {
			return func(c *gc.Collection) gc.Opt[float64] {
				if i >= len(c.Generations) {
					return gc.Opt[float64]{}
				}
				return of(&c.Generations[i])
			}
		}
		columns = append(columns,
			Column{
				Name: name + " MB", Digits: 3, Number: func(g *GC) float64 { return g.SizeAfter[i] },
				Own: own(func(g *gc.Generation) gc.Opt[float64] { return sizeOf(g.After) }),
				Why: "of the heap histories; PerfView's are of GCHeapStats",
			},
			Column{
				Name: name + " Survival Rate %", Number: func(g *GC) float64 { return g.Survival[i] },
				Own: own(func(g *gc.Generation) gc.Opt[float64] { return g.Survival }),
				Why: "of all heaps together; PerfView takes the mean of the heaps' percentages, each without its fraction, and has one for background GCs too",
			},
			Column{
				Name: name + " Frag %", Digits: 2, Number: func(g *GC) float64 { return 100 * g.Free[i] / g.SizeAfter[i] },
				Own: own(func(g *gc.Generation) gc.Opt[float64] {
					share, known := quotient(sizeOf(g.Fragmentation), sizeOf(g.After)).Get()
					return gc.SomeIf(100*share, known)
				}),
				Why: "of sizes of the heap histories; PerfView's are of GCHeapStats",
			})
	}
	return append(columns,
		Column{
			Name: "Finalizable Surv MB", Digits: 2, Number: func(g *GC) float64 { return g.FinalizationPromoted },
			Own: func(c *gc.Collection) gc.Opt[float64] { return sizeOf(c.FinalizationPromoted) },
			Why: "unknown where the runtime wrote memory that was never set",
		},
		Column{Name: "Pinned Obj", Number: func(g *GC) float64 { return float64(g.PinnedObjects) }})
}

// Name returns the generation and how it was collected: 2B is a background
// collection of generation 2, 2NI an induced blocking one.
func (g *GC) Name() string {
	name := strconv.Itoa(g.Generation)
	switch g.Type {
	case clr.GCTypeNonConcurrentGC:
		name += "N"
	case clr.GCTypeBackgroundGC:
		name += "B"
	case clr.GCTypeForegroundGC:
		name += "F"
	}
	switch g.Reason {
	case clr.GCReasonInduced:
		name += "I"
	case clr.GCReasonInducedNotForced:
		name += "i"
	}
	return name
}

// Generations returns the columns of PerfView's Per Generation GC Events.
func Generations() []Column {
	columns := []Column{
		{Name: "PauseStart", Digits: 3, Number: func(g *GC) float64 { return millis(g.PauseStart) }},
		{Name: "Num", Number: func(g *GC) float64 { return float64(g.Number) }},
		{Name: "Gen", Word: (*GC).Name},
		{Name: "GCStop", Digits: 3, Number: func(g *GC) float64 { return millis(g.Start + g.Duration) }},
		{Name: "TickMB", Digits: 3, Number: func(g *GC) float64 { return g.Ticks }},
	}
	for _, of := range []struct {
		name  string
		value func(*GC) *[numGenerations]float64
	}{
		{"Before", func(g *GC) *[numGenerations]float64 { return &g.SizeBefore }},
		{"After", func(g *GC) *[numGenerations]float64 { return &g.SizeAfter }},
		{"Surv", func(g *GC) *[numGenerations]float64 { return &g.Survived }},
		{"In", func(g *GC) *[numGenerations]float64 { return &g.In }},
		{"Out", func(g *GC) *[numGenerations]float64 { return &g.Out }},
		{"Frag", func(g *GC) *[numGenerations]float64 { return &g.Free }},
		{"Budget", func(g *GC) *[numGenerations]float64 { return &g.Budget }},
	} {
		for gen := range 4 {
			columns = append(columns, Column{Name: of.name + strconv.Itoa(gen), Digits: 3, Number: func(g *GC) float64 { return of.value(g)[gen] }})
		}
	}
	return columns
}

// Condemned returns the columns of the table Condemned reasons for GCs.
func Condemned() []Column {
	columns := []Column{
		{Name: "GC Index", Number: func(g *GC) float64 { return float64(g.Number) }},
		{Name: "Heap Index", Number: func(g *GC) float64 { return float64(g.ReasonHeap) }},
	}
	for i, name := range reasonNames {
		columns = append(columns, Column{Name: name, Word: func(g *GC) string { return g.reason(i) }})
	}
	return columns
}

// reason returns PerfView's text in a column of condemned reasons.
func (g *GC) reason(column int) string {
	switch {
	case g.Reasons == nil || g.Reasons[column] == 0:
		return ""
	case column != induced:
		return strconv.Itoa(int(g.Reasons[column]))
	case g.Reasons[column] == inducedBlocking:
		return "Blocking"
	case g.Reasons[column] == inducedNotForced:
		return "NotForced"
	default:
		return strconv.Itoa(int(g.Reasons[column]))
	}
}

func ms(d gc.Opt[time.Duration]) gc.Opt[float64] {
	v, known := d.Get()
	return gc.SomeIf(millis(v), known)
}

func sizeOf(n gc.Opt[int64]) gc.Opt[float64] {
	v, known := n.Get()
	return gc.SomeIf(mb(v), known)
}

func quotient(a, b gc.Opt[float64]) gc.Opt[float64] {
	v, known := a.Get()
	by, also := b.Get()
	return gc.SomeIf(v/by, known && also && by != 0)
}

// ownPauseShare returns the pause's part of the time since the collection
// before.
func ownPauseShare(c *gc.Collection) gc.Opt[float64] {
	pause, known := c.Pause().Get()
	since, also := c.SinceLast.Get()
	return gc.SomeIf(100*float64(pause)/float64(pause+since), known && also && pause+since > 0)
}

func ownRate(c *gc.Collection) gc.Opt[float64] {
	since, known := c.SinceLast.Get()
	return quotient(sizeOf(c.Allocated), gc.SomeIf(since.Seconds(), known))
}
