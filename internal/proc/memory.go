package proc

import "github.com/gctrail/gctrail/gc"

// A MemorySample holds the figures of one reading. Sizes are in bytes.
type MemorySample struct {
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

// Before returns the bounds of the heap's resident part before the process grew by some
// bytes, negative if it shrank, of an unknown part of its memory.
func (h Heap) Before(growth int64) Heap {
	if least, known := h.Least.Get(); known {
		h.Least = gc.Some(max(0, least-max(0, growth)))
	}
	if most, known := h.Most.Get(); known {
		h.Most = gc.Some(most + max(0, -growth))
	}
	return h
}
