package whatif

import (
	"math"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// AllHeaps stands for all heaps of server GC, which get the same budget.
const AllHeaps = math.MaxUint32

// A Budget is the allocation budget of one generation of one heap after a collection.
type Budget struct {
	Collection *gc.Collection
	Heap       uint32
	Generation int     // 0 to 2, 3 for large and 4 for pinned objects
	Recorded   int64   // in bytes, as the runtime recorded it
	Recomputed float64 // by the rule
	Lacks      string  // the input that the trace lacks; empty if it has all
}

// Close reports whether the recomputed budget is within 2 % of the recorded one.
func (b *Budget) Close() bool {
	d := b.Recomputed - float64(b.Recorded)
	return max(d, -d) <= 0.02*float64(b.Recorded)
}

// part is the state of one generation of a heap between collections.
type part struct {
	budget float64       // unknown: 0
	used   float64       // bytes of it
	left   float64       // objects after the last collection
	at     time.Duration // of the last collection of the generation
	inside float64       // bytes that came in while a background GC ran
}

// A Recomputer recomputes the allocation budgets of the runtime's collector: how much may be
// allocated in a generation until the next collection of it. The rule is in dynamic_tuning.cpp
// (desired_new_allocation, compute_new_dynamic_data; before .NET 11 in gc.cpp), and what all
// heaps of server GC are given in collect.cpp (gc1) and dynamic_heap_count.cpp
// (process_datas_sample).
//
// It is given the collections of one process in order, with
// each heap's part (gc.Model.PerHeap).
type Recomputer struct {
	limits    BudgetLimits
	heaps     map[uint32]*[generations]part
	reduction int                  // gen0_reduction_count
	last      uint32               // number of the last collection
	count     int                  // heaps of the last collection
	young     float64              // collections of gen 0
	stable    float64              // bytes of gen 2's objects, and its budget
	full      float64              // collections of gen 2
	started   bool                 // all collections since the start of the process, or a change of heaps, were seen
	smoothed  [generations]float64 // smoothed_desired_total, for large and pinned objects
	decided   float64              // the budget of gen 0 on each heap of server GC
	swept     time.Duration        // end of the last background GC
	running   *gc.Collection       // the background GC whose end was not reached
}

// NewRecomputer returns a Recomputer for the limits of a process.
func NewRecomputer(l BudgetLimits) *Recomputer {
	return &Recomputer{limits: l, heaps: map[uint32]*[generations]part{}}
}

// Next returns the budgets that a collection computed: of the generations that it collected,
// on each heap. A background GC computes its budget at its end, so that its budgets come
// with the ones of the first collection after that, or from End.
func (r *Recomputer) Next(c *gc.Collection) []Budget {
	if c.Kind == gc.Background {
		budgets := r.End()
		r.running = c
		return budgets
	}
	var budgets []Budget
	if b := r.running; b != nil && c.Start.Or(0) >= b.End.Or(0) {
		budgets = r.End()
	}
	return append(budgets, r.collection(c)...)
}

// End returns the budgets of a background GC that no collection followed.
func (r *Recomputer) End() []Budget {
	c := r.running
	if c == nil {
		return nil
	}
	r.running = nil
	return r.collection(c)
}

func (r *Recomputer) collection(c *gc.Collection) []Budget {
	r.follow(c)
	var budgets []Budget
	for i := range c.PerHeap {
		h := &c.PerHeap[i]
		if len(h.Generations) <= gen2 {
			continue
		}
		state := r.heaps[h.Heap]
		if state == nil {
			state = new([generations]part)
			r.heaps[h.Heap] = state
		}
		budgets = append(budgets, r.heap(c, h, state)...)
	}
	if final := r.share(c); final.Recorded > 0 {
		budgets = append(budgets, final)
	}
	return budgets
}

// follow prepares the state for a collection: where collections between are missing, or the
// number of heaps changes, earlier budgets are no longer known.
func (r *Recomputer) follow(c *gc.Collection) {
	heaps := c.Heaps.Or(len(c.PerHeap))
	missing := r.last != 0 && c.Number > r.last+1 && r.running == nil
	if missing || r.count != 0 && heaps != r.count {
		clear(r.heaps)
		r.decided = 0
	}
	if missing {
		r.smoothed, r.started, r.full, r.young, r.stable = [generations]float64{}, false, 0, 0, 0
	}
	if c.Number == 1 {
		r.started = true
	}
	if c.Generation.Or(0) == gen2 {
		r.full++
	}
	if c.Kind == gc.Background {
		r.swept = c.End.Or(0)
	}
	r.last, r.count = max(r.last, c.Number), heaps
}

// allocated returns the bytes allocated since the last collection of generation g. After a
// background GC has swept gen 0, free space in it counts as allocated, because the sweep turned
// dead objects into free space.
func (r *Recomputer) allocated(now *gc.Generation, g int, p *part) float64 {
	if g == gen0 && r.swept > p.at {
		return float64(now.Before) - p.left
	}
	return float64(now.Before-now.FreeBefore) - p.left
}

// collects reports whether a collection computes the budget of generation g. The histories of
// background collections have no budgets of gen 0 and 1.
func collects(c *gc.Collection, g int) bool {
	n := c.Generation.Or(-1)
	switch {
	case g > gen2:
		return n == gen2
	case c.Kind == gc.Background:
		return g == gen2
	default:
		return g <= n
	}
}

// heap recomputes the budgets of one heap.
func (r *Recomputer) heap(c *gc.Collection, h *gc.HeapPart, state *[generations]part) []Budget {
	var budgets []Budget
	gen2Budget := state[gen2].budget
	for g := range min(len(h.Generations), generations) {
		part, now := &state[g], &h.Generations[g]
		objects := float64(max(0, now.Before-now.FreeBefore))
		if g == gen1 || g == gen2 {
			part.used += float64(now.In)
			if c.Kind == gc.Background {
				objects += part.inside
			} else if r.running != nil {
				part.inside += float64(now.In)
			}
		} else if part.budget > 0 {
			part.used = max(0, r.allocated(now, g, part))
		}
		left := float64(now.After.Or(0) - now.Fragmentation.Or(0))
		if !collects(c, g) {
			continue
		}
		in := inputs{
			begin: objects, out: float64(now.Out), size: max(0, left), free: float64(now.Fragmentation.Or(0)),
			before: part.budget, left: part.left, since: part.at, used: 1, gen2: gen2Budget, conserve: r.limits.Conserve,
		}
		if part.budget > 0 {
			in.used = min(1, part.used/part.budget)
			if g == gen0 && !r.limits.Server && c.Reason.Or(clr.GCReasonInduced) == clr.GCReasonAllocSmall {
				in.used = 1 // that is why it was collected
			}
			in.seconds = (c.Start.Or(part.at) - part.at).Seconds()
		}
		b := Budget{Collection: c, Heap: h.Heap, Generation: g, Recorded: now.Budget}
		b.Recomputed, b.Lacks = r.compute(c, g, now, &in)
		if now.Budget > 0 {
			budgets = append(budgets, b)
			*part = part.next(c, now, max(0, left))
		}
		if g == gen2 {
			gen2Budget = float64(now.Budget)
		}
	}
	return budgets
}

// next returns the state after a collection that set a budget. With regions, what came in
// during it counts as used.
func (p *part) next(c *gc.Collection, now *gc.Generation, left float64) part {
	n := part{budget: float64(now.Budget), left: left, at: c.Start.Or(p.at)}
	if c.CommittedBefore.Known() {
		n.used = float64(now.In)
	}
	return n
}

// compute applies the rule to a generation.
func (r *Recomputer) compute(c *gc.Collection, g int, now *gc.Generation, in *inputs) (budget float64, lacks string) {
	s := r.limits.Static[g]
	if g >= gen2 {
		return s.old(g, in), r.lacks(c, g, in)
	}
	if g == gen0 {
		if c.Generation.Or(0) == gen0 && now.Out > 0 {
			in.out -= min(in.out, float64(c.FinalizationPromoted.Or(0))/float64(max(1, c.Heaps.Or(1))))
		}
		in.reduction = r.reduce(now, s.Min)
	}
	budget = s.young(in)
	if lacks = r.lacks(c, g, in); lacks == "" && g == gen0 && s.Min == 0 && budget < r.limits.smallest {
		lacks = "the smallest budget of gen 0"
	}
	return budget, lacks
}

// lacks names the input of a budget that is missing from the trace.
func (r *Recomputer) lacks(c *gc.Collection, g int, in *inputs) string {
	switch {
	case c.AffectedByLoss:
		return "events are lost"
	case c.PauseMode.Or(clr.PauseModeInteractive) == clr.PauseModeLowLatency && g < gen2:
		return "low latency mode"
	case g >= gen2 && r.limits.conserves:
		return "the value of GCConserveMemory"
	case g > gen2 && c.Kind == gc.Background && (in.begin != in.left || in.begin != in.out):
		return "what was allocated while the background GC ran"
	case g == gen0 && (r.swept > in.since || r.running != nil) && in.used < 0.95 && in.before > 0:
		return "what a background GC swept of gen 0"
	case in.before == 0 && c.Number > 1:
		return "the budget before"
	}
	return ""
}

// reduce keeps count of the collections for which gen 0's budget is reduced, because it is
// fragmented.
func (r *Recomputer) reduce(now *gc.Generation, smallest float64) bool {
	if r.limits.Adapts {
		return false
	}
	if smallest > 0 && float64(now.FreeList.Or(0)) > smallest {
		r.reduction = 2
	} else if r.reduction > 0 {
		r.reduction--
	}
	return r.reduction > 0
}

// share gives all heaps of server GC the mean of their budgets, for large and pinned objects
// smoothed, and of gen 0 the one that was decided for all. See gc1 in collect.cpp.
func (r *Recomputer) share(c *gc.Collection) (final Budget) {
	heaps := float64(len(c.PerHeap))
	if heaps < 1 || !r.limits.Server {
		return Budget{}
	}
	if c.Generation.Or(0) == gen2 && len(c.Generations) > gen2 {
		g := c.Generations[gen2]
		r.stable = max(0, float64(g.After.Or(0)-g.Fragmentation.Or(0))) + float64(g.Budget)
	}
	for g := range generations {
		if !collects(c, g) {
			continue
		}
		var budget, used float64
		for _, p := range r.heaps {
			budget += p[g].budget / heaps
			used += p[g].used / heaps
		}
		switch {
		case g == gen0 && len(c.Generations) > 0:
			decided := c.Generations[gen0].Budget / int64(heaps)
			final = Budget{Collection: c, Heap: AllHeaps, Recorded: decided, Recomputed: r.final(c, budget, heaps), Lacks: r.lacksFinal(c)}
			budget, r.decided = float64(decided), float64(decided)
		case g > gen2:
			budget = r.smooth(g, budget, heaps)
		}
		for _, p := range r.heaps {
			p[g].budget, p[g].used = budget, used
		}
	}
	return final
}

// lacksFinal names the input of the budget of all heaps that is missing from the trace.
func (r *Recomputer) lacksFinal(c *gc.Collection) string {
	switch {
	case c.AffectedByLoss:
		return "events are lost"
	case !r.started && r.young < forgotten:
		return "the budget before"
	case r.limits.Adapts && !r.started && r.stable == 0:
		return "the size of gen 2 after its last collection"
	}
	return ""
}

// forgotten is the number of collections after which an earlier budget counts less than 1 % in
// a smoothed one.
const forgotten = 12

// smooth returns the budget of large or pinned objects on each heap. See
// exponential_smoothing in dynamic_tuning.cpp. It is 0, unknown, if earlier collections are
// not in the trace.
func (r *Recomputer) smooth(g int, budget, heaps float64) float64 {
	n := min(3, max(1, r.full))
	r.smoothed[g] = budget*heaps/n + r.smoothed[g]/n*(n-1)
	if !r.started && r.full < forgotten {
		return 0
	}
	return max(r.smoothed[g]/heaps, r.limits.Static[g].Min)
}

// final recomputes the budget of gen 0 on each heap of server GC: the mean of what the heaps
// asked for, smoothed, and with DATAS not more than the size of the older objects allows.
func (r *Recomputer) final(c *gc.Collection, budget, heaps float64) float64 {
	r.young++
	n := min(3, r.young)
	least := r.limits.Static[gen0].Min
	if r.limits.Adapts && c.Generation.Or(0) == gen1 && r.decided > 0 {
		budget = min(budget, r.decided) // what survives of gen 1, too, does not raise it
	}
	r.smoothed[gen0] = budget*heaps/n + r.smoothed[gen0]/n*(n-1)
	budget = max(r.smoothed[gen0]/heaps, least)
	switch {
	case !r.limits.Adapts:
		return budget
	case c.Number <= 1 && least > 0:
		return least // process_datas_sample
	}
	return min(budget, max(adapted(r.stableSize(c), r.limits.Conserve)/heaps, least))
}

// stableSize returns the size by which DATAS bounds gen 0's budget: half of gen 1 until gen 2 is
// collected. See get_total_soh_stable_size in dynamic_tuning.cpp.
func (r *Recomputer) stableSize(c *gc.Collection) float64 {
	if r.stable > 0 || len(c.Generations) <= gen1 {
		return r.stable
	}
	if half := float64(c.Generations[gen1].After.Or(0)) / 2; half > 0 {
		return half
	}
	return r.limits.Static[gen1].Min
}

// adapted returns the largest budget of gen 0 on all heaps together that DATAS allows for the
// size of gen 2's objects and its budget. See compute_total_gen0_budget in gcpriv.h.
func adapted(stable, conserve float64) float64 {
	return min(10, max(0.1, (20-conserve)/math.Sqrt(stable/1e6))) * stable
}
