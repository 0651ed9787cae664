package perfview

import "github.com/gctrail/gctrail/clr"

// NumReasons counts the columns of the table of condemned reasons.
const NumReasons = 30

// The columns that hold a generation, and the two that other rules look at.
const (
	initialGeneration = iota
	finalGeneration
	budgetExceeded
	timeTuning
	induced
	expandHeap     = 6
	fragmentedGen2 = 9
	highMemory     = 10
	beforeOOM      = 11
)

// The values of the column Induced.
const (
	inducedBlocking  = 1
	inducedNotForced = 2
)

// reasonNames are the headings of the table Condemned reasons for GCs.
var reasonNames = [NumReasons]string{
	"Initial Requested Generation", "Final Generation", "Generation Budget Exceeded", "Time Tuning", "Induced",
	"Ephemeral Low", "Expand Heap", "Fragmented Ephemeral", "Low Ephemeral Fragmented Gen2", "Fragmented Gen2",
	"High Memory", "Compacting Full GC", "Small Heap", "Ephemeral Before BGC", "Internal Tuning",
	"Max Generation Budget", "Avoid Unproductive Full GC", "Provisional Mode Induced", "Provisional Mode LOH alloc", "Provision Mode",
	"Compacting Full under HardLimit", "LOH Frag HardLimit", "LOH Reclaim HardLimit", "Servo Initial", "Servo Blocking gc",
	"Servo BGC", "Servo Gen0", "Stress Mix", "Stress", "Aggressive",
}

// conditions list the column that each bit of CondemnReasons1 sets, and its value.
var conditions = [...]struct {
	bit    clr.CondemnReasons1
	column int
	value  uint8
}{
	{clr.CondemnReasons1InducedFullGC, induced, inducedBlocking},
	{clr.CondemnReasons1ExpandFullGC, expandHeap, 1},
	{clr.CondemnReasons1LowEphemeral, 5, 1},
	{clr.CondemnReasons1LowCardTableEfficiency, 14, 1},
	{clr.CondemnReasons1EphemeralHighFragmentation, 7, 1},
	{clr.CondemnReasons1MaxGenerationHighFragmentation, fragmentedGen2, 1},
	{clr.CondemnReasons1MaxGenerationHighFragmentationEphemeralPromotion, 8, 1},
	{clr.CondemnReasons1MaxGenerationHighFragmentationMemory, highMemory, 1},
	{clr.CondemnReasons1MaxGenerationHighFragmentationVeryHighMemory, highMemory, 1},
	{clr.CondemnReasons1MaxGen1, budgetExceeded, 2},
	{clr.CondemnReasons1BeforeOOM, beforeOOM, 1},
	{clr.CondemnReasons1Gen2TooSmall, 12, 1},
	{clr.CondemnReasons1InducedNoForce, induced, inducedNotForced},
	{clr.CondemnReasons1BeforeBGC, 13, 1},
	{clr.CondemnReasons1AlmostMaxAlloc, 15, 1},
	{clr.CondemnReasons1JoinedAvoidUnproductiveFullGC, 16, 1},
	{clr.CondemnReasons1JoinedPMInducedFullGC, 17, 1},
	{clr.CondemnReasons1JoinedPMAllocLOH, 18, 1},
	{clr.CondemnReasons1JoinedGen1InPM, 19, 1},
	{clr.CondemnReasons1JoinedLimitBeforeOOM, 20, 1},
	{clr.CondemnReasons1JoinedLimitLOHFrag, 21, 1},
	{clr.CondemnReasons1JoinedLimitLOHReclaim, 22, 1},
	{clr.CondemnReasons1JoinedServoInitial, 23, 1},
	{clr.CondemnReasons1JoinedServoNgc, 24, 1},
	{clr.CondemnReasons1JoinedServoBGC, 25, 1},
	{clr.CondemnReasons1JoinedServoPostpone, 26, 1},
	{clr.CondemnReasons1JoinedStressMix, 27, 1},
	{clr.CondemnReasons1JoinedStress, 28, 1},
	{clr.CondemnReasons1JoinedAggressive, 29, 1},
}

// fill sets the columns of some condemned reasons.
func fill(columns *[NumReasons]uint8, generations clr.CondemnReasons0, reasons clr.CondemnReasons1) {
	var row [NumReasons]uint8
	row[initialGeneration] = uint8(generations.InitialGeneration())
	row[finalGeneration] = uint8(generations.FinalPerHeapGeneration())
	row[budgetExceeded] = uint8(generations.AllocBudgetExceededGeneration())
	row[timeTuning] = uint8(generations.TimeTuningGeneration())
	for _, c := range conditions {
		if reasons&c.bit != 0 {
			row[c.column] = c.value
		}
	}
	for i, v := range row {
		columns[i] |= v
	}
}

// condemned returns the condemned reasons that PerfView shows of a collection, and
// the heap they are of: the first that chose its generation. Of a blocking gen 2
// collection it is the last of the heaps from there on that has one of the reasons
// to block.
func (g *GC) condemned() (heap int, columns *[NumReasons]uint8) {
	if len(g.heaps) == 0 && !g.global {
		return 0, nil
	}
	columns = new([NumReasons]uint8)
	if len(g.heaps) > 0 {
		rows := make([][NumReasons]uint8, len(g.heaps))
		for i := range g.heaps {
			fill(&rows[i], g.heaps[i].generations, g.heaps[i].reasons)
		}
		for i := len(rows) - 1; i >= 0; i-- {
			if int(rows[i][finalGeneration]) == g.Generation {
				heap = i
			}
		}
		if g.Generation == 2 && g.Type != clr.GCTypeBackgroundGC {
			for i := heap; i < len(rows); i++ {
				if r := &rows[i]; r[expandHeap]+r[beforeOOM]+r[fragmentedGen2]+r[highMemory] > 0 {
					heap = i
				}
			}
		}
		*columns = rows[heap]
	}
	if g.global {
		fill(columns, g.globalGenerations, g.globalReasons)
	}
	return heap, columns
}
