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
	groups := sessions(slices.Sorted(slices.Values(paths)), headOf) // their order makes no difference
	open := func(i int, opts Options) (*Input, error) { return openFile(groups[i][0], groups[i][1:], opts) }
	name, again := strings.Join(paths, " + "), func() (*Input, error) { return Files(paths, opts) }
	if len(groups) != 1 {
		return (&Input{Name: name, again: again}).merge(len(groups), opts, open)
	}
	in, err := open(0, opts)
	if err == nil {
		in.Name, in.again = name, again
	}
	return in, err
}

// sessions groups files, because ETW files that were recorded together are one trace: head
// returns the first part of a file.
func sessions[T any](files []T, head func(T) etl.File) [][]T {
	heads := make([]etl.File, len(files))
	for i, f := range files {
		heads[i] = head(f)
	}
	groups := make([][]T, len(files))
	for i, first := range etl.Recordings(heads) {
		groups[first] = append(groups[first], files[i])
	}
	return slices.DeleteFunc(groups, func(g []T) bool { return g == nil })
}

// merge makes the input that of n traces, each of which open opens.
func (in *Input) merge(n int, opts Options, open func(int, Options) (*Input, error)) (*Input, error) {
	opts.Runs, opts.HeapDumps = nil, false // events of several traces are merged one by one
	var sources []trace.Source
	for i := range n {
		part, err := open(i, opts)
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
