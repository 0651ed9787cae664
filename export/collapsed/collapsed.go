// Package collapsed writes allocations as collapsed stacks, one line for each:
// the frames from the outermost on with semicolons between them, then the type,
// a space and the bytes. flamegraph.pl, inferno and speedscope read it.
package collapsed

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/export"
)

// Write writes the allocations of some processes. If there are several, the
// process is the outermost frame.
func Write(w io.Writer, processes []*export.Allocations) error {
	out := bufio.NewWriter(w)
	var frames []string
	for _, a := range processes {
		for i := range a.Rows {
			r := &a.Rows[i]
			frames = append(frames[:0], frame(export.Type(r)))
			for f := range a.Frames(r) {
				frames = append(frames, frame(f.String()))
			}
			if len(processes) > 1 {
				frames = append(frames, frame(export.Name(a.Process)))
			}
			slices.Reverse(frames)
			fmt.Fprintf(out, "%s %d\n", strings.Join(frames, ";"), r.Bytes)
		}
	}
	return out.Flush()
}

// frame returns a name that ends neither the frame nor the line.
func frame(name string) string {
	return strings.ReplaceAll(export.Clean(name), ";", ":")
}
