package whatif

import (
	"fmt"

	"github.com/gctrail/gctrail/gc"
)

// maxHistories bounds the histories of heaps that are kept.
const maxHistories = 20_000

// A history holds the first collections of a process, to see whether its budgets follow the
// runtime's rule, on which all bounds rest.
type history struct {
	learner     BudgetLearner
	collections []*keptCollection
	heaps       int
}

func (h *history) add(c *gc.Collection) {
	h.heaps += len(c.PerHeap)
	if len(c.PerHeap) == 0 || h.heaps > maxHistories {
		return
	}
	h.learner.Add(c)
	h.collections = append(h.collections, keep(c))
}

// recomputed returns how many budgets have all their inputs in the trace, and how many of
// these the rule gives within 2 %.
func (h *history) recomputed(p *gc.Process) (all, near int) {
	r := NewRecomputer(h.learner.Limits(p))
	count := func(budgets []Budget) {
		for i := range budgets {
			if budgets[i].Lacks != "" {
				continue
			}
			all++
			if budgets[i].Close() {
				near++
			}
		}
	}
	for _, k := range h.collections {
		count(r.next(k))
	}
	count(r.End())
	return all, near
}

// rule says how well the runtime's rule explains the budgets of the process.
func (p *Program) rule() string {
	all, near := p.history.recomputed(p.Process)
	if all == 0 {
		return "the runtime sizes generations by its rule, which this trace has no budgets to check with"
	}
	return fmt.Sprintf("the runtime sizes generations by its rule, which gives %d of %d budgets of this trace within 2 %%", near, all)
}
