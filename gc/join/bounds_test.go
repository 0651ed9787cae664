package join

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestPartsOfPause: the collections of one suspension share it. Blocking ones take it whole; a
// background one has what others inside it leave.
func TestPartsOfPause(t *testing.T) {
	for _, c := range []struct {
		name       string
		background bool
		want       map[uint32]time.Duration
	}{
		{"blocking", false, map[uint32]time.Duration{1: 20 * ms, 2: 20 * ms}},
		{"background", true, map[uint32]time.Duration{9: 25 * ms, 1: 5 * ms, 2: 10 * ms}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript()
			s.at(0, 10, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC})
			s.meet(1*ms, 2*ms, 3*ms, clr.JoinStageGenerationDetermined)
			if c.background {
				s.at(4*ms, 11, &clr.GCStart{Count: 9, Type: clr.GCTypeBackgroundGC})
			}
			s.at(5*ms, 11, &clr.GCStart{Count: 1})
			s.at(6*ms, 11, &clr.GCStart{Count: 1}) // again
			s.meet(7*ms, 8*ms, 9*ms, clr.JoinStageDone)
			s.at(10*ms, 11, &clr.GCEnd{Count: 1})
			s.at(20*ms, 11, &clr.GCStart{Count: 2})
			s.meet(25*ms, 26*ms, 27*ms, clr.JoinStageDone)
			s.at(30*ms, 11, &clr.GCEnd{Count: 2})
			s.at(40*ms, 10, &clr.GCRestartEEBegin{})
			s.model.End()
			if len(s.done) != len(c.want) {
				t.Errorf("%d collections, expected %d", len(s.done), len(c.want))
			}
			for _, of := range s.done {
				if of.Pause != c.want[of.Number] {
					t.Errorf("GC %d paused %v, expected %v", of.Number, of.Pause, c.want[of.Number])
				}
				sums(t, of)
				for i := 1; i < len(of.Rows); i++ {
					if of.Rows[i].Heap < of.Rows[i-1].Heap {
						t.Errorf("GC %d has heap %d after %d", of.Number, of.Rows[i].Heap, of.Rows[i-1].Heap)
					}
				}
			}
		})
	}
}

// TestPauseBounded: a pause with more joins than fit is left out, and the next one is not.
func TestPauseBounded(t *testing.T) {
	for more, want := range map[int]int{0: 2, 1: 1} {
		s := newScript()
		for number := range uint32(2) {
			at := time.Duration(number) * time.Second
			s.at(at, 10, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC})
			s.at(at, 10, &clr.GCStart{Count: number})
			n := 2
			if number == 0 {
				n = maxEvents + more
			}
			for i := range n {
				s.join(at+time.Duration(i), 10, 0, clr.JoinTime(i%2), clr.JoinTypeJoin, clr.JoinStageDone)
			}
			s.at(at+ms, 10, &clr.GCRestartEEBegin{})
		}
		if len(s.done) != want {
			t.Errorf("with %d joins too many: %d collections, expected %d", more, len(s.done), want)
		}
	}
}

// TestHeapsBounded: of joins of more heaps than there can be, nothing is known.
func TestHeapsBounded(t *testing.T) {
	s := newScript()
	s.at(0, 10, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC})
	s.at(0, 10, &clr.GCStart{Count: 1})
	for i, heap := range []clr.JoinHeap{maxHeaps - 1, maxHeaps} {
		s.join(ms, 11+uint64(i), heap, clr.JoinTimeStart, clr.JoinTypeJoin, clr.JoinStageDone)
	}
	s.at(2*ms, 10, &clr.GCRestartEEBegin{})
	if len(s.done) != 1 || s.done[0].Heaps() != 1 || s.done[0].Rows[0].Heap != maxHeaps-1 {
		t.Errorf("%+v", s.done)
	}
}

