package open

import (
	"errors"
	"strings"

	"github.com/gctrail/gctrail/trace"
)

// Files opens several traces and merges their events by time; see trace.Merge.
// The files of one ETW trace count as one trace. With a single path, Files does
// the same as File.
func Files(paths []string, opts Options) (*Input, error) {
	if len(paths) == 1 {
		return File(paths[0], opts)
	}
	groups := sessions(paths)
	name, again := strings.Join(paths, " + "), func() (*Input, error) { return Files(paths, opts) }
	if len(groups) == 1 {
		in, err := openFile(groups[0][0], groups[0][1:], opts)
		if err == nil {
			in.Name, in.again = name, again
		}
		return in, err
	}
	in := &Input{Name: name, again: again}
	opts.Runs = nil // events of several traces are merged one by one
	var sources []trace.Source
	for _, group := range groups {
		part, err := openFile(group[0], group[1:], opts)
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
