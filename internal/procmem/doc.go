// Package procmem reads the system's figures on a process's memory: resident memory and
// its parts, and the use and the limit of its cgroup.
package procmem

import (
	"errors"

	"github.com/gctrail/gctrail/gc"
)

// ErrUnsupported reports a system other than Linux.
var ErrUnsupported = errors.New("the memory of processes is read on Linux only")

// A Sample holds the figures of one reading. Sizes are in bytes.
type Sample struct {
	RSS, Anon, File, Shared, Swap gc.Opt[int64]
	PSS, Private                  gc.Opt[int64] // of the latest ReadShares
	Used, Limit                   gc.Opt[int64] // of the cgroup whose limit is the lowest
	OOMKills                      gc.Opt[int64] // in the process's own cgroup, and for version 2 its children
	Available                     gc.Opt[int64] // of the machine's memory
}

// A Heap is the GC heap of a process, as the system accounts for its addresses. Sizes are
// in bytes.
type Heap struct {
	Least, Most gc.Opt[int64] // bounds of the resident part
	Committed   gc.Opt[int64] // at most
}
