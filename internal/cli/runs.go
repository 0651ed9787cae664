package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
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
	r, err := std.read(ctx, []string{path}, comparison.RunOptions(page))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	run, rep, err := comparison.ReadRun(r.Reading, o, page)
	if err != nil {
		return nil, err
	}
	r.Warn(report.Missing(r.In, nil))
	run.Name = text.Clean(path)
	if run.Work, err = readWork(path); err != nil {
		return nil, err
	}
	if n := rep.Processes(); n > 1 {
		process, _ := rep.Worst()
		std.warn(path, fmt.Sprintf("has %s with collections; using %s, which paused longest; select another with --process or --pid",
			text.Plural(int64(n), "process", "processes"), text.Quoted(process.Name)))
	}
	return run, nil
}

// traceSuffixes are the suffixes of traces in a folder of traces.
var traceSuffixes = []string{".nettrace", ".netperf", ".etl", ".zip", ".gz", ".zst", ".xz", ".tar"}

// withoutSuffixes returns the path of a trace without its suffixes.
func withoutSuffixes(path string) string {
	for {
		suffix := filepath.Ext(path)
		if suffix == filepath.Base(path) || !slices.Contains(traceSuffixes, suffix) {
			return path
		}
		path = strings.TrimSuffix(path, suffix)
	}
}

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
