package cli

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// runs reads the traces at some paths, each a run. A folder stands for the
// traces in it, in the order of their names. The data for a page is added to page, which
// may be nil.
func (std *stdio) runs(ctx context.Context, o *selection.Selection, paths []string, page *report.Page) ([]*compare.Run, error) {
	var all []*compare.Run
	for _, path := range paths {
		files, err := tracesIn(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			run, err := std.run(ctx, o, file, page)
			if err != nil {
				return nil, err
			}
			all = append(all, run)
		}
	}
	shortenNames(all)
	return all, nil
}

// shortenNames shortens the runs' paths to file names, where these differ.
func shortenNames(runs []*compare.Run) {
	seen := make(map[string]bool)
	for _, r := range runs {
		if seen[filepath.Base(r.Name)] {
			return
		}
		seen[filepath.Base(r.Name)] = true
	}
	for _, r := range runs {
		r.Name = filepath.Base(r.Name)
	}
}

// run reads one trace as a run, of the process with the longest total pause.
func (std *stdio) run(ctx context.Context, o *selection.Selection, path string, page *report.Page) (*compare.Run, error) {
	recorder := runRecorder{selected: o, runs: map[*gc.Process]*compare.Run{}}
	recorder.allocs.Types = new(symbol.Types)
	opts := open.Options{Want: pass.Wants(append(recorder.models(), new(gc.Model))...)}
	if page != nil {
		opts = report.PageOptions()
	}
	r, err := std.read(ctx, []string{path}, opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	recorder.reading = r
	rep, err := gatherRun(&recorder, o, page)
	if err != nil {
		return nil, err
	}
	std.warn(r.in.Name, report.Missing(r.in, nil))
	process, rules := rep.Worst()
	run := recorder.runs[process]
	if run == nil {
		run = newRun(r.Info(), o)
	}
	run.Name, run.Findings, run.Processors = text.Clean(path), rules, r.Info().CPUs
	if run.Work, err = readWork(path); err != nil {
		return nil, err
	}
	run.Holes = r.Loss().Holes(run.From.Or(0), run.To.Or(trace.MaxTime)) || r.Info().Silence() > 0
	if process != nil {
		run.Types = allocatedTypes(&recorder.allocs, process.PID)
	}
	if n := rep.Processes(); n > 1 {
		std.warn(path, fmt.Sprintf("has %s with collections; using %s, which paused longest; select another with --process or --pid",
			text.Plural(int64(n), "process", "processes"), text.Quoted(process.Name)))
	}
	return run, nil
}

// newRun returns a run of the selected time.
func newRun(info *trace.Info, o *selection.Selection) *compare.Run {
	run := new(compare.Run)
	if o.From.Given {
		run.From = gc.Some(o.From.After(info.Start))
	}
	if o.To.Given {
		run.To = gc.Some(o.To.After(info.Start))
	}
	return run
}

// gatherRun reads the trace of a run, for a page too if there is one.
func gatherRun(r *runRecorder, o *selection.Selection, page *report.Page) (*report.Report, error) {
	if page == nil {
		return report.Gather(r, o, report.Budget{}, nil)
	}
	paged := report.NewPaged(r, o)
	r.Names = paged.Names()
	return page.Gather(paged, report.Budget{}, nil)
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

// A runRecorder passes collections on, and records a run and the allocations for each process.
type runRecorder struct {
	*reading
	selected *selection.Selection
	runs     map[*gc.Process]*compare.Run
	allocs   alloc.Model
}

// models returns the models that record allocations in the selected time.
func (r *runRecorder) models() []pass.Model {
	during := func(at time.Duration) bool { return r.selected.AllTimes() || r.selected.HasTime(r.Info(), at) }
	return []pass.Model{pass.Raw(symbol.WantsTypes, r.allocs.Types.Feed), pass.When(during, &r.allocs)}
}

func (r *runRecorder) Collections(m *gc.Model, models ...pass.Model) iter.Seq2[*gc.Collection, error] {
	return func(yield func(*gc.Collection, error) bool) {
		for c, err := range r.reading.Collections(m, append(models, r.models()...)...) {
			if err == nil && r.selected.HasCollection(r.Info(), c) {
				run := r.runs[c.Process]
				if run == nil {
					run = newRun(r.Info(), r.selected)
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

// traceSuffixes are the suffixes of traces in a folder of traces.
var traceSuffixes = []string{".nettrace", ".netperf", ".etl", ".zip", ".gz", ".zst", ".xz", ".tar"}

// tracesIn lists the traces in a folder, or the ones that a pattern matches; a file, and
// the folder of an LTTng trace, is itself one.
func tracesIn(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		matches, _ := filepath.Glob(path)
		if len(matches) > 0 {
			return matches, nil
		}
		return nil, &inputError{path, err}
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, &inputError{path, err}
	}
	var files []string
	for _, e := range entries {
		if !slices.ContainsFunc(traceSuffixes, func(s string) bool { return strings.HasSuffix(e.Name(), s) }) {
			continue
		}
		name := filepath.Join(path, e.Name())
		if info, err := os.Stat(name); err != nil || info.Mode().IsRegular() || info.IsDir() { // a pipe would be waited for
			files = append(files, name)
		}
	}
	if len(files) == 0 {
		return []string{path}, nil
	}
	return files, nil
}
