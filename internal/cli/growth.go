package cli

import (
	"os"
	"runtime"
	"runtime/debug"
)

// The GOGC of some commands.
const (
	// followGrowth is of commands that keep running, because their Go heap is small and its
	// collections are cheap.
	followGrowth = 20 // percent
	// profileGrowth is for an agent that profiles. It allocates a megabyte of stacks and
	// profiles a second; with the growth of the others, collections would take a quarter of its
	// time.
	profileGrowth = 50
	// pageGrowth is of commands that write pages, because most of their Go heap is the packed
	// figures and details of all collections, which hold no pointers and cost nothing to mark.
	pageGrowth = 10
)

// limitGrowth sets GOGC, unless it is set.
func limitGrowth(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// spareHeap is how much larger than it is a small Go heap counts.
const spareHeap = 8 << 20

// withSpare runs a function whose live Go heap is a few megabytes, such as the listing of a
// long trace. The spare is never touched, so it takes no memory, but Go collects as if it were
// in use: less often, which saves 4 % of the processor time of gcs for a megabyte or two.
func withSpare(run func() error) error {
	spare := make([]byte, spareHeap)
	defer runtime.KeepAlive(spare)
	return run()
}