// TestSuspensionsBounded: of more suspensions at once than are followed, the first ones count.
func TestSuspensionsBounded(t *testing.T) {
	m := Model{}
	n := 0
	m.Done = func(*Collection) { n++ }
	p := pass.New(&m)
	makers := make([]tracetest.Maker, maxWindows+2)
	for i := range makers {
		makers[i] = tracetest.Maker{PID: 7, TID: uint64(100 + i)}
		p.Feed(makers[i].At(time.Duration(i), &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC}))
		p.Feed(makers[i].At(time.Duration(i), &clr.GCStart{Count: uint32(i)}))
		p.Feed(makers[i].At(time.Duration(i), &clr.GCJoin{JoinType: clr.JoinTypeJoin}))
	}
	if got := len(m.runtimes.Get(0).windows); got != maxWindows {
		t.Errorf("%d suspensions", got)
	}
	for i := range makers {
		p.Feed(makers[i].At(ms, &clr.GCRestartEEBegin{}))
	}
	if got := len(m.runtimes.Get(0).windows); got != 0 || n < maxWindows {
		t.Errorf("%d suspensions in the end, %d collections", got, n)
	}
}

// TestThreadsBounded: the places of so many threads are known, of the first ones.
func TestThreadsBounded(t *testing.T) {
	var m Model
	p := pass.New(&m)
	for tid := range uint64(maxThreads + 5) {
		maker := tracetest.Maker{PID: 7, TID: tid}
		p.Feed(maker.At(0, &clr.GCJoin{Heap: 3, JoinTime: clr.JoinTimeStart, JoinType: clr.JoinTypeJoin}))
	}
	threads := m.runtimes.Get(0).threads
	if last := threads[maxThreads-1]; len(threads) != maxThreads || last == nil || *last != (at{heap: 3, open: true}) {
		t.Errorf("%d threads, the last is %+v", len(threads), last)
	}
}

// TestTuningsBounded: tunings beyond the bound are counted.
func TestTuningsBounded(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var tunings Tunings
	p := pass.New(&tunings)
	e := clr.HeapCountTuning{NewHeapCount: 2}
	data := e.Append(nil)
	ev := m.At(0, &clr.GCDynamicEvent{Name: clr.NewUTF16("HeapCountTuning"), DataSize: uint32(len(data)), Data: data})
	for range maxTunings + 3 {
		p.Feed(ev)
	}
	if n := len(tunings.All()); n != maxTunings || tunings.Dropped() != 3 {
		t.Errorf("%d tunings, %d dropped", n, tunings.Dropped())
	}
}

// TestImpossibleTunings: costs beyond 100 % and stable sizes beyond any memory are damage.
func TestImpossibleTunings(t *testing.T) {
	m := tracetest.Maker{PID: 7}
	var tunings Tunings
	p := pass.New(&tunings)
	feed := func(name string, data []byte) {
		p.Feed(m.At(0, &clr.GCDynamicEvent{Name: clr.NewUTF16(name), DataSize: uint32(len(data)), Data: data}))
	}
	nan := float32(math.NaN())
	for _, e := range []clr.SizeAdaptationTuning{
		{MedianThroughputCostPercent: 100, TcpToConsider: 100, TotalSOHStableSize: 1<<50 - 1}, // the only one that can be
		{MedianThroughputCostPercent: 101},
		{MedianThroughputCostPercent: -1},
		{MedianThroughputCostPercent: nan},
		{TcpToConsider: 101},
		{TcpToConsider: -1},
		{TcpToConsider: nan},
		{TotalSOHStableSize: 1 << 50},
	} {
		e.Version, e.CurrentGCIndex, e.NewNHeaps, e.MaxHeapCountDatas, e.NumGcsSinceLastChange = 1, 12, 3, 4, 5
		feed("SizeAdaptationTuning", e.Append(nil))
	}
	full := clr.SizeAdaptationFullGCTuning{Version: 1, CurrentGCIndex: 13, NewNHeaps: 3, MedianGen2Tcp: 7, NumGen2sSinceLastChange: 8}
	feed("SizeAdaptationFullGCTuning", full.Append(nil))
	count := clr.HeapCountTuning{Version: 1, GCIndex: 14, NewHeapCount: 2, MedianThroughputCostPercent: 9}
	feed("HeapCountTuning", count.Append(nil))
	want := []Tuning{
		{PID: 7, Number: 12, Kind: TuningSize, Heaps: 3, Cost: 100, Considered: 100, Limit: 4, Stable: 1<<50 - 1, SinceChange: 5},
		{PID: 7, Number: 13, Kind: TuningFull, Before: 3, Heaps: 3, Cost: 7, SinceChange: 8},
		{PID: 7, Number: 14, Kind: TuningCount, Before: 3, Heaps: 2, Cost: 9},
	}
	if got := fmt.Sprintf("%+v", tunings.All()); got != fmt.Sprintf("%+v", want) {
		t.Errorf("%s, expected %+v", got, want)
	}
}

