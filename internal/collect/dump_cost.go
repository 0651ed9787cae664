package collect

import (
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/proc"
)

const (
	// DumpBufferMB is the usual size of the buffer in the process, and the most that a
	// snapshot adds to its memory. The runtime sends every 100 ms, and lists up to 850 MB a
	// second, so that a snapshot of 80 MB fits if it is asked for at the right moment.
	DumpBufferMB = 54
	// maxDumpBufferMB bounds the buffer for larger heaps.
	maxDumpBufferMB = 1024
)

// Bytes of the heap for each object, of the snapshot for each object with its references,
// and the time that the program is paused for it: what programs of .NET 8 to 10 showed.
const (
	heapPerObject     = 50
	snapshotPerObject = 48
	pausePerObject    = 750 * time.Nanosecond
)

// A DumpCost is the expected cost of a snapshot.
type DumpCost struct {
	Bytes int64         // of the trace
	Pause time.Duration // of the program
}

// CostOf returns the cost for a heap of a size, with objects of usual sizes.
func CostOf(heap int64) DumpCost {
	objects := heap / heapPerObject
	return DumpCost{objects * snapshotPerObject, time.Duration(objects) * pausePerObject}
}

// ExpectedCost returns the most that a snapshot of a process may cost: as if all of its
// memory that is not of files were heap. It is unknown where that cannot be read.
func ExpectedCost(p *diag.Process) gc.Opt[DumpCost] {
	memory, err := proc.NewMemoryReader(p.PID).Read(false)
	anon, known := memory.Anon.Get()
	return gc.SomeIf(CostOf(anon+memory.Swap.Or(0)), err == nil && known && p.PID != 0)
}

// bufferFor returns the size in MB of the buffer for a snapshot: half of it, if the usual
// buffer has less. A larger heap is listed for longer than the runtime's sending thread
// sleeps, so that more waits at once.
func bufferFor(cost gc.Opt[DumpCost]) uint32 {
	half := cost.Or(DumpCost{}).Bytes / 2 >> 20
	return uint32(min(max(half, DumpBufferMB), maxDumpBufferMB))
}

// CollectsTwice reports whether a runtime collects a second time for each snapshot.
func CollectsTwice(p *diag.Process) bool {
	major, known := majorOf(p)
	return known && major < 10
}

// majorOf returns the major version of a process's runtime, if that is known.
func majorOf(p *diag.Process) (major int, known bool) {
	if p.Info == nil {
		return 0, false
	}
	text, _, _ := strings.Cut(p.Info.RuntimeVersion, ".")
	major, err := strconv.Atoi(text)
	return major, err == nil
}
