package join

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
)

func TestTunings(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var tunings Tunings
	at := time.Duration(0)
	tuningsPass := pass.New(&tunings)
	feed := func(name string, data []byte) {
		at += time.Second
		tuningsPass.Feed(m.At(at, &clr.GCDynamicEvent{Name: clr.NewUTF16(name), DataSize: uint32(len(data)), Data: data}))
	}
	size := func(heaps, limit uint16, cost, considered float32, why ...any) {
		e := clr.SizeAdaptationTuning{Version: 1, NewNHeaps: heaps, MaxHeapCountDatas: limit, MedianThroughputCostPercent: cost, TcpToConsider: considered}
		for _, w := range why {
			switch w := w.(type) {
			case clr.HeapCountDecision:
				e.ChangeDecision = w
			case clr.HeapCountReasons:
				e.AdjReason = w
			case clr.HeapCountDelays:
				e.HcFreqReason = w
			case clr.HeapCountAdjustment:
				e.AdjMetric = w
			}
		}
		feed("SizeAdaptationTuning", e.Append(nil))
	}
	full := func(heaps uint16, cost float32) {
		e := clr.SizeAdaptationFullGCTuning{Version: 1, NewNHeaps: heaps, MedianGen2Tcp: cost}
		feed("SizeAdaptationFullGCTuning", e.Append(nil))
	}
	full(0, 30) // before the number changed for the first time
	size(4, 9, 7, 7, clr.HeapCountAdjustmentHeapCount)
	size(6, 9, 7, 7, clr.HeapCountAdjustmentHeapCount)
	size(6, 6, 7, 7, clr.HeapCountReasonsLimitedByBounds)
	size(6, 9, 7, 7, clr.HeapCountReasonsLimitedByBounds)
	size(6, 9, 7, 7, clr.HeapCountReasonsChangeTooSoon, clr.HeapCountDelaysFluctuation)
	size(6, 9, 7, 7, clr.HeapCountReasonsChangeTooSmall, clr.HeapCountAdjustmentBudget)
	size(6, 0, 3, 0, clr.HeapCountDecisionNotEnoughDifference)
	full(6, 4) // decides on fewer, which the next shows
	size(4, 0, 1, 0, clr.HeapCountDecisionInRange)
	size(2, 9, 0.5, 0.5, clr.HeapCountAdjustmentHeapCount)
	size(4, 0, 1, 0, clr.HeapCountDecisionTooFewSamples)
	size(4, 9, 700, 0) // damage
	feed("SizeAdaptationTuning", []byte{1})
	feed("CommittedUsage", nil)

	want := []struct {
		before, heaps uint16
		what, why     string
	}{
		{0, 0, "keep", "cost above the target; no more processors, or changed lately"},
		{0, 4, "more heaps", "cost above the target"},
		{4, 6, "more heaps", "cost above the target"},
		{6, 6, "keep", "cost above the target; the live data justifies no more heaps"},
		{6, 6, "keep", "cost above the target; the number of heaps is at its maximum"},
		{6, 6, "keep", "cost above the target; changed too recently, and the number went down and up before"},
		{6, 6, "change the gen0 budget", "cost above the target; the change would be less than 20 % of the heaps"},
		{6, 6, "keep", "costs have not been off the target for long enough"},
		{6, 4, "fewer heaps", "cost below the target"},
		{4, 4, "keep", "the cost is steady and within 20 % of the target"},
		{4, 2, "fewer heaps", "cost below the target"},
		{2, 4, "more heaps", "an earlier decision, whose event is lost or that was not carried out"},
	}
	all := tunings.All()
	if len(all) != len(want) {
		t.Fatalf("%d tunings, expected %d", len(all), len(want))
	}
	for i, w := range want {
		got := &all[i]
		what, why := got.Decision()
		if got.Before != w.before || got.Heaps != w.heaps || what != w.what || why != w.why {
			t.Errorf("tuning %d: %d to %d heaps: %s, %s; expected %d to %d: %s, %s", i, got.Before, got.Heaps, what, why, w.before, w.heaps, w.what, w.why)
		}
	}
}
