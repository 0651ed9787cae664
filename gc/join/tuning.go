package join

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/enum"
	"github.com/gctrail/gctrail/trace"
)

// maxTunings bounds the tunings of all processes that a Tunings keeps.
const maxTunings = 1 << 16

// A Tuning is one occasion on which server GC measured the cost of its
// collections and decided on the number of heaps (DATAS). See
// calculate_new_heap_count in the runtime's gc.cpp.
type Tuning struct {
	PID    uint64
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
	// ChangeCode, ReasonCode and MetricCode are ChangeDecision, AdjReason and
	// AdjMetric, whose values the runtime does not name. Only for TuningSize.
	ChangeCode, ReasonCode uint16
	MetricCode             uint8
}

// TuningKind is what a Tuning measures.
type TuningKind uint8

const (
	TuningSize  TuningKind = iota // all collections, from .NET 9 on: SizeAdaptationTuning
	TuningFull                    // full collections, from .NET 9 on: SizeAdaptationFullGCTuning
	TuningCount                   // all collections, in .NET 8: HeapCountTuning
)

var tuningNames = [...]string{"size", "full", "count"}

func (k TuningKind) String() string { return enum.Name("TuningKind", tuningNames[:], k) }

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

// Decision returns what was decided, and why, as far as the events show it.
func (t *Tuning) Decision() (what, why string) {
	cost := t.Cost
	if t.Considered > 0 {
		cost = t.Considered
	}
	above := cost > t.Target()
	switch {
	case t.Before != 0 && t.Heaps > t.Before:
		what = "more heaps"
	case t.Heaps != 0 && t.Heaps < t.Before:
		what = "fewer heaps"
	}
	switch {
	case what != "" && t.observes():
		return what, "the decision before this one was not carried out, or its event is lost"
	case what != "" && above:
		return what, "cost above the target"
	case what != "":
		return what, "cost below the target"
	case t.observes() && t.Kind == TuningSize:
		return "keep", "still measuring"
	case above && t.Kind == TuningSize && t.Limit <= t.Heaps:
		return "keep", "cost above the target; the live data justifies no more heaps"
	case above:
		return "keep", "cost above the target; no more processors, or changed lately"
	default:
		return "keep", "cost near or below the target"
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
	last    map[runtimeID]int // tuning
	dynamic clr.GCDynamicEvent
	size    clr.SizeAdaptationTuning
	full    clr.SizeAdaptationFullGCTuning
	count   clr.HeapCountTuning
}

// WantsTunings reports whether a Tunings reads events of a kind.
func WantsTunings(d *trace.Descriptor) bool {
	return clr.KindOf(d.Provider, d.ID) == clr.KindGCDynamicEvent
}

// Feed processes one event, which may be of any kind.
func (t *Tunings) Feed(ev *trace.Event) {
	v := &t.dynamic
	if !WantsTunings(ev.Desc) || v.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) != nil {
		return
	}
	n := Tuning{PID: ev.PID, At: ev.Time()}
	switch clr.DynamicKindOf(v.Name) {
	case clr.DynamicSizeAdaptationTuning:
		d := &t.size
		if d.Decode(v.Data) != nil || d.TotalSOHStableSize >= 1<<50 {
			return
		}
		n.Kind, n.Heaps, n.Number = TuningSize, d.NewNHeaps, uint32(d.CurrentGCIndex)
		n.Cost, n.Considered = float64(d.MedianThroughputCostPercent), float64(d.TcpToConsider)
		n.Limit, n.Stable, n.SinceChange = d.MaxHeapCountDatas, int64(d.TotalSOHStableSize), d.NumGcsSinceLastChange
		n.ChangeCode, n.ReasonCode, n.MetricCode = d.ChangeDecision, d.AdjReason, d.AdjMetric
	case clr.DynamicSizeAdaptationFullGCTuning:
		d := &t.full
		if d.Decode(v.Data) != nil {
			return
		}
		n.Kind, n.Heaps, n.Number = TuningFull, d.NewNHeaps, uint32(d.CurrentGCIndex)
		n.Cost, n.SinceChange = float64(d.MedianGen2Tcp), d.NumGen2sSinceLastChange
	case clr.DynamicHeapCountTuning:
		d := &t.count
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
	t.add(runtimeID{ev.PID, v.ClrInstanceID}, n)
}

func (t *Tunings) add(id runtimeID, n Tuning) {
	if len(t.all) >= maxTunings {
		t.dropped++
		return
	}
	if t.last == nil {
		t.last = make(map[runtimeID]int)
	}
	if i, ok := t.last[id]; ok {
		last := &t.all[i]
		if last.Kind == TuningFull && (n.Kind == TuningFull || n.observes()) && n.Heaps != 0 {
			last.Heaps = n.Heaps
		}
		n.Before = last.Heaps
	}
	if n.Heaps == 0 { // until it changes for the first time
		n.Heaps = n.Before
	}
	t.last[id] = len(t.all)
	t.all = append(t.all, n)
}

// All returns the tunings in the order of the trace. The caller must not change
// them.
func (t *Tunings) All() []Tuning { return t.all }

// Dropped returns the number of tunings left out for lack of room.
func (t *Tunings) Dropped() int { return t.dropped }
