package join

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/units"
)

// maxTunings bounds the tunings of all processes that a Tunings keeps.
const maxTunings = 1 << 16

// A Tuning is one occasion on which server GC measured the cost of its
// collections and decided on the number of heaps (DATAS). See
// calculate_new_heap_count in the runtime's gc.cpp.
type Tuning struct {
	PID    uint64 // trace.UnknownID if unknown
	Number uint32 // of the collection after which it decided
	At     time.Duration
	Kind   TuningKind
	// Before is the number of heaps that the previous tuning decided on, 0 for
	// the first in the trace. Heaps is the number that this one decided on, 0
	// if unknown.
	Before, Heaps uint16
	// Cost is the median of three samples of pauses and waits for memory, in
	// percent of the time; for TuningFull, the share of full collections.
	Cost float64
	// Considered is the cost that the decision used, 0 if the GC continues
	// measuring. Only for TuningSize.
	Considered float64
	// Limit is the largest number of heaps that the live data justifies, and
	// Stable the size of that data. Only for TuningSize with Considered.
	Limit  uint16
	Stable int64
	// SinceChange counts the collections since the number of heaps changed.
	SinceChange uint32
	// Condition reports whether a change was considered, Reasons and Delays why it was
	// made as it was, and Adjusted what was changed. Only for TuningSize.
	Condition clr.HeapCountDecision
	Reasons   clr.HeapCountReasons
	Delays    clr.HeapCountDelays
	Adjusted  clr.HeapCountAdjustment
}

// TuningKind is the measurement of a Tuning.
type TuningKind uint8

const (
	TuningSize  TuningKind = iota // all collections, from .NET 9 on: SizeAdaptationTuning
	TuningFull                    // full collections, from .NET 9 on: SizeAdaptationFullGCTuning
	TuningCount                   // all collections, in .NET 8: HeapCountTuning
)

var tuningNames = [...]string{"size", "full", "count"}

func (k TuningKind) String() string { return units.Name("TuningKind", tuningNames[:], k) }

// The target costs of the GC in percent: the default of GCDTargetTCP, and the
// target for full collections.
const (
	TargetCost     = 2
	TargetFullCost = 10
)

// Target returns the default target cost of the GC.
func (t *Tuning) Target() float64 {
	if t.Kind == TuningFull {
		return TargetFullCost
	}
	return TargetCost
}

// conditions are why a change of the number of heaps was not considered. See
// should_change in the runtime's gcpriv.h.
var conditions = map[clr.HeapCountDecision]string{
	clr.HeapCountDecisionTooFewSamples:       "adjusted less than six GCs ago",
	clr.HeapCountDecisionNotEnoughDifference: "costs have not been off the target for long enough",
	clr.HeapCountDecisionAlreadyTowardTarget: "the cost is already moving toward the target",
	clr.HeapCountDecisionInRange:             "the cost is steady and within 20 % of the target",
	clr.HeapCountDecisionTemporary:           "the cost changed too suddenly to last",
}

// Decision returns the decision of a Tuning, and the reason. Events from before .NET 9,
// and events of full collections, do not contain the reason: it is derived from their
// figures.
func (t *Tuning) Decision() (what, why string) {
	switch {
	case t.Before != 0 && t.Heaps > t.Before:
		what = "more heaps"
	case t.Heaps != 0 && t.Heaps < t.Before:
		what = "fewer heaps"
	case t.Kind == TuningSize && t.Adjusted == clr.HeapCountAdjustmentBudget:
		what = "change the gen0 budget"
	case t.Kind == TuningSize && t.Adjusted == clr.HeapCountAdjustmentHeapCount && t.Considered > t.Target():
		what = "more heaps" // than were there, a number that is not known
	case t.Kind == TuningSize && t.Adjusted == clr.HeapCountAdjustmentHeapCount:
		what = "fewer heaps"
	default:
		what = "keep"
	}
	if t.Kind == TuningSize {
		return what, t.sizeReason(what)
	}
	switch above := t.Cost > t.Target(); {
	case what != "keep" && above:
		return what, "cost above the target"
	case what != "keep":
		return what, "cost below the target"
	case above:
		return what, "cost above the target; no more processors, or changed lately"
	default:
		return what, "cost near or below the target"
	}
}

