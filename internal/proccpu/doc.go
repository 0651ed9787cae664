// Package proccpu reads what the system says of the processors that a process gets: how
// long its threads ran and waited, what its cgroup's quota cost it, and its limits.
package proccpu

import (
	"errors"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// ErrUnsupported reports a system other than Linux.
var ErrUnsupported = errors.New("the processor time of processes is read on Linux only")

// A Sample is what was read at one time. Its figures grow over the life of a Reader;
// their differences count.
type Sample struct {
	Threads gc.Opt[int] // that the process has
	// Run and Wait are how long the process's threads ran, and how long they waited in a
	// run queue for a processor, since the first sample. A thread that ended counts up
	// to the sample before.
	Run, Wait gc.Opt[time.Duration]
	// The periods of the quota that is the lowest of the process's cgroups, those in
	// which threads had to wait for the next period, and for how long, summed up over
	// the processors.
	Periods, Throttled gc.Opt[int64]
	ThrottledFor       gc.Opt[time.Duration]
	// The time in which some thread of the machine, or of the cgroup, waited for a
	// processor.
	Machine, Cgroup gc.Opt[time.Duration]
	// How long the machine's processors worked since it started, and how long a
	// hypervisor kept them from it, summed up.
	Busy, Stolen gc.Opt[time.Duration]
}

// Limits are what a process may use, and how its garbage collector is configured.
type Limits struct {
	Processors int           // that the process may run on; 0 if unknown
	Machine    int           // processors of the machine; 0 if unknown
	Quota      time.Duration // of processor time in each Period; 0 if no quota is known
	Period     time.Duration
	Settings   []string // the GC's environment variables, as NAME=VALUE
}
