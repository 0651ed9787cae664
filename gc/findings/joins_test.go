package findings

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/join"
)

// TestWaitingHeaps: the advice about waiting threads of server GC depends on the reason.
func TestWaitingHeaps(t *testing.T) {
	const ms = time.Millisecond
	sum := func(collections int, rows ...join.Row) *join.Sum {
		s := new(join.Sum)
		for range collections {
			s.Add(&join.Collection{Pause: 100 * ms, Rows: rows})
		}
		return s
	}
	idle := func(heap uint32, waiting, waking, held time.Duration) join.Row {
		return join.Row{Heap: heap, Phase: "done", Working: 100*ms - waiting - waking, Waiting: waiting, Waking: waking, WaitedFor: held}
	}
	for _, c := range []struct {
		name   string
		sum    *join.Sum
		advice string // of the first; empty if nothing is found
	}{
		{"no join events", nil, ""},
		{"too few collections", sum(2, idle(0, 60*ms, 0, 0), idle(1, 0, 0, 60*ms)), ""},
		{"a single heap", sum(10, idle(0, 60*ms, 0, 60*ms)), ""},
		{"few collections", sum(9, idle(0, 60*ms, 0, 0), idle(1, 0, 0, 60*ms)), "Record for longer"},
		{"little waiting", sum(10, idle(0, 40*ms, 0, 0), idle(1, 5*ms, 4*ms, 40*ms)), ""},
		{"a heap works longer", sum(10, idle(0, 60*ms, 0, 0), idle(1, 0, 0, 60*ms)), "Look for other programs"},
		{"all wake up late", sum(10, idle(0, 10*ms, 40*ms, 0), idle(1, 10*ms, 40*ms, 10*ms)), "Find out whether the GC threads get the processors"},
		{"no heap stands out", sum(10, idle(0, 40*ms, 0, 30*ms), idle(1, 40*ms, 0, 40*ms)), "Many short phases"},
	} {
		j := &judgement{Case: &Case{Details: Details{Joins: c.sum}}}
		j.Case.Summary.Process = new(gc.Process)
		j.all = j.Summary.All()
		f, ok := waitingHeaps(j)
		if ok != (c.advice != "") {
			t.Errorf("%s: found %t: %s", c.name, ok, f.Description)
		}
		if !ok {
			continue
		}
		i := slices.IndexFunc(rules, func(r rule) bool { return r.id == "R15" })
		rules[i].advise(j, &f)
		if !strings.HasPrefix(f.Advice[0], c.advice) {
			t.Errorf("%s: %q, expected %q", c.name, f.Advice[0], c.advice)
		}
		if few := c.sum.Collections < manyJoins; few != (f.Confidence == Low) || few && (f.Severity != Note || len(f.Advice) != 1) {
			t.Errorf("%s: %+v", c.name, f)
		}
		if len(f.Heaps) != 2 || f.Heaps[0].WaitedFor < f.Heaps[1].WaitedFor {
			t.Errorf("%s: heaps %+v, expected that others waited for longest first", c.name, f.Heaps)
		}
	}
}
