package emit_test

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/nettrace"
)

// A history raises random collections through a collector, and remembers them.
type history struct {
	t         *rapid.T
	collector *emit.Collector
	heaps     int
	sizes     [5]uint64 // of the generations on each heap, which vary a little
	raised    []*raised
	open      []*raised // background collections that have not ended
}

// A raised is a collection with the figures expected from a model.
type raised struct {
	*emit.Collection
	plan       emit.Plan
	kind       gc.Kind
	result     *emit.Result
	promotedIn uint64 // into gen2, by others while it runs
}

func newHistory(t *rapid.T, p *emit.Provider) *history {
	h := &history{t: t, heaps: rapid.IntRange(1, 4).Draw(t, "heaps")}
	for g := range h.sizes {
		h.sizes[g] = rapid.Uint64Range(0, 1e9).Draw(t, "size")
	}
	h.collector = p.NewCollector(emit.CollectorOptions{Heaps: h.heaps, ClrInstance: 7})
	return h
}

func (h *history) run() {
	for range rapid.IntRange(1, 12).Draw(h.t, "collections") {
		if rapid.IntRange(0, 3).Draw(h.t, "background") == 0 {
			h.background()
		} else {
			h.blocking(2, gc.Blocking)
		}
	}
}

func (h *history) plan(oldest int) emit.Plan {
	return emit.Plan{
		Generation: rapid.IntRange(0, oldest).Draw(h.t, "generation"),
		Reason:     clr.GCReason(rapid.IntRange(0, 17).Draw(h.t, "reason")),
	}
}

func (h *history) blocking(oldest int, kind gc.Kind) {
	plan := h.plan(oldest)
	c, err := h.collector.Begin(plan)
	h.must(err)
	h.must(c.Suspended())
	h.must(c.Mark(0, clr.RootTypeStack, 7))
	h.end(&raised{Collection: c, plan: plan, kind: kind})
	h.must(c.Resume())
	h.must(c.Resumed())
}

func (h *history) foregrounds() {
	for range rapid.IntRange(0, 2).Draw(h.t, "foreground") {
		h.blocking(1, gc.Foreground)
	}
}

func (h *history) background() {
	plan := emit.Plan{Generation: 2, Background: true, Reason: clr.GCReasonAllocLarge}
	c, err := h.collector.Begin(plan)
	h.must(err)
	b := &raised{Collection: c, plan: plan, kind: gc.Background}
	h.open = append(h.open, b)
	h.must(c.Suspended())
	for range rapid.IntRange(0, 2).Draw(h.t, "inside") {
		plan := h.plan(1)
		inner, err := c.BeginInside(plan)
		h.must(err)
		h.end(&raised{Collection: inner, plan: plan, kind: gc.Blocking})
	}
	h.must(c.Resume())
	h.must(c.Resumed())
	h.foregrounds()
	h.must(c.Suspend())
	h.must(c.Suspended())
	h.must(c.Resume())
	h.must(c.Resumed())
	h.foregrounds()
	h.open = nil
	h.end(b)
}

func (h *history) end(r *raised) {
	r.result = h.result(r.plan)
	for _, b := range h.open {
		for i := range r.result.Heaps {
			b.promotedIn += r.result.Heaps[i][emit.Gen2].In
		}
	}
	h.must(r.End(r.result))
	h.raised = append(h.raised, r)
}

// result draws a possible result: a generation that is not collected keeps its size, and
// programs do not allocate in gen1 and gen2.
func (h *history) result(plan emit.Plan) *emit.Result {
	draw := func(most uint64) uint64 { return rapid.Uint64Range(0, most).Draw(h.t, "bytes") }
	r := &emit.Result{
		Heaps: make([]emit.HeapResult, h.heaps), MemoryLoad: int(draw(100)), PinnedObjects: int(draw(9)), Handles: int(draw(99)),
		FinalizationBytes: draw(1e6), FinalizationObjects: draw(1e3),
	}
	if rapid.Bool().Draw(h.t, "compacts") {
		r.Mechanisms = clr.GlobalMechanismsCompaction
	}
	for i := range r.Heaps {
		for g := range r.Heaps[i] {
			v := &r.Heaps[i][g]
			v.SizeBefore, v.SizeAfter, v.NewAllocation, v.In = h.sizes[g]+draw(1<<16), h.sizes[g]+draw(1<<16), draw(1e8), draw(1e6)
			v.FreeListBefore, v.FreeListAfter = draw(v.SizeBefore), draw(v.SizeAfter)
			v.FreeObjBefore, v.FreeObjAfter = draw(v.SizeBefore-v.FreeListBefore), draw(v.SizeAfter-v.FreeListAfter)
			if condemned(plan, g) {
				v.PinnedSurv = draw(v.SizeBefore - v.FreeListBefore - v.FreeObjBefore)
				v.NonePinnedSurv = draw(v.SizeBefore - v.FreeListBefore - v.FreeObjBefore - v.PinnedSurv)
			}
		}
	}
	return r
}

func condemned(plan emit.Plan, g int) bool {
	switch {
	case g >= emit.LOH:
		return plan.Generation == 2
	case plan.Background:
		return g == emit.Gen2
	default:
		return g <= plan.Generation
	}
}

func (h *history) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// figures are the sums of a result. For a background collection, freed counts gen2 only,
// because other collections change the rest meanwhile.
type figures struct{ before, after, promoted, freed int64 }

