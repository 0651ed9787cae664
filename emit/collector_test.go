package emit_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
)

// orders are the events of whole collections in the order of gc.cpp.
var orders = map[string]string{
	"workstation": `GCSuspendEEBegin GCSuspendEEEnd GCTriggered GCStart GCDynamicEvent GCMarkWithType GCGlobalHeapHistory GCPerHeapHistory GCEnd GCHeapStats
		GCRestartEEBegin GCRestartEEEnd`,
	"server": `GCTriggered GCSuspendEEBegin GCSuspendEEEnd GCStart GCDynamicEvent GCMarkWithType GCGlobalHeapHistory GCPerHeapHistory GCPerHeapHistory
		GCEnd GCHeapStats GCRestartEEBegin GCRestartEEEnd`,
	"background": `GCSuspendEEBegin GCSuspendEEEnd GCTriggered GCStart GCCreateConcurrentThread GCStart GCGlobalHeapHistory GCPerHeapHistory GCEnd
		GCHeapStats BGCBegin BGC1stNonConEnd GCRestartEEBegin GCRestartEEEnd BGC1stConEnd GCSuspendEEBegin GCSuspendEEEnd BGC2ndNonConBegin
		BGC2ndNonConEnd GCRestartEEBegin GCRestartEEEnd BGC2ndConBegin BGC2ndConEnd GCGlobalHeapHistory GCPerHeapHistory GCEnd GCHeapStats`,
	"server background": `GCTriggered GCSuspendEEBegin GCSuspendEEEnd GCStart GCCreateConcurrentThread GCStart GCGlobalHeapHistory GCPerHeapHistory
		GCPerHeapHistory GCEnd GCHeapStats BGCBegin BGC1stNonConEnd GCRestartEEBegin GCRestartEEEnd BGC1stConEnd GCSuspendEEBegin GCSuspendEEEnd
		BGC2ndNonConBegin BGC2ndNonConEnd GCRestartEEBegin GCRestartEEEnd BGC2ndConBegin BGC2ndConEnd GCEnd GCHeapStats GCGlobalHeapHistory
		GCPerHeapHistory GCPerHeapHistory`,
}

