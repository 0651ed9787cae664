package profile

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/export"
)

// WriteCollapsed writes the allocations of some processes as collapsed stacks, one line for
// each: the frames from the outermost on with semicolons between them, then the type, a
// space and the bytes. If there are several processes, the process is the outermost frame.
// flamegraph.pl, inferno and speedscope read it.
func WriteCollapsed(w io.Writer, processes []*export.Allocations) error {
	out := bufio.NewWriter(w)
	var frames []string
	for _, a := range processes {
		for i := range a.Rows {
			r := &a.Rows[i]
			frames = append(frames[:0], collapsedFrame(export.Type(r)))
			for f := range a.Frames(r) {
				frames = append(frames, collapsedFrame(f.String()))
			}
			if len(processes) > 1 {
				frames = append(frames, collapsedFrame(export.Name(a.Process)))
			}
			slices.Reverse(frames)
			fmt.Fprintf(out, "%s %d\n", strings.Join(frames, ";"), r.Bytes)
		}
	}
	return out.Flush()
}

// collapsedFrame returns a name that ends neither the frame nor the line.
func collapsedFrame(name string) string {
	return strings.ReplaceAll(export.Clean(name), ";", ":")
}
