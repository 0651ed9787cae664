package cli

import (
	"os"
	"runtime/debug"
)

// The GOGC of some commands.
const (
	// followGrowth is of commands that keep running: their Go heap is small, so its
	// collections are cheap.
	followGrowth = 20 // percent
	// pageGrowth is of commands that write pages: most of their Go heap is the packed figures
	// and details of all collections, which hold no pointers and cost nothing to mark.
	pageGrowth = 25
)

// limitGrowth sets GOGC, unless it is set.
func limitGrowth(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
