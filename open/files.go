package open

import (
	"errors"
	"strings"

	"github.com/gctrail/gctrail/trace"
)

// Files opens several traces as one, with their events on one time line; see
// trace.Merge. A single path is as with File.
func Files(paths []string, opts Options) (*Input, error) {
	if len(paths) == 1 {
		return File(paths[0], opts)
	}
	in := &Input{Name: strings.Join(paths, " + "), again: func() (*Input, error) { return Files(paths, opts) }}
	var sources []trace.Source
	for _, path := range paths {
		part, err := File(path, opts)
		if err != nil {
			return nil, errors.Join(err, in.Close())
		}
		if part.again == nil {
			in.again = nil
		}
		in.Size += part.Size
		in.parts = append(in.parts, part)
		sources = append(sources, part.Source)
	}
	in.Source = trace.Merge(sources...)
	return in, nil
}
