package whatif

import (
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// BudgetLimits hold the inputs of a process's budgets besides its objects.
type BudgetLimits struct {
	Server   bool
	Adapts   bool    // DATAS
	Conserve float64 // GCConserveMemory; 0 for none
	Static   [generations]StaticData
	smallest float64 // budget of gen 0 that was recorded
	// conserves reports that Conserve is set, and that the trace does not have its value.
	conserves bool
}

// A BudgetLearner finds the limits of a process from the budgets that its collections recorded.
type BudgetLearner struct {
	young     [2]map[int64]int // how often gen 0 and 1 had a budget
	conserves bool             // a collection ran because of GCConserveMemory
}

// Add learns from a collection.
func (l *BudgetLearner) Add(c *gc.Collection) {
	l.conserves = l.conserves || c.Joint.Or(0)&clr.CondemnReasons1MaxGenerationHighFragmentation != 0
	for i := range c.PerHeap {
		for g := range l.young {
			if collects(c.Kind, c.Generation, g) && len(c.PerHeap[i].Generations) > gen2 {
				l.add(g, c.PerHeap[i].Generations[g].Budget)
			}
		}
	}
}

// maxDistinct bounds the budgets that a BudgetLearner keeps.
const maxDistinct = 4096

func (l *BudgetLearner) add(g int, budget int64) {
	if l.young[g] == nil {
		l.young[g] = map[int64]int{}
	}
	if _, seen := l.young[g][budget]; budget > 0 && (seen || len(l.young[g]) < maxDistinct) {
		l.young[g][budget]++
	}
}

// Limits returns the limits of a process whose collections were added.
func (l *BudgetLearner) Limits(p *gc.Process) BudgetLimits {
	out := BudgetLimits{Server: p.Server.Or(false), Adapts: p.Adaptation.Known()}
	out.Static = statics(out.Server)
	switch set, known := conserve(p.Limits); {
	case known:
		out.Conserve = set
	case out.Adapts:
		out.Conserve = 5 // gc.cpp, init_gc_heap
	default:
		out.conserves = l.conserves
	}
	out.Static[gen0].Max = largestGen0(p, out.Server)
	out.Static[gen0].Min, out.smallest = l.gen0(p, out.Static[gen0].Max)
	out.Static[gen0].Max = max(out.Static[gen0].Min, out.Static[gen0].Max)
	out.Static[gen1].Max = l.gen1(p, out.Server)
	return out
}

// conserve returns GCConserveMemory, if the environment of the process has it. The runtime
// takes larger values for 9. See init_gc_heap in gc.cpp.
func conserve(l *gc.Limits) (value float64, known bool) {
	if l == nil {
		return 0, false
	}
	for _, s := range l.Settings {
		name, text, _ := strings.Cut(s, "=")
		if _, name, _ = strings.Cut(name, "_"); name != "GCConserveMemory" {
			continue
		}
		hex := strings.TrimPrefix(strings.ToLower(text), "0x")
		if n, err := strconv.ParseUint(hex, 16, 32); err == nil && n > 0 {
			return float64(min(n, 9)), true
		}
	}
	return 0, false
}

// gen0 returns the least budget of gen 0, and the smallest that was recorded. The least depends
// on the caches of the machine, which no event has: it is the smallest budget if that occurs
// twice, and is not the largest that there can be. It is 0 if unknown.
func (l *BudgetLearner) gen0(p *gc.Process, largest float64) (least, smallest float64) {
	for b := range l.young[gen0] {
		if smallest == 0 || float64(b) < smallest {
			smallest = float64(b)
		}
	}
	switch {
	case p.Settings != nil && p.Settings.Gen0MinBudgetConfig > 0:
		return smallest, smallest
	case smallest != largest && l.young[gen0][int64(smallest)] > 1:
		return smallest, smallest
	default:
		return 0, smallest
	}
}

// largestGen0 returns the largest budget of gen 0, unless the least is larger. See
// init_static_data in dynamic_tuning.cpp.
func largestGen0(p *gc.Process, server bool) float64 {
	switch s := p.Settings; {
	case s != nil && s.Gen0MaxBudgetConfig > 0:
		return float64(s.Gen0MaxBudgetConfig)
	case server:
		return 200 * mib
	case p.Concurrent.Or(true):
		return 6 * mib
	default:
		return 128 * mib // half of a segment
	}
}

// gen1 returns the largest budget of gen 1.
func (l *BudgetLearner) gen1(p *gc.Process, server bool) float64 {
	switch {
	case !server && p.Concurrent.Or(true):
		return 6 * mib
	case server:
		return 2 << 30
	default:
		return 128 * mib
	}
}
