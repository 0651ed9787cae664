package whatif

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/units"
)

// A Program sums up the collections of one process. The zero Program is empty.
type Program struct {
	Process *gc.Process

	// From and To narrow the time examined. The caller sets them if it adds only the
	// collections of a part of the trace.
	From, To gc.Opt[time.Duration]

	pauses    stats.Distribution // of all collections
	filled    stats.Distribution // of collections because gen 0's budget was used up
	other     stats.Distribution // of collections for other reasons
	young     stats.Distribution // of the collections in filled that were of gen 0 only
	full      bool               // there were collections of gen 2
	allocated int64              // bytes of small objects
	budgets   []int64            // of gen 0, of all heaps together
	survivors int64              // the most bytes of gen 0 that survived a collection
	heaps     int                // the most
	left      int64              // objects of gen 0 after the last collection
	live      int64              // the largest heap after a collection
	kept      gc.Opt[int64]      // the least bytes of old and large objects after a collection of gen 2
	committed gc.Opt[int64]      // the most
	history   history
}

// maxHeaps bounds the heaps of server GC: the runtime has no more.
const maxHeaps = 1024

// positive returns a size that is not below zero, and can be doubled.
func positive(n int64) int64 { return min(max(0, n), math.MaxInt64/4) }

// maxKept bounds the budgets that are kept.
const maxKept = 1 << 16

// Add adds a collection of the process, and keeps some. With each heap's part (gc.Model.PerHeap),
// the result says how well the runtime's rule explains the budgets.
func (p *Program) Add(c *gc.Collection) {
	p.Process = c.Process
	p.heaps = max(p.heaps, min(c.Heaps.Or(1), maxHeaps), 1)
	p.live = max(p.live, c.HeapAfter.Or(0))
	if c.Generation.Or(0) == 2 && len(c.Generations) > 2 {
		n := old(c)
		p.kept = gc.Some(min(n, p.kept.Or(n)))
	}
	for _, n := range []gc.Opt[int64]{c.CommittedBefore, c.CommittedAfter} {
		if v, known := n.Get(); known {
			p.committed = gc.Some(max(v, p.committed.Or(0)))
		}
	}
	p.addPause(c)
	p.addGen0(c)
	p.history.add(c)
}

// old returns the bytes of old and large objects after a collection.
func old(c *gc.Collection) (n int64) {
	for i := range c.Generations[2:] {
		g := &c.Generations[2+i]
		n = units.AddCapped(n, max(0, positive(g.After.Or(0))-positive(g.Fragmentation.Or(0))))
	}
	return n
}

func (p *Program) addPause(c *gc.Collection) {
	pause, known := c.Pause().Get()
	if !known || pause < 0 {
		return
	}
	p.pauses.Add(pause)
	p.full = p.full || c.Generation.Or(2) == 2
	if c.Reason.Or(clr.GCReasonInduced) != clr.GCReasonAllocSmall {
		p.other.Add(pause)
		return
	}
	p.filled.Add(pause)
	if c.Generation.Or(2) == 0 {
		p.young.Add(pause)
	}
}

// addGen0 adds a collection's figures of gen 0. Background GCs do not collect it.
func (p *Program) addGen0(c *gc.Collection) {
	if len(c.Generations) == 0 || c.Kind == gc.Background {
		return
	}
	g := &c.Generations[0]
	p.allocated = units.AddCapped(p.allocated, max(0, positive(g.Before)-positive(g.FreeBefore)-p.left))
	p.left = max(0, positive(g.After.Or(0))-positive(g.Fragmentation.Or(0)))
	p.survivors = max(p.survivors, g.Out)
	if g.Budget > 0 && len(p.budgets) < maxKept {
		p.budgets = append(p.budgets, g.Budget)
	}
}

// watched returns how long the process was watched.
func (p *Program) watched() time.Duration {
	if p.Process == nil {
		return 0
	}
	return p.Process.Watched(p.From, p.To)
}

// Paused returns how long the collections paused the process.
func (p *Program) Paused() time.Duration { return p.pauses.Sum() }

// share returns the part of the time, 0 to 1, in which threads were paused.
func (p *Program) share() float64 {
	if p.watched() <= 0 {
		return 0
	}
	return min(1, float64(p.Paused())/float64(p.watched()))
}

// budget returns the usual budget of gen 0 of all heaps together, and the least and the
// largest; 0 if unknown.
func (p *Program) budget() (usual, least, largest float64) {
	if len(p.budgets) == 0 {
		return 0, 0, 0
	}
	sorted := slices.Sorted(slices.Values(p.budgets))
	return float64(sorted[len(sorted)/2]), float64(sorted[0]), float64(sorted[len(sorted)-1])
}

// server reports whether the process has server GC.
func (p *Program) server() bool { return p.Process.Server.Or(p.heaps > 1) }

// major returns the major version of .NET; 0 if unknown, and for the .NET Framework.
func (p *Program) major() int {
	number, ok := strings.CutPrefix(p.Process.Runtime, ".NET ")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(strings.SplitN(number, ".", 2)[0])
	if err != nil {
		return 0
	}
	return n
}
