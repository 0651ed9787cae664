package pass_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// A taker takes the events of handles in runs, and others one by one.
type taker struct {
	kinds, runs []clr.Kind
	calls       [][]string
}

func (r *taker) Kinds() []clr.Kind   { return r.kinds }
func (r *taker) Runs() []clr.Kind    { return r.runs }
func (r *taker) Head(k clr.Kind) int { return 4 + int(k) }

func (r *taker) Event(e *pass.Event) { r.calls = append(r.calls, []string{e.Kind.String()}) }

func (r *taker) Events(es *pass.Events) {
	var call []string
	for i := range es.Len() {
		if !slices.Contains(r.runs, es.Kind(i)) {
			continue
		}
		v := es.Kind(i).New()
		whole := v.Decode(es.Version(i), es.Payload(i), es.PointerSize) == nil
		id := uint64(0)
		switch v := v.(type) {
		case *clr.SetGCHandle:
			id = v.HandleID
		case *clr.DestroyGCHandle:
			id = v.HandleID
		}
		call = append(call, fmt.Sprintf("%v %d of %d at %d: %v", es.Kind(i), id, es.Process.PID, es.Time(i), whole))
	}
	r.calls = append(r.calls, call)
}

// joined returns events of one thread as a source yields them if it may.
func joined(events ...*trace.Event) *trace.Event {
	run := &trace.Run{}
	for _, ev := range events {
		i := slices.Index(run.Descs, ev.Desc)
		if i < 0 {
			i = len(run.Descs)
			run.Descs = append(run.Descs, ev.Desc)
		}
		run.Records = append(run.Records, trace.Record{Ticks: ev.Ticks, Off: uint32(len(run.Bytes)), Len: uint32(len(ev.Payload)), Desc: uint32(i)})
		run.Bytes = append(run.Bytes, ev.Payload...)
	}
	all := *events[0]
	all.Run = run
	return &all
}

// handleEvents are three events in a run, the last of which is too short, and one before and
// after them.
func handleEvents(maker tracetest.Maker) *tracetest.Source {
	short := maker.At(4, &clr.DestroyGCHandle{HandleID: 14})
	short.Payload = short.Payload[:8]
	late := maker.At(2, &clr.SetGCHandle{HandleID: 15})
	late.Late = true
	return &tracetest.Source{List: []*trace.Event{
		maker.At(1, &clr.SetGCHandle{HandleID: 11}), maker.At(1, &clr.GCHeapStats{}),
		joined(maker.At(2, &clr.SetGCHandle{HandleID: 12}), maker.At(3, &clr.DestroyGCHandle{HandleID: 13}), short), late,
		maker.At(5, &clr.DestroyGCHandle{HandleID: 16}),
	}, Lost: trace.Loss{Exactness: trace.Exact}}
}

// TestEvents: models are given the events of a run at once, and others one by one, in the order
// of the trace.
func TestEvents(t *testing.T) {
	set, destroy := clr.KindSetGCHandle, clr.KindDestroyGCHandle
	both := &taker{kinds: []clr.Kind{clr.KindGCHeapStats}, runs: []clr.Kind{set, destroy}}
	one := &taker{runs: []clr.Kind{destroy}}
	run(t, handleEvents(tracetest.Maker{PID: 7}), both, one)
	want := [][]string{
		{"SetGCHandle 11 of 7 at 1: true"},
		{"GCHeapStats"},
		{"SetGCHandle 12 of 7 at 2: true", "DestroyGCHandle 13 of 7 at 3: true", "DestroyGCHandle 14 of 7 at 4: false"},
		{"DestroyGCHandle 16 of 7 at 5: true"},
	}
	if fmt.Sprint(both.calls) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", both.calls, want)
	}
	want = [][]string{{"DestroyGCHandle 13 of 7 at 3: true", "DestroyGCHandle 14 of 7 at 4: false"}, {"DestroyGCHandle 16 of 7 at 5: true"}}
	if fmt.Sprint(one.calls) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", one.calls, want)
	}
}

// TestWhenInRuns: a model is given the parts of runs that are in a time.
func TestWhenInRuns(t *testing.T) {
	for _, test := range []struct {
		keep func(time.Duration) bool
		want string
	}{
		{func(at time.Duration) bool { return at != 3 }, "[[SetGCHandle 11] [SetGCHandle 12] [DestroyGCHandle 14] [DestroyGCHandle 16]]"},
		{func(at time.Duration) bool { return at > 2 && at < 5 }, "[[DestroyGCHandle 13 DestroyGCHandle 14]]"},
		{func(at time.Duration) bool { return at == 2 }, "[[SetGCHandle 12]]"},
	} {
		m := &taker{runs: []clr.Kind{clr.KindSetGCHandle, clr.KindDestroyGCHandle}}
		run(t, handleEvents(tracetest.Maker{PID: 7}), pass.When(test.keep, m))
		for _, call := range m.calls {
			for i := range call {
				var kind, id string
				fmt.Sscan(call[i], &kind, &id)
				call[i] = kind + " " + id
			}
		}
		if got := fmt.Sprint(m.calls); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// TestRunsLeftOut: of a process that there is no room for, all events of a run count.
func TestRunsLeftOut(t *testing.T) {
	m := &taker{runs: []clr.Kind{clr.KindSetGCHandle, clr.KindDestroyGCHandle}}
	src := handleEvents(tracetest.Maker{PID: 7})
	var before []*trace.Event
	for n := range pass.MaxProcesses {
		maker := tracetest.Maker{PID: uint64(10 + n)}
		before = append(before, maker.At(0, &clr.SetGCHandle{}))
	}
	src.List = append(before, src.List...)
	run(t, src, m)
	if len(m.calls) != pass.MaxProcesses || src.Lost.LeftOut != 5 || src.Lost.Events != 5 {
		t.Errorf("%d calls, %d left out, %d lost", len(m.calls), src.Lost.LeftOut, src.Lost.Events)
	}
}

// TestRuns: the kinds that a reader may join are the ones that all models take in runs.
func TestRuns(t *testing.T) {
	set := clr.KindSetGCHandle
	desc := &trace.Descriptor{Provider: set.Provider(), ID: set.ID()}
	takes, other := &taker{runs: []clr.Kind{set}}, &recorder{kinds: []clr.Kind{set}}
	kept := pass.When(func(time.Duration) bool { return true }, takes)
	for i, c := range []struct {
		models      []pass.Model
		wants, runs bool
	}{
		{nil, false, false},
		{[]pass.Model{takes}, true, true},
		{[]pass.Model{takes, kept}, true, true},
		{[]pass.Model{takes, other}, true, false},
		{[]pass.Model{other}, true, false},
		{[]pass.Model{pass.When(func(time.Duration) bool { return true }, other)}, true, false},
		{[]pass.Model{takes, pass.Raw(always, nil)}, true, false},
		{[]pass.Model{takes, other, pass.Raw(always, nil)}, true, false},
		{[]pass.Model{takes, pass.Raw(never, nil)}, true, true},
	} {
		if wants, runs := pass.Wants(c.models...)(desc), pass.Runs(c.models...)(desc); wants != c.wants || runs != c.runs {
			t.Errorf("case %d: wanted %v, in runs %v", i, wants, runs)
		}
	}
	if head := pass.Head(takes)(desc); head != 4+int(set) {
		t.Errorf("%d bytes", head)
	}
}
