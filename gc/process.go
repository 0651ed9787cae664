package gc

import (
	"time"

	"github.com/gctrail/gctrail/clr"
)

// A Process is a traced process. What is known of it grows while its events
// are read.
type Process struct {
	PID         uint64
	Name        string // file name without folder and .exe; empty where unknown
	CommandLine string
	OS, Arch    string // as the runtime names them; empty where unknown

	Runtime  string // ".NET 10.0.12"; empty where unknown
	Server   Opt[bool]
	Settings *clr.GCSettingsRundown // nil where the trace has none

	First, Last time.Duration // of its events that the model reads, without rundown

	// Suspensions are those that belong to no collection, by reason and kind.
	Suspensions []SuspensionTotal
}

// A SuspensionTotal sums the suspensions of one sort that belong to no
// collection.
type SuspensionTotal struct {
	Reason clr.SuspendReason
	Kind   PauseKind // PauseHeapWalk or PauseOther
	Count  int
	Total  time.Duration
	Max    time.Duration
}
