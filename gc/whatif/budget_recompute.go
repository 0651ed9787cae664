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
	Number     uint32 // of the collection
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
// It is given the collections of one process in order, with each heap's part
// (gc.Model.PerHeap).
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
	running   *keptCollection      // the background GC whose end was not reached
}

// NewRecomputer returns a Recomputer for the limits of a process.
func NewRecomputer(l BudgetLimits) *Recomputer {
	return &Recomputer{limits: l, heaps: map[uint32]*[generations]part{}}
}

// Next returns the budgets that a collection computed: of the generations that it collected,
// on each heap. A background GC computes its budget at its end, so that its budgets come
// with the ones of the first collection after that, or from End.
func (r *Recomputer) Next(c *gc.Collection) []Budget { return r.next(keep(c)) }

func (r *Recomputer) next(c *keptCollection) []Budget {
	if c.kind == gc.Background {
		budgets := r.End()
		r.running = c
		return budgets
	}
	var budgets []Budget
	if b := r.running; b != nil && c.start.Or(0) >= b.end.Or(0) {
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

func (r *Recomputer) collection(c *keptCollection) []Budget {
	r.follow(c)
	var budgets []Budget
	for i := range c.parts {
		h := &c.parts[i]
		if len(h.generations) <= gen2 {
			continue
		}
		state := r.heaps[h.heap]
		if state == nil {
			state = new([generations]part)
			r.heaps[h.heap] = state
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
func (r *Recomputer) follow(c *keptCollection) {
	heaps := c.heaps.Or(len(c.parts))
	missing := r.last != 0 && c.number > r.last+1 && r.running == nil
	if missing || r.count != 0 && heaps != r.count {
		clear(r.heaps)
		r.decided = 0
	}
	if missing {
		r.smoothed, r.started, r.full, r.young, r.stable = [generations]float64{}, false, 0, 0, 0
	}
	if c.number == 1 {
		r.started = true
	}
	if c.generation.Or(0) == gen2 {
		r.full++
	}
	if c.kind == gc.Background {
		r.swept = c.end.Or(0)
	}
	r.last, r.count = max(r.last, c.number), heaps
}

// allocated returns the bytes allocated since the last collection of generation g. After a
// background GC has swept gen 0, free space in it counts as allocated, because the sweep turned
// dead objects into free space.
func (r *Recomputer) allocated(now *keptGeneration, g int, p *part) float64 {
	if g == gen0 && r.swept > p.at {
		return float64(now.before) - p.left
	}
	return float64(now.before-now.freeBefore) - p.left
}

// collects reports whether a collection computes the budget of generation g. The histories of
// background collections have no budgets of gen 0 and 1.
func collects(kind gc.Kind, generation gc.Opt[int], g int) bool {
	n := generation.Or(-1)
	switch {
	case g > gen2:
		return n == gen2
	case kind == gc.Background:
		return g == gen2
	default:
		return g <= n
	}
}

// heap recomputes the budgets of one heap.
func (r *Recomputer) heap(c *keptCollection, h *keptPart, state *[generations]part) []Budget {
	var budgets []Budget
	gen2Budget := state[gen2].budget
	for g := range min(len(h.generations), generations) {
		part, now := &state[g], &h.generations[g]
		objects := float64(max(0, now.before-now.freeBefore))
		if g == gen1 || g == gen2 {
			part.used += float64(now.in)
			if c.kind == gc.Background {
				objects += part.inside
			} else if r.running != nil {
				part.inside += float64(now.in)
			}
		} else if part.budget > 0 {
			part.used = max(0, r.allocated(now, g, part))
		}
		left := float64(now.after - now.fragmentation)
		if !collects(c.kind, c.generation, g) {
			continue
		}
		in := inputs{
			begin: objects, out: float64(now.out), size: max(0, left), free: float64(now.fragmentation),
			before: part.budget, left: part.left, since: part.at, used: 1, gen2: gen2Budget, conserve: r.limits.Conserve,
		}
		if part.budget > 0 {
			in.used = min(1, part.used/part.budget)
			if g == gen0 && !r.limits.Server && c.reason.Or(clr.GCReasonInduced) == clr.GCReasonAllocSmall {
				in.used = 1 // that is why it was collected
			}
			in.seconds = (c.start.Or(part.at) - part.at).Seconds()
		}
		b := Budget{Number: c.number, Heap: h.heap, Generation: g, Recorded: now.budget}
		b.Recomputed, b.Lacks = r.compute(c, g, now, &in)
		if now.budget > 0 {
			budgets = append(budgets, b)
			*part = part.next(c, now, max(0, left))
		}
		if g == gen2 {
			gen2Budget = float64(now.budget)
		}
	}
	return budgets
}

// next returns the state after a collection that set a budget. With regions, what came in
// during it counts as used.
func (p *part) next(c *keptCollection, now *keptGeneration, left float64) part {
	n := part{budget: float64(now.budget), left: left, at: c.start.Or(p.at)}
	if c.committed.Known() {
		n.used = float64(now.in)
	}
	return n
}

// compute applies the rule to a generation.
func (r *Recomputer) compute(c *keptCollection, g int, now *keptGeneration, in *inputs) (budget float64, lacks string) {
	s := r.limits.Static[g]
	if g >= gen2 {
		return s.old(g, in), r.lacks(c, g, in)
	}
	if g == gen0 {
		if c.generation.Or(0) == gen0 && now.out > 0 {
			in.out -= min(in.out, float64(c.finalized.Or(0))/float64(max(1, c.heaps.Or(1))))
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
func (r *Recomputer) lacks(c *keptCollection, g int, in *inputs) string {
	switch {
	case c.lost:
		return "events are lost"
	case c.mode.Or(clr.PauseModeInteractive) == clr.PauseModeLowLatency && g < gen2:
		return "low latency mode"
	case g >= gen2 && r.limits.conserves:
		return "the value of GCConserveMemory"
	case g > gen2 && c.kind == gc.Background && (in.begin != in.left || in.begin != in.out):
		return "what was allocated while the background GC ran"
	case g == gen0 && (r.swept > in.since || r.running != nil) && in.used < 0.95 && in.before > 0:
		return "what a background GC swept of gen 0"
	case in.before == 0 && c.number > 1:
		return "the budget before"
	}
	return ""
}

// reduce keeps count of the collections for which gen 0's budget is reduced, because it is
// fragmented.
func (r *Recomputer) reduce(now *keptGeneration, smallest float64) bool {
	if r.limits.Adapts {
		return false
	}
	if smallest > 0 && float64(now.freeList) > smallest {
		r.reduction = 2
	} else if r.reduction > 0 {
		r.reduction--
	}
	return r.reduction > 0
}

// share gives all heaps of server GC the mean of their budgets, for large and pinned objects
// smoothed, and of gen 0 the one that was decided for all. See gc1 in collect.cpp.
func (r *Recomputer) share(c *keptCollection) (final Budget) {
	heaps := float64(len(c.parts))
	if heaps < 1 || !r.limits.Server {
		return Budget{}
	}
	if c.generation.Or(0) == gen2 && len(c.together) > gen2 {
		g := c.together[gen2]
		r.stable = max(0, float64(g.after-g.fragmentation)) + float64(g.budget)
	}
	for g := range generations {
		if !collects(c.kind, c.generation, g) {
			continue
		}
		var budget, used float64
		for _, p := range r.heaps {
			budget += p[g].budget / heaps
			used += p[g].used / heaps
		}
		switch {
		case g == gen0 && len(c.together) > 0:
			decided := c.together[gen0].budget / int64(heaps)
			final = Budget{Number: c.number, Heap: AllHeaps, Recorded: decided, Recomputed: r.final(c, budget, heaps), Lacks: r.lacksFinal(c)}
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
func (r *Recomputer) lacksFinal(c *keptCollection) string {
	switch {
	case c.lost:
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
func (r *Recomputer) final(c *keptCollection, budget, heaps float64) float64 {
	r.young++
	n := min(3, r.young)
	least := r.limits.Static[gen0].Min
	if r.limits.Adapts && c.generation.Or(0) == gen1 && r.decided > 0 {
		budget = min(budget, r.decided) // what survives of gen 1, too, does not raise it
	}
	r.smoothed[gen0] = budget*heaps/n + r.smoothed[gen0]/n*(n-1)
	budget = max(r.smoothed[gen0]/heaps, least)
	switch {
	case !r.limits.Adapts:
		return budget
	case c.number <= 1 && least > 0:
		return least // process_datas_sample
	}
	return min(budget, max(adapted(r.stableSize(c), r.limits.Conserve)/heaps, least))
}

// stableSize returns the size by which DATAS bounds gen 0's budget: half of gen 1 until gen 2 is
// collected. See get_total_soh_stable_size in dynamic_tuning.cpp.
func (r *Recomputer) stableSize(c *keptCollection) float64 {
	if r.stable > 0 || len(c.together) <= gen1 {
		return r.stable
	}
	if half := float64(c.together[gen1].after) / 2; half > 0 {
		return half
	}
	return r.limits.Static[gen1].Min
}

// adapted returns the largest budget of gen 0 on all heaps together that DATAS allows for the
// size of gen 2's objects and its budget. See compute_total_gen0_budget in gcpriv.h.
func adapted(stable, conserve float64) float64 {
	return min(10, max(0.1, (20-conserve)/math.Sqrt(stable/1e6))) * stable
}
