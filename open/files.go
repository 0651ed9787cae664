package open

import (
	"errors"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/trace"
)

// Files opens several traces and merges their events by time; see trace.Merge.
// The files of one ETW trace count as one trace. With a single path, Files does
// the same as File.
func Files(paths []string, opts Options) (*Input, error) {
	if len(paths) == 1 {
		return File(paths[0], opts)
	}
	sorted := slices.Sorted(slices.Values(paths)) // their order makes no difference
	heads := make([]etl.File, len(paths))
	for i, path := range sorted {
		heads[i] = headOf(path)
	}
	open := func(group []int, opts Options) (*Input, error) {
		var of []string
		for _, i := range group {
			of = append(of, sorted[i])
		}
		return openFile(of[0], of[1:], opts)
	}
	name, again := strings.Join(paths, " + "), func() (*Input, error) { return Files(paths, opts) }
	groups := sessions(heads)
	if len(groups) != 1 {
		return (&Input{Name: name, again: again}).merge(groups, opts, open)
	}
	in, err := open(groups[0], opts)
	if err == nil {
		in.Name, in.again = name, again
	}
	return in, err
}

// sessions groups files, because ETW files that were recorded together are one trace.
func sessions(heads []etl.File) [][]int {
	groups := make([][]int, len(heads))
	for i, first := range etl.Recordings(heads) {
		groups[first] = append(groups[first], i)
	}
	return slices.DeleteFunc(groups, func(g []int) bool { return g == nil })
}

// merge makes the input that of several traces, each opened from a group of files.
func (in *Input) merge(groups [][]int, opts Options, open func([]int, Options) (*Input, error)) (*Input, error) {
	opts.Runs, opts.HeapDumps = nil, false // events of several traces are merged one by one
	var sources []trace.Source
	for _, group := range groups {
		part, err := open(group, opts)
		if err != nil {
			return nil, errors.Join(err, in.Close())
		}
		if part.again == nil {
			in.again = nil
		}
		in.Size += part.Size
		in.Companions = append(in.Companions, part.Companions...)
		in.Foreign = append(in.Foreign, part.Foreign...)
		in.parts = append(in.parts, part)
		sources = append(sources, part.Source)
	}
	in.Source = trace.Merge(sources...)
	return in, nil
}
