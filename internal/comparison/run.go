package comparison

import (
	"cmp"
	"iter"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// RunOptions returns the options of a reader for ReadRun.
func RunOptions(page *report.Page) open.Options {
	if page != nil {
		return report.PageOptions()
	}
	var r runRecorder
	r.allocs.Types = new(symbol.Types)
	m := new(gc.Model)
	return open.Options{Want: pass.Wants(append(r.models(), m, m.Processors())...)}
}

// ReadRun reads a trace to its end as a run, of the process with the longest total pause, and
// returns it with the report on the trace. The trace's data are added to page, unless it is
// nil.
func ReadRun(r *report.Reading, o *selection.Selection, page *report.Page) (*compare.Run, *report.Report, error) {
	recorder := runRecorder{Reading: r, selected: o, runs: map[*gc.Process]*compare.Run{}}
	recorder.allocs.Types = new(symbol.Types)
	rep, err := recorder.gather(page)
	if err != nil {
		return nil, nil, err
	}
	process, rules := rep.Worst()
	run := recorder.runs[process]
	if run == nil {
		run = recorder.newRun()
	}
	run.Name, run.Findings, run.Processors = text.Clean(r.Name()), rules, r.Info().CPUs
	run.Holes = r.Loss().Holes(run.From.Or(0), run.To.Or(trace.MaxTime)) || r.Info().Silence() > 0
	if process != nil {
		run.Types = allocatedTypes(&recorder.allocs, process.PID)
	}
	return run, rep, nil
}

// A runRecorder passes collections on, and records a run and the allocations for each process.
type runRecorder struct {
	*report.Reading
	selected *selection.Selection
	runs     map[*gc.Process]*compare.Run
	allocs   alloc.Model
}

// gather reads the trace, for a page too if there is one.
func (r *runRecorder) gather(page *report.Page) (*report.Report, error) {
	if page == nil {
		return report.Gather(r, r.selected, report.Budget{}, nil)
	}
	paged := report.NewPaged(r, r.selected)
	r.Names = paged.Names()
	return page.Gather(paged, report.Budget{}, nil)
}

// newRun returns a run of the selected time.
func (r *runRecorder) newRun() *compare.Run {
	run := new(compare.Run)
	run.From, run.To = r.selected.Span(r.Info())
	return run
}

// models returns the models that record allocations in the selected time.
func (r *runRecorder) models() []pass.Model {
	during := func(at time.Duration) bool { return r.selected.AllTimes() || r.selected.HasTime(r.Info(), at) }
	return []pass.Model{pass.Raw(symbol.WantsTypes, r.allocs.Types.Feed), pass.When(during, &r.allocs)}
}

func (r *runRecorder) Collections(m *gc.Model, models ...pass.Model) iter.Seq2[*gc.Collection, error] {
	return func(yield func(*gc.Collection, error) bool) {
		for c, err := range r.Reading.Collections(m, append(models, r.models()...)...) {
			if err == nil && r.selected.HasCollection(r.Info(), c) {
				run := r.runs[c.Process]
				if run == nil {
					run = r.newRun()
					r.runs[c.Process] = run
				}
				run.Add(c)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// allocatedTypes returns the bytes that a process allocated, by type; a type on
// another heap than the small one counts apart.
func allocatedTypes(m *alloc.Model, pid uint64) map[string]int64 {
	bytes := make(map[string]int64)
	for _, row := range m.Rows(pid, m.BestSource(pid), alloc.ByType) {
		name := cmp.Or(row.Type, "(unknown type)")
		if row.Heap != alloc.HeapUnknown && row.Heap != alloc.Small {
			name += " (" + row.Heap.String() + ")"
		}
		bytes[name] += row.Bytes
	}
	return bytes
}

// Describe names a page of compared runs, and gives it the comparison.
func Describe(page *report.Page, c *compare.Comparison, program string) (err error) {
	page.Title, page.Verdict, page.Program, page.Terms = "Comparison - gctrail", Summary(c), program, report.Terms()
	page.Before = len(c.Before)
	page.Comparison, err = PageJSON(c)
	return err
}