// TestDecisions says what a tuning decided on, and why.
func TestDecisions(t *testing.T) {
	const (
		budget, number = clr.HeapCountAdjustmentBudget, clr.HeapCountAdjustmentHeapCount
		bounds, soon   = clr.HeapCountReasonsLimitedByBounds, clr.HeapCountReasonsChangeTooSoon
		expensive      = clr.HeapCountDelaysExpensiveChange
	)
	for _, c := range []struct {
		Tuning
		want string
	}{
		{Tuning{Before: 2, Heaps: 3, Considered: 2.1, Limit: 9}, "more heaps, cost above the target"},
		{Tuning{Heaps: 3, Considered: 2.1, Limit: 9, Adjusted: number}, "more heaps, cost above the target"},
		{Tuning{Heaps: 3, Considered: 2, Adjusted: number}, "fewer heaps, cost below the target"},
		{Tuning{Before: 3, Considered: 2, Adjusted: budget}, "change the gen0 budget, cost below the target"},
		{Tuning{Before: 3, Heaps: 3, Considered: 3, Limit: 4}, "keep, cost above the target, but by too little for a whole heap"},
		{Tuning{Before: 3, Heaps: 3, Considered: 1.9, Reasons: bounds}, "keep, cost below the target; one heap is the least"},
		{Tuning{Before: 3, Heaps: 3, Considered: 2, Reasons: bounds, Limit: 3}, "keep, cost below the target; the live data justifies no more heaps"},
		{Tuning{Before: 3, Heaps: 3, Considered: 3, Reasons: bounds, Limit: 3}, "keep, cost above the target; the live data justifies no more heaps"},
		{Tuning{Before: 3, Heaps: 3, Considered: 3, Reasons: bounds, Limit: 4}, "keep, cost above the target; the number of heaps is at its maximum"},
		{Tuning{Before: 3, Heaps: 5, Considered: 3, Reasons: bounds, Limit: 6}, "more heaps, cost above the target; limited by the processors or the largest step"},
		{Tuning{Before: 3, Heaps: 5, Considered: 3, Reasons: bounds, Limit: 5}, "more heaps, cost above the target; the live data justifies no more heaps"},
		{Tuning{Before: 3, Heaps: 3, Considered: 3, Reasons: soon}, "keep, cost above the target; changed too recently"},
		{Tuning{Before: 3, Heaps: 3, Considered: 3, Reasons: soon, Delays: expensive}, "keep, cost above the target; changed too recently, and changes take longer than a pause"},
		{Tuning{Kind: TuningCount, Before: 3, Heaps: 4, Cost: 2.1}, "more heaps, cost above the target"},
		{Tuning{Kind: TuningCount, Before: 3, Heaps: 4, Cost: 2}, "more heaps, cost below the target"},
		{Tuning{Kind: TuningCount, Before: 3, Heaps: 3, Cost: 2, Adjusted: budget}, "keep, cost near or below the target"},
		{Tuning{Kind: TuningFull, Before: 3, Heaps: 2, Cost: 10}, "fewer heaps, cost below the target"},
		{Tuning{Kind: TuningFull, Before: 3, Heaps: 3, Cost: 10.1}, "keep, cost above the target; no more processors, or changed lately"},
	} {
		if what, why := c.Decision(); what+", "+why != c.want {
			t.Errorf("%+v: %s, %s, expected %s", c.Tuning, what, why, c.want)
		}
	}
}

// TestExplain has a sentence for each cause.
func TestExplain(t *testing.T) {
	for cause, want := range []string{
		"No heap stands out: phases of unequal length cause the waiting.",
		"It marked 2.00 MB, 1.5 times the mean of the heaps; most of the excess comes from root kind Older.",
		"Its thread took 30.0 ms to wake up: the processors are busy with other threads.",
		"It worked longer than the others without marking more: its thread was preempted, or its memory is slower.",
		"The threads of all heaps took 30.0 ms to wake up: the processors are busy with other threads, or a CPU limit (a container's quota) keeps the process from them.",
	} {
		s := Straggler{Cause: Cause(cause), Marked: gc.Some[int64](2e6), MarkedRatio: gc.Some(1.5), Root: clr.RootTypeOlder, Waking: 30 * ms}
		if got := s.Explain(); got != want {
			t.Errorf("%v: %s, expected %s", s.Cause, got, want)
		}
	}
}

