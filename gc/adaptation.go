package gc

import "github.com/gctrail/gctrail/clr"

// Adaptation sums up the measurements by which server GC adapts the number of its heaps
// to the program (DATAS: dynamic adaptation to application sizes). The zero Adaptation
// means that the process does not adapt.
type Adaptation struct {
	Tunings, FullTunings int
	Cost, FullCost       float64 // sums over the tunings, in percent of the time
}

// Known reports whether the process is known to adapt.
func (a *Adaptation) Known() bool { return a.Tunings+a.FullTunings > 0 }

// MeanCost returns the mean measured throughput cost in percent: GC pauses and
// waits for memory over the time. It is unknown without a tuning.
func (a *Adaptation) MeanCost() Opt[float64] { return mean(a.Cost, a.Tunings) }

// MeanFullCost returns the mean cost of full collections in percent.
func (a *Adaptation) MeanFullCost() Opt[float64] { return mean(a.FullCost, a.FullTunings) }

func mean(sum float64, n int) Opt[float64] {
	return SomeIf(sum/float64(n), n > 0)
}

// adaptation processes a tuning: SizeAdaptationTuning and
// SizeAdaptationFullGCTuning from .NET 9 on, HeapCountTuning in .NET 8.
func (m *Model) adaptation(e *event, v *clr.GCDynamicEvent) {
	a := &e.process.Adaptation
	switch clr.DynamicKindOf(v.Name) {
	case clr.DynamicSizeAdaptationTuning:
		var t clr.SizeAdaptationTuning
		if t.Decode(v.Data) == nil {
			tuned(&a.Tunings, &a.Cost, t.MedianThroughputCostPercent)
		}
	case clr.DynamicHeapCountTuning:
		var t clr.HeapCountTuning
		if t.Decode(v.Data) == nil {
			tuned(&a.Tunings, &a.Cost, t.MedianThroughputCostPercent)
		}
	case clr.DynamicSizeAdaptationFullGCTuning:
		var t clr.SizeAdaptationFullGCTuning
		if t.Decode(v.Data) == nil {
			tuned(&a.FullTunings, &a.FullCost, t.MedianGen2Tcp)
		}
	}
}

// tuned adds a share to a sum; other values are damage.
func tuned(count *int, sum *float64, percent float32) {
	if percent >= 0 && percent <= 100 {
		*count++
		*sum += float64(percent)
	}
}
