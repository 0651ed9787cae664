package join

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
)

const ms = time.Millisecond

// A script feeds a model with the actions of two threads of heaps: thread 10 is heap 0's,
// and 11 heap 1's.
type script struct {
	makers map[uint64]*tracetest.Maker
	model  Model
	pass   *pass.Pass
	done   []*Collection
}

// cloned returns a copy of a collection that stays valid.
func cloned(c *Collection) *Collection {
	d := *c
	d.Rows = slices.Clone(c.Rows)
	return &d
}

func newScript() *script {
	s := &script{makers: map[uint64]*tracetest.Maker{10: {PID: 7, TID: 10}, 11: {PID: 7, TID: 11}, 12: {PID: 7, TID: 12}}}
	s.model.Done = func(c *Collection) { s.done = append(s.done, cloned(c)) }
	s.pass = pass.New(&s.model)
	return s
}

func (s *script) at(at time.Duration, tid uint64, e clr.Event) { s.pass.Feed(s.makers[tid].At(at, e)) }

func (s *script) join(at time.Duration, tid uint64, heap clr.JoinHeap, when clr.JoinTime, typ clr.JoinType, stage clr.JoinStage) {
	s.at(at, tid, &clr.GCJoin{Heap: heap, JoinTime: when, JoinType: typ, JoinID: stage})
}

// meet has heap 0 come at first, heap 1 at last, and wake heap 0 until woken.
func (s *script) meet(first, last, woken time.Duration, stage clr.JoinStage) {
	s.join(first, 10, 0, clr.JoinTimeStart, clr.JoinTypeJoin, stage)
	s.join(last, 11, 1, clr.JoinTimeStart, clr.JoinTypeLastJoin, stage)
	s.join(last, 11, clr.JoinHeapJoinRestart, clr.JoinTimeStart, clr.JoinTypeRestart, ^clr.JoinStage(0))
	s.join(last, 11, clr.JoinHeapJoinRestart, clr.JoinTimeEnd, clr.JoinTypeRestart, ^clr.JoinStage(0))
	s.join(woken, 10, 0, clr.JoinTimeEnd, clr.JoinTypeJoin, stage)
}

func (s *script) pause(from time.Duration, number uint32) {
	s.at(from, 10, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC})
	s.at(from+1*ms, 10, &clr.GCSuspendEEEnd{})
	s.meet(from+2*ms, from+4*ms, from+5*ms, clr.JoinStageGenerationDetermined)
	s.at(from+5*ms, 11, &clr.GCStart{Count: number})
	s.meet(from+10*ms, from+30*ms, from+31*ms, clr.JoinStageScanDependentHandles)
	s.meet(from+40*ms, from+42*ms, from+42*ms, clr.JoinStageDone)
	s.at(from+43*ms, 10, &clr.GCEnd{Count: number})
	s.at(from+45*ms, 10, &clr.GCRestartEEBegin{})
}

func TestCollection(t *testing.T) {
	s := newScript()
	s.pause(100*ms, 1)
	if len(s.done) != 1 {
		t.Fatalf("%d collections", len(s.done))
	}
	c := s.done[0]
	if c.Number != 1 || c.Pause != 45*ms || c.Heaps() != 2 || c.Start != 100*ms {
		t.Errorf("collection %+v", c)
	}
	want := []string{
		"0 suspend 1ms 0s 0s 0 0s",
		"0 generation_determined 1ms 2ms 1ms 0 0s",
		"0 scan_dependent_handles 5ms 20ms 1ms 0 0s",
		"0 done 9ms 2ms 0s 0 0s",
		"0 restart 3ms 0s 0s 0 0s",
		"1 suspend 0s 1ms 0s 0 0s",
		"1 generation_determined 0s 0s 3ms 1 2ms",
		"1 scan_dependent_handles 26ms 0s 0s 1 20ms",
		"1 done 12ms 0s 0s 1 2ms",
		"1 restart 0s 3ms 0s 0 0s", // done, while the other restarts the program
	}
	var got []string
	for _, r := range c.Rows {
		got = append(got, fmt.Sprint(r.Heap, " ", r.Phase, " ", r.Working, " ", r.Waiting, " ", r.Waking, " ", r.Last, " ", r.WaitedFor))
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%q, expected\n%q", got, want)
	}
	if heap, held, ok := c.Straggler(); heap != 1 || held != 24*ms || !ok {
		t.Errorf("straggler %d held %v", heap, held)
	}
	sums(t, c)
}

// sums holds the states of each heap to the pause.
func sums(t *testing.T, c *Collection) {
	t.Helper()
	sum := map[uint32]time.Duration{}
	for _, r := range c.Rows {
		sum[r.Heap] += r.Working + r.Waiting + r.Waking
	}
	for heap, d := range sum {
		if d != c.Pause {
			t.Errorf("GC %d: the states of heap %d sum to %v, the pause is %v", c.Number, heap, d, c.Pause)
		}
	}
}