// TestThresholds: a straggler at a threshold is not beyond it, and of equal ones the first
// counts.
func TestThresholds(t *testing.T) {
	row := func(heap uint32, working, waking, held time.Duration) Row {
		return Row{Heap: heap, Phase: "done", Working: working, Waking: waking, WaitedFor: held}
	}
	for _, c := range []struct {
		name  string
		rows  []Row
		marks [2]int64
		heap  uint32
		cause Cause
	}{
		{"marks", []Row{row(0, 50, 0, 1), row(1, 50, 0, 2)}, [2]int64{70, 130}, 1, CauseUnknown},
		{"more marks", []Row{row(0, 50, 0, 1), row(1, 50, 0, 2)}, [2]int64{69, 131}, 1, UnevenRoots},
		{"waking", []Row{row(0, 50, 10, 1), row(1, 50, 10, 2)}, [2]int64{}, 1, CauseUnknown},
		{"one wakes slowly", []Row{row(0, 50, 10, 1), row(1, 50, 11, 2)}, [2]int64{}, 1, SlowWake},
		{"both wake slowly", []Row{row(0, 50, 11, 1), row(1, 50, 11, 2)}, [2]int64{}, 1, AllSlowWake},
		{"work", []Row{row(0, 35, 0, 1), row(1, 65, 0, 2)}, [2]int64{}, 1, CauseUnknown},
		{"more work", []Row{row(0, 34, 0, 1), row(1, 66, 0, 2)}, [2]int64{}, 1, SlowWork},
		{"two alike", []Row{row(1, 50, 0, 2), row(0, 50, 0, 2)}, [2]int64{}, 0, CauseUnknown},
	} {
		var s Sum
		s.Add(&Collection{Pause: 100, Rows: c.rows})
		s.Mark(0, clr.RootTypeStack, c.marks[0])
		s.Mark(1, clr.RootTypeStack, c.marks[1])
		if of, ok := s.Straggler(); !ok || of.Heap != c.heap || of.Cause != c.cause {
			t.Errorf("%s: %+v, expected %v of heap %d", c.name, of, c.cause, c.heap)
		}
		if heaps := s.Heaps(); heaps[0].Heap != c.heap || len(heaps) != 2 {
			t.Errorf("%s: heaps %+v", c.name, heaps)
		}
	}
}

// TestPausesApart: that threads came last in one pause says nothing of other threads in the
// next one.
func TestPausesApart(t *testing.T) {
	s := newScript()
	for _, tid := range []uint64{13, 14} {
		s.makers[tid] = &tracetest.Maker{PID: 7, TID: tid}
	}
	const stage = clr.JoinStageScanDependentHandles
	suspend := func(at time.Duration, number uint32) {
		s.at(at, 12, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC})
		s.at(at, 12, &clr.GCStart{Count: number})
	}
	suspend(0, 1)
	for heap, tid := range []uint64{10, 11} {
		s.join(1*ms, tid, clr.JoinHeap(heap), clr.JoinTimeStart, clr.JoinTypeLastJoin, stage)
	}
	s.at(2*ms, 12, &clr.GCRestartEEBegin{})
	suspend(10*ms, 2)
	s.join(11*ms, 13, 2, clr.JoinTimeStart, clr.JoinTypeJoin, stage)
	s.join(12*ms, 14, clr.JoinHeapJoinRestart, clr.JoinTimeStart, clr.JoinTypeRestart, ^clr.JoinStage(0))
	s.join(15*ms, 13, 2, clr.JoinTimeEnd, clr.JoinTypeJoin, stage)
	s.at(16*ms, 12, &clr.GCRestartEEBegin{})
	if len(s.done) != 2 || s.done[1].Rows[0] != (Row{Heap: 2, Phase: "scan_dependent_handles", Working: ms, Waiting: 4 * ms}) {
		t.Errorf("%+v", s.done[1])
	}
}
