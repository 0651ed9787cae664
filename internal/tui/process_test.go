package tui

import (
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/watch"
)

// TestProcessorTime shows the GC's share of processor time only where it is known.
func TestProcessorTime(t *testing.T) {
	read := &gc.Process{}
	for i := range uint64(2) {
		read.Processor.Read(time.Duration(i), &clr.ProcessThreadTime{RunNanoseconds: i * 1e9})
		read.Processor.Read(time.Duration(i), &clr.GCThreadTime{Threads: 2, ServerNanoseconds: i * 25e7})
	}
	const says = "GC at least 25.0 % of CPU"
	for process, want := range map[*gc.Process]bool{nil: false, {}: false, read: true} {
		p := &watch.Process{Last: &watch.Collection{Collection: &gc.Collection{Process: process}}}
		if parts := sums(p); slices.Contains(parts, says) != want {
			t.Errorf("%q", parts)
		}
	}
}
