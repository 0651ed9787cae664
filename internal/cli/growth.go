package cli

import (
	"os"
	"runtime/debug"
)

// growth is the GOGC of commands that keep running: their Go heap is small, so its
// collections are cheap.
const growth = 20 // percent

// limitGrowth sets growth, unless GOGC is set.
func limitGrowth() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
}