// sizeReason returns the reason for the decision of a TuningSize. See should_change_hc in
// the runtime's gcpriv.h.
func (t *Tuning) sizeReason(what string) string {
	if why := conditions[t.Condition]; why != "" {
		if what != "keep" {
			return "an earlier decision, whose event is lost or that was not carried out"
		}
		return why
	}
	why := "cost below the target"
	if t.Considered > t.Target() {
		why = "cost above the target"
	}
	limited := t.Reasons&clr.HeapCountReasonsLimitedByBounds != 0
	justified := t.Limit > max(t.Before, t.Heaps)
	switch {
	case t.Reasons&clr.HeapCountReasonsChangeTooSoon != 0:
		return why + "; changed too recently" + t.delay()
	case t.Reasons&clr.HeapCountReasonsChangeTooSmall != 0:
		return why + "; the change would be less than 20 % of the heaps"
	case limited && t.Considered < t.Target():
		return why + "; one heap is the least"
	case limited && !justified:
		return why + "; the live data justifies no more heaps"
	case limited && what == "keep":
		return why + "; the number of heaps is at its maximum"
	case limited:
		return why + "; limited by the processors or the largest step"
	case what == "keep":
		return why + ", but by too little for a whole heap"
	default:
		return why
	}
}

// delay says why changes are spaced out.
func (t *Tuning) delay() string {
	switch {
	case t.Delays&clr.HeapCountDelaysFluctuation != 0:
		return ", and the number went down and up before"
	case t.Delays&clr.HeapCountDelaysExpensiveChange != 0:
		return ", and changes take longer than a pause"
	default:
		return ""
	}
}

// observes reports whether the event only has the number of heaps at its time.
// Events of full collections have the number before their decision, which the next
// event shows.
func (t *Tuning) observes() bool { return t.Kind == TuningSize && t.Considered == 0 }

// Tunings collects the tunings of all processes. The zero Tunings is ready for
// use, by one goroutine.
type Tunings struct {
	all     []Tuning
	dropped int
	last    pass.Table[int] // the index of a runtime's latest tuning
}

// Kinds returns the kinds of events that a Tunings reads.
func (*Tunings) Kinds() []clr.Kind { return []clr.Kind{clr.KindGCDynamicEvent} }

// Event processes one event.
func (t *Tunings) Event(e *pass.Event) {
	v, ok := pass.Decode[clr.GCDynamicEvent](e)
	if !ok {
		return
	}
	n := Tuning{PID: e.PID, At: e.Time}
	switch clr.DynamicKindOf(v.Name) {
	case clr.DynamicSizeAdaptationTuning:
		var d clr.SizeAdaptationTuning
		if d.Decode(v.Data) != nil || d.TotalSOHStableSize >= 1<<50 {
			return
		}
		n.Kind, n.Heaps, n.Number = TuningSize, d.NewNHeaps, uint32(d.CurrentGCIndex)
		n.Cost, n.Considered = float64(d.MedianThroughputCostPercent), float64(d.TcpToConsider)
		n.Limit, n.Stable, n.SinceChange = d.MaxHeapCountDatas, int64(d.TotalSOHStableSize), d.NumGcsSinceLastChange
		n.Condition, n.Reasons, n.Delays, n.Adjusted = d.ChangeDecision, d.AdjReason, d.HcFreqReason, d.AdjMetric
	case clr.DynamicSizeAdaptationFullGCTuning:
		var d clr.SizeAdaptationFullGCTuning
		if d.Decode(v.Data) != nil {
			return
		}
		n.Kind, n.Heaps, n.Number = TuningFull, d.NewNHeaps, uint32(d.CurrentGCIndex)
		n.Cost, n.SinceChange = float64(d.MedianGen2Tcp), d.NumGen2sSinceLastChange
	case clr.DynamicHeapCountTuning:
		var d clr.HeapCountTuning
		if d.Decode(v.Data) != nil {
			return
		}
		n.Kind, n.Heaps, n.Number = TuningCount, d.NewHeapCount, uint32(d.GCIndex)
		n.Cost = float64(d.MedianThroughputCostPercent)
	default:
		return
	}
	if !(n.Cost >= 0 && n.Cost <= 100 && n.Considered >= 0 && n.Considered <= 100) {
		return // damage
	}
	if rt := e.Runtime(v.ClrInstanceID); rt != nil {
		t.add(rt, n)
	}
}

func (t *Tunings) add(rt *pass.Runtime, n Tuning) {
	if len(t.all) >= maxTunings {
		t.dropped++
		return
	}
	latest, isNew := t.last.At(rt.Index)
	if !isNew {
		last := &t.all[*latest]
		if last.Kind == TuningFull && (n.Kind == TuningFull || n.observes()) && n.Heaps != 0 {
			last.Heaps = n.Heaps
		}
		n.Before = last.Heaps
	}
	if n.Heaps == 0 { // until it changes for the first time
		n.Heaps = n.Before
	}
	*latest = len(t.all)
	t.all = append(t.all, n)
}

// All returns the tunings in the order of the trace. The caller must not change
// them.
func (t *Tunings) All() []Tuning { return slices.Clone(t.all) }

// Dropped returns the number of tunings left out for lack of room.
func (t *Tunings) Dropped() int { return t.dropped }
