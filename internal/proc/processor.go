package proc

import (
	"time"

	"github.com/gctrail/gctrail/gc"
)

// A ProcessorSample holds the figures read at one time. Use their differences, because they
// grow over the life of a ProcessorReader.
type ProcessorSample struct {
	// Cost is the processor time that reading took.
	Cost    time.Duration
	Threads gc.Opt[int] // that the process has
	// Run and Wait are how long the process's threads ran, and how long they waited in a
	// run queue for a processor, since the first sample. A thread that ended counts up
	// to the sample before.
	Run, Wait gc.Opt[time.Duration]
	// GCThreads counts the threads that do nothing but collect, ServerGC and BackgroundGC are
	// how long the ones of server GC and of background GC ran, as Run is. They are unknown of
	// a process none of whose threads has a name that the runtime gives.
	GCThreads              gc.Opt[int]
	ServerGC, BackgroundGC gc.Opt[time.Duration]
	// Periods counts the periods of the lowest quota of the process's cgroups, Throttled
	// the ones in which threads had to wait for the next period, and ThrottledFor sums up
	// that time over the processors.
	Periods, Throttled gc.Opt[int64]
	ThrottledFor       gc.Opt[time.Duration]
	// Machine and Cgroup are the time in which at least one thread of the machine, or of
	// the cgroup, waited for a processor.
	Machine, Cgroup gc.Opt[time.Duration]
	// Busy and Stolen sum up, since the machine started, the time that its processors
	// worked and the time that a hypervisor took from them.
	Busy, Stolen gc.Opt[time.Duration]
}

// GC returns how long the threads that only collect ran; unknown as ServerGC is.
func (s *ProcessorSample) GC() gc.Opt[time.Duration] {
	if !s.ServerGC.Known() {
		return s.ServerGC
	}
	return gc.Some(s.ServerGC.Or(0) + s.BackgroundGC.Or(0))
}