func (r *raised) figures() (f figures) {
	var before, after, survived [5]int64
	for i := range r.result.Heaps {
		for g, v := range r.result.Heaps[i] {
			f.before += int64(v.SizeBefore)
			f.after += int64(v.SizeAfter)
			before[g] += int64(v.SizeBefore - v.FreeListBefore - v.FreeObjBefore)
			after[g] += int64(v.SizeAfter - v.FreeListAfter - v.FreeObjAfter)
			survived[g] += int64(v.PinnedSurv + v.NonePinnedSurv)
		}
	}
	for g := range before {
		f.promoted += survived[g]
		switch {
		case !condemned(r.plan, g):
		case !r.plan.Background:
			f.freed += before[g] - survived[g]
		case g == emit.Gen2:
			f.freed += max(0, before[g]+int64(r.promotedIn)-after[g])
		}
	}
	return f
}

func (r *raised) compare(t *rapid.T, c *gc.Collection) {
	t.Helper()
	r.compareFigures(t, c)
	if got := c.Pause(); !got.Known() || got.Or(0) != r.Pause() {
		t.Errorf("collection %d: pause %v of %+v, want %v", c.Number, got, c.Pauses, r.Pause())
	}
}

// compareFigures compares all but the times.
func (r *raised) compareFigures(t *rapid.T, c *gc.Collection) {
	t.Helper()
	got := figures{c.HeapBefore.Or(0), c.HeapAfter.Or(0), c.Promoted.Or(0), c.Freed.Or(0)}
	if r.plan.Background && len(c.Generations) > emit.Gen2 {
		got.freed = c.Generations[emit.Gen2].Freed.Or(0)
	}
	if want := r.figures(); got != want {
		t.Errorf("collection %d: got %+v, want %+v", c.Number, got, want)
	}
	if !c.Complete || c.AffectedByLoss || c.Kind != r.kind || c.Generation.Or(0) != r.plan.Generation || c.Reason.Or(0) != r.plan.Reason ||
		c.ClrInstance != 7 || c.Heaps.Or(0) != len(r.result.Heaps) || c.MemoryLoad.Or(0) != r.result.MemoryLoad ||
		c.PinnedObjects.Or(0) != int64(r.result.PinnedObjects) || c.Handles.Or(0) != int64(r.result.Handles) ||
		c.FinalizationPromoted.Or(0) != int64(r.result.FinalizationBytes) || c.Compacted.Or(false) != (r.result.Mechanisms != 0) {
		t.Errorf("collection %d: got %+v, want %+v", c.Number, c, r)
	}
}

// collections rebuilds the collections of a trace, by number.
func collections(t *rapid.T, trace []byte) (map[uint32]*gc.Collection, *nettrace.Reader) {
	t.Helper()
	r := nettrace.NewReader(bytes.NewReader(trace), nettrace.Options{Want: gc.Wants})
	found := map[uint32]*gc.Collection{}
	var model gc.Model
	for c, err := range model.Collections(r) {
		if err != nil {
			t.Fatal(err)
		}
		if found[c.Number] != nil {
			t.Errorf("collection %d twice", c.Number)
		}
		found[c.Number] = c
	}
	return found, r
}

// TestCollectionsComeBack: a trace yields the figures that the collections were raised
// with, with and without the background phases of the private provider.
func TestCollectionsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := emit.NewProvider(emit.ProviderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		opt := emit.SessionOptions{Version: rapid.SampledFrom([]int{4, 6}).Draw(t, "format")}
		if rapid.Bool().Draw(t, "public only") {
			opt.Providers = []emit.Wanted{{Provider: clr.RuntimeProvider, Keywords: 1, Level: 4}}
		}
		s, err := p.Start(&out, opt)
		if err != nil {
			t.Fatal(err)
		}
		h := newHistory(t, p)
		h.run()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		found, _ := collections(t, out.Bytes())
		if len(found) != len(h.raised) {
			t.Errorf("%d collections, want %d", len(found), len(h.raised))
		}
		for _, r := range h.raised {
			if c := found[r.Number()]; c == nil {
				t.Errorf("collection %d is missing", r.Number())
			} else {
				r.compare(t, c)
			}
		}
	})
}

// A stuck writer blocks while it is locked.
type stuck struct {
	io.Writer
	sync.Mutex
}

func (s *stuck) Write(b []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	return s.Writer.Write(b)
}

// TestLostEvents: a session whose writer blocks drops events without stopping the
// program, and the trace shows how many it dropped, and where: collections with all their
// events have their figures.
func TestLostEvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, err := emit.NewProvider(emit.ProviderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		slow := &stuck{Writer: &out}
		s, err := p.Start(slow, emit.SessionOptions{BufferBytes: 1, Version: rapid.SampledFrom([]int{4, 6}).Draw(t, "format")})
		if err != nil {
			t.Fatal(err)
		}
		h := newHistory(t, p)
		h.run()
		slow.Lock()
		for s.Dropped() == 0 {
			h.run()
		}
		slow.Unlock()
		for dropped := uint64(0); dropped < s.Dropped(); {
			dropped = s.Dropped()
			h.run()
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		found, r := collections(t, out.Bytes())
		if got := r.Loss().Events; got != s.Dropped() {
			t.Errorf("%d events lost, %d dropped", got, s.Dropped())
		}
		for _, want := range h.raised {
			c := found[want.Number()]
			if c != nil && c.Complete && !c.AffectedByLoss {
				want.compare(t, c)
			}
		}
	})
}