// TestWaitsSinceBefore checks that a thread that began to wait before a suspension belongs to
// its heap, and that its wait counts from the start of the pause.
func TestWaitsSinceBefore(t *testing.T) {
	s := newScript()
	s.join(50*ms, 12, 2, clr.JoinTimeStart, clr.JoinTypeJoin, clr.JoinStageScanDependentHandles)
	s.at(100*ms, 10, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC})
	s.at(101*ms, 10, &clr.GCStart{Count: 1})
	s.join(120*ms, 12, 2, clr.JoinTimeEnd, clr.JoinTypeJoin, clr.JoinStageScanDependentHandles)
	s.at(130*ms, 10, &clr.GCEnd{Count: 1})
	s.at(145*ms, 10, &clr.GCRestartEEBegin{})
	if len(s.done) != 1 {
		t.Fatalf("%d collections", len(s.done))
	}
	var got []string
	for _, r := range s.done[0].Rows {
		got = append(got, fmt.Sprint(r.Heap, " ", r.Phase, " ", r.Working, " ", r.Waiting, " ", r.Waking))
	}
	if want := []string{"2 scan_dependent_handles 0s 20ms 0s", "2 restart 25ms 0s 0s"}; !slices.Equal(got, want) {
		t.Errorf("rows %q, expected %q", got, want)
	}
	sums(t, s.done[0])
}

// A background collection has two pauses, and an ephemeral one may be inside
// the first.
func TestBackground(t *testing.T) {
	s := newScript()
	s.at(0, 10, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC})
	s.meet(1*ms, 2*ms, 2*ms, clr.JoinStageGenerationDetermined)
	s.at(3*ms, 11, &clr.GCStart{Count: 5, Type: clr.GCTypeBackgroundGC})
	s.at(4*ms, 11, &clr.GCStart{Count: 6})
	s.meet(5*ms, 6*ms, 6*ms, clr.JoinStageDone)
	s.at(8*ms, 11, &clr.GCEnd{Count: 6})
	s.at(10*ms, 10, &clr.GCRestartEEBegin{})
	s.at(50*ms, 10, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGCPrep})
	s.meet(51*ms, 53*ms, 53*ms, clr.JoinStageAfterAbsorb)
	s.at(54*ms, 10, &clr.GCRestartEEBegin{})
	s.at(55*ms, 10, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGCPrep}) // for the trace
	s.meet(56*ms, 57*ms, 57*ms, clr.JoinStageDone)
	s.at(58*ms, 10, &clr.GCRestartEEBegin{})
	s.at(60*ms, 10, &clr.GCEnd{Count: 5})
	s.model.End()
	pauses := map[uint32]time.Duration{}
	for _, c := range s.done {
		pauses[c.Number] += c.Pause
		sums(t, c)
	}
	if len(s.done) != 2 || pauses[6] != 4*ms || pauses[5] != 10*ms {
		t.Errorf("pauses %v in %d collections, expected 4 ms of 6 and 10 ms of 5", pauses, len(s.done))
	}
}

// A suspension without a collection, or without joins, is none.
func TestNothing(t *testing.T) {
	s := newScript()
	s.at(0, 10, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC})
	s.meet(1*ms, 2*ms, 2*ms, clr.JoinStageGenerationDetermined)
	s.at(3*ms, 10, &clr.GCRestartEEBegin{})
	s.at(4*ms, 10, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC})
	s.at(5*ms, 10, &clr.GCStart{Count: 1})
	s.at(6*ms, 10, &clr.GCRestartEEBegin{})
	s.at(7*ms, 10, &clr.GCRestartEEBegin{})
	s.model.End()
	if len(s.done) != 0 {
		t.Errorf("%d collections", len(s.done))
	}
}

// Whatever the joins are, the states of each heap sum to the pause.
func FuzzJoins(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newScript()
		now := time.Duration(0)
		for len(data) >= 4 {
			a, b, c, d := data[0], data[1], data[2], data[3]
			data = data[4:]
			now += time.Duration(d) * time.Microsecond
			tid := 10 + uint64(a%3)
			switch b % 8 {
			case 0:
				s.at(now, tid, &clr.GCSuspendEEBegin{Reason: clr.SuspendReason(c % 7)})
			case 1:
				s.at(now, tid, &clr.GCRestartEEBegin{})
			case 2:
				s.at(now, tid, &clr.GCStart{Count: uint32(c % 4), Type: clr.GCType(c >> 4 % 3)})
			case 3:
				s.at(now, tid, &clr.GCEnd{Count: uint32(c % 4)})
			case 4:
				s.at(now, tid, &clr.GCSuspendEEEnd{})
			default:
				s.join(now, tid, clr.JoinHeap(a>>4%3), clr.JoinTime(b>>7), clr.JoinType(c%5), clr.JoinStage(c>>5))
			}
		}
		s.model.End()
		for _, c := range s.done {
			for _, r := range c.Rows {
				if r.Working < 0 || r.Waiting < 0 || r.Waking < 0 {
					t.Fatalf("%+v", r)
				}
			}
		}
	})
}
