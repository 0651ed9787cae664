package profile

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/export"
)

// WriteCollapsed writes a profile as collapsed stacks, one line for each: the frames from the
// outermost on with semicolons between them, a space and the bytes. The innermost frame of
// allocations is the type. If there are several processes, the process is the outermost frame.
// flamegraph.pl, inferno and speedscope read it.
func WriteCollapsed(w io.Writer, p Profile) error {
	out := bufio.NewWriter(w)
	var frames []string
	for _, of := range p.Processes {
		for s := range of.Samples {
			frames = frames[:0]
			for f := range s.Typed() {
				frames = append(frames, collapsedFrame(f.Method))
			}
			if len(p.Processes) > 1 {
				frames = append(frames, collapsedFrame(export.Name(of.Process)))
			}
			slices.Reverse(frames)
			fmt.Fprintf(out, "%s %d\n", strings.Join(frames, ";"), s.Bytes)
		}
	}
	return out.Flush()
}

// collapsedFrame returns a name that ends neither the frame nor the line.
func collapsedFrame(name string) string {
	return strings.ReplaceAll(export.Clean(name), ";", ":")
}