// TestOrder: events come in the runtime's order, and the events of a pause on one thread.
func TestOrder(t *testing.T) {
	for name, want := range orders {
		t.Run(name, func(t *testing.T) {
			heaps := 1
			if strings.Contains(name, "server") {
				heaps = 2
			}
			p := newProvider(t, emit.ProviderOptions{})
			var out bytes.Buffer
			s := start(t, p, &out, emit.SessionOptions{NoRundown: true})
			collector := p.NewCollector(emit.CollectorOptions{Heaps: heaps})
			if strings.Contains(name, "background") {
				raiseBackground(t, collector, heaps)
			} else {
				raiseBlocking(t, collector, heaps)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			var got []string
			var suspender uint64
			for _, ev := range readAll(t, &out) {
				k := clr.KindOf(ev.Desc.Provider, ev.Desc.ID)
				got = append(got, k.String())
				switch k {
				case clr.KindGCSuspendEEBegin:
					suspender = ev.TID
				case clr.KindGCSuspendEEEnd, clr.KindGCRestartEEBegin, clr.KindGCRestartEEEnd, clr.KindGCEnd, clr.KindGCHeapStats:
					if ev.TID != suspender {
						t.Errorf("%v on thread %d, suspended by %d", k, ev.TID, suspender)
					}
				}
			}
			if want := strings.Fields(want); !slices.Equal(got, want) {
				t.Errorf("got\n%v, want\n%v", got, want)
			}
		})
	}
}

// TestNumbersOfSuspensions: a suspension carries the number of the collection whose settings
// are in force, which a foreground collection leaves to the background one.
func TestNumbersOfSuspensions(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	var out bytes.Buffer
	s := start(t, p, &out, emit.SessionOptions{NoRundown: true})
	collector := p.NewCollector(emit.CollectorOptions{})
	raiseBlocking(t, collector, 1)
	raiseBackground(t, collector, 1) // GC 2, with GC 3 inside
	raiseBlocking(t, collector, 1)
	raiseBlocking(t, collector, 1)
	check(t, s.Close())
	var got []uint32
	for _, ev := range readAll(t, &out) {
		var v clr.GCSuspendEEBegin
		if clr.KindOf(ev.Desc.Provider, ev.Desc.ID) != v.EventKind() {
			continue
		}
		check(t, v.Decode(ev.Desc.Version, ev.Payload, 8))
		got = append(got, v.Count)
	}
	if want := []uint32{0, 1, 2, 2, 4}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
}

func raiseBlocking(t *testing.T, collector *emit.Collector, heaps int) {
	t.Helper()
	c, err := collector.Begin(emit.Plan{})
	check(t, err)
	check(t, c.Suspended())
	check(t, c.Committed(clr.CommittedUsage{}))
	check(t, c.Mark(0, clr.RootTypeStack, 1))
	check(t, c.End(&emit.Result{Heaps: make([]emit.HeapResult, heaps)}))
	check(t, c.Resume())
	check(t, c.Resumed())
}

func raiseBackground(t *testing.T, collector *emit.Collector, heaps int) {
	t.Helper()
	nothing := &emit.Result{Heaps: make([]emit.HeapResult, heaps)}
	c, err := collector.Begin(emit.Plan{Generation: 2, Background: true})
	check(t, err)
	check(t, c.Suspended())
	inside, err := c.BeginInside(emit.Plan{Generation: 1})
	check(t, err)
	check(t, inside.End(nothing))
	for _, step := range []func() error{c.Resume, c.Resumed, c.Suspend, c.Suspended, c.Resume, c.Resumed} {
		check(t, step())
	}
	check(t, c.End(nothing))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestStepsOutOfOrder: steps out of order are refused and change nothing, so that the
// collection can continue.
func TestStepsOutOfOrder(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	collector := p.NewCollector(emit.CollectorOptions{})
	nothing := &emit.Result{Heaps: make([]emit.HeapResult, 1)}
	var c *emit.Collection
	steps := map[string]func() error{
		"Suspend":   func() error { return c.Suspend() },
		"Suspended": func() error { return c.Suspended() },
		"End":       func() error { return c.End(nothing) },
		"Resume":    func() error { return c.Resume() },
		"Resumed":   func() error { return c.Resumed() },
		"Raise":     func() error { return c.Raise(&clr.GCFinalizersBegin{}) },
		"Begin": func() error {
			f, err := collector.Begin(emit.Plan{Generation: 1})
			if err == nil {
				check(t, f.Suspended())
				check(t, f.End(nothing))
				check(t, f.Resume())
				check(t, f.Resumed())
			}
			return err
		},
		"Begin2": func() error { _, err := collector.Begin(emit.Plan{Generation: 2}); return err },
		"Inside": func() error {
			in, err := c.BeginInside(emit.Plan{})
			if err == nil {
				check(t, in.End(nothing))
			}
			return err
		},
	}
	for _, tt := range []struct {
		plan  emit.Plan
		steps []string // each with the alternatives allowed before it
	}{
		{emit.Plan{}, []string{"Suspended", "End: Raise", "Resume:", "Resumed:"}},
		{emit.Plan{Generation: 2, Background: true}, []string{
			"Suspended:", "Resume: Raise Inside", "Resumed: Raise", "Suspend: Raise Begin", "Suspended: Raise", "Resume: Raise", "Resumed: Raise",
			"End: Raise Begin",
		}},
	} {
		var err error
		c, err = collector.Begin(tt.plan)
		check(t, err)
		for _, s := range tt.steps {
			next, allowed, _ := strings.Cut(s, ":")
			for name, step := range steps {
				if name == next {
					continue
				}
				want := slices.Contains(strings.Fields(allowed), name)
				if err := step(); (err == nil) != want || err != nil && !errors.Is(err, emit.ErrOrder) {
					t.Errorf("%+v: %s before %s: %v", tt.plan, name, next, err)
				}
			}
			check(t, steps[next]())
		}
		for _, name := range []string{"Suspend", "Suspended", "End", "Resume", "Resumed", "Raise", "Inside"} {
			if err := steps[name](); !errors.Is(err, emit.ErrOrder) {
				t.Errorf("%s after the end: %v", name, err)
			}
		}
	}
}

func TestInsideMustEnd(t *testing.T) {
	collector := newProvider(t, emit.ProviderOptions{}).NewCollector(emit.CollectorOptions{})
	c, err := collector.Begin(emit.Plan{Generation: 2, Background: true})
	check(t, err)
	check(t, c.Suspended())
	inside, err := c.BeginInside(emit.Plan{Generation: 1})
	check(t, err)
	if _, err := c.BeginInside(emit.Plan{}); !errors.Is(err, emit.ErrOrder) {
		t.Errorf("two at once: %v", err)
	}
	if err := c.Resume(); !errors.Is(err, emit.ErrOrder) {
		t.Errorf("Resume: %v", err)
	}
	check(t, inside.End(&emit.Result{Heaps: make([]emit.HeapResult, 1)}))
	check(t, c.Resume())
	if inside.Number() != 2 || inside.Pause() <= 0 || c.Pause() <= 0 {
		t.Errorf("number %d, pauses %v and %v", inside.Number(), inside.Pause(), c.Pause())
	}
}

func TestImpossibleResults(t *testing.T) {
	collector := newProvider(t, emit.ProviderOptions{}).NewCollector(emit.CollectorOptions{})
	for _, plan := range []emit.Plan{{Generation: 3}, {Generation: -1}, {Generation: 1, Background: true}} {
		if _, err := collector.Begin(plan); err == nil {
			t.Errorf("no error for %+v", plan)
		}
	}
	c, err := collector.Begin(emit.Plan{Generation: 1})
	check(t, err)
	check(t, c.Suspended())
	result := func(g int, v clr.GCPerHeapHistoryValue) *emit.Result {
		var h emit.HeapResult
		h[g] = v
		return &emit.Result{Heaps: []emit.HeapResult{h}}
	}
	for _, r := range []*emit.Result{
		{},
		{Heaps: make([]emit.HeapResult, 2)},
		{Heaps: make([]emit.HeapResult, 1), Times: make([]time.Duration, 5)},
		result(emit.Gen0, clr.GCPerHeapHistoryValue{SizeBefore: 1, FreeListBefore: 2}),
		result(emit.Gen0, clr.GCPerHeapHistoryValue{SizeAfter: 1, FreeObjAfter: 2}),
		result(emit.Gen0, clr.GCPerHeapHistoryValue{SizeBefore: 1, PinnedSurv: 1, NonePinnedSurv: 1}),
		result(emit.Gen2, clr.GCPerHeapHistoryValue{SizeBefore: 1, NonePinnedSurv: 1}),
		result(emit.LOH, clr.GCPerHeapHistoryValue{SizeBefore: 1, NonePinnedSurv: 1}),
	} {
		if err := c.End(r); err == nil || errors.Is(err, emit.ErrOrder) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	check(t, c.End(&emit.Result{
		Heaps: make([]emit.HeapResult, 1), Mechanisms: clr.GlobalMechanismsCompaction, Times: make([]time.Duration, 8),
	}))
}
