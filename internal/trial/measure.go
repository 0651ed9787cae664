package trial

import (
	"context"
	"math"
	"os"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/open"
)

// measure fills in the values of a run that ended well.
func (a *attempt) measure(run *Run, state *os.ProcessState) {
	seconds := a.ended.Sub(a.began).Seconds()
	cpu := state.UserTime() + state.SystemTime()
	run.Values[Memory] = a.memory.of(state)
	if a.Work != nil {
		amount, err := a.finder.Amount()
		if err != nil {
			run.Outcome, run.Reason = Unmeasured, err.Error()
			return
		}
		run.Values[Work], run.Values[ProcessorPerWork] = amount/seconds, milliseconds(cpu)/amount
	} else {
		run.Values[Elapsed], run.Values[Processor] = seconds, cpu.Seconds()
	}
	t, err := readTrace(run.Trace)
	if err != nil {
		run.Outcome, run.Reason = Unmeasured, "its trace cannot be read: "+err.Error()
		return
	}
	run.Process = t.process
	if t.process != nil {
		if used, known := t.process.GCTime().Get(); known { // by threads that only collect
			run.Values[Collector] = 100 * float64(used.Least) / float64(max(cpu, 1))
		}
	}
	t.fill(&run.Values)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// A traced is what a trace shows of a run.
type traced struct {
	process    *gc.Process
	found      *findings.Result // nil without collections
	requests   *request.Summary // nil without requests
	whole      bool             // no events are missing
	processors int
	gen0       budgets
}

// maxBudgets bounds the budgets that are kept.
const maxBudgets = 1 << 16

// budgets are the ones that collections gave to gen 0 of a heap, in bytes.
type budgets []int64

func (b *budgets) add(c *gc.Collection) {
	if len(c.Generations) == 0 || len(*b) == maxBudgets || c.Kind == gc.Background {
		return
	}
	if budget := c.Generations[0].Budget / int64(max(1, c.Heaps.Or(1))); budget > 0 {
		*b = append(*b, budget)
	}
}

// usual returns the median, 0 if it is unknown.
func (b budgets) usual() int64 {
	if len(b) == 0 {
		return 0
	}
	slices.Sort(b)
	return b[len(b)/2]
}

// readTrace reads the trace of a run.
func readTrace(path string) (*traced, error) {
	var model gc.Model
	var requests request.Model
	in, err := open.File(path, open.Options{Want: pass.Wants(append(requests.Models(), &model)...)})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var set findings.Set
	var gen0 budgets
	for c, err := range model.Collections(in.Source, requests.Models()...) {
		if err != nil {
			return nil, err
		}
		set.Add(c)
		gen0.add(c)
		requests.Collected(c)
	}
	loss := in.Source.Loss()
	t := &traced{whole: !loss.Holes(0, math.MaxInt64), processors: in.Source.Info().CPUs, gen0: gen0}
	if all := set.Judge(findings.TraceOf(in.Source)); len(all) > 0 {
		t.found = &all[0]
		t.process = t.found.Summary.Process
	} else if processes := model.Processes(); len(processes) > 0 {
		t.process = processes[0]
	}
	for _, p := range requests.Processes(loss) {
		if all, _ := p.Summaries(func(*request.Span) bool { return true }); all.Count > 0 && (t.requests == nil || all.Count > t.requests.Count) {
			t.requests = all
		}
	}
	return t, nil
}

// fill adds the figures of a trace. A whole trace without collections has no pauses.
func (t *traced) fill(v *Values) {
	switch {
	case t.found != nil:
		all := t.found.Summary.All()
		if share, ok := t.found.Summary.PauseShare().Get(); ok {
			v[Paused] = share
		}
		if all.Pause.Count() > 0 {
			v[PauseMedian], v[PauseTail] = milliseconds(all.Pause.Percentile(50)), milliseconds(all.Pause.Percentile(99))
		}
	case t.whole:
		v[Paused], v[PauseMedian], v[PauseTail] = 0, 0, 0
	}
	if t.requests != nil {
		v[RequestTail] = milliseconds(t.requests.Duration.Percentile(99))
	}
}

// Examine traces one run under the present settings, and proposes settings from what its
// trace shows.
func (p *Program) Examine(ctx context.Context) (Run, *Proposal) {
	run := p.Run(ctx, &Setting{Name: Present}, 0)
	if run.Outcome != Completed {
		return run, nil
	}
	t, err := readTrace(run.Trace)
	if err != nil {
		return run, nil
	}
	return run, t.propose()
}
