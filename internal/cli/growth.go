package cli

import (
	"os"
	"runtime/debug"
)

// growth is by how much the heap of a command that stays may grow between collections
// of Go's, which are cheap there: little is in use at a time.
const growth = 20 // percent

// limitGrowth sets growth, unless GOGC says something else.
func limitGrowth() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
}
