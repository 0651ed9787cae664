package nettrace

import (
	"strings"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

const (
	// maxProcesses bounds the processes of a trace.
	maxProcesses = 1 << 16
	// maxProcessNames bounds the bytes of their names.
	maxProcessNames = 4 << 20
)

// Events of one-collect's provider for the processes of a machine (nettrace.rs).
const (
	systemProvider = "Universal.System"

	existingProcess = 0
	processCreate   = 1
)

// unknownProcess is one-collect's name for a process whose name it does not know.
const unknownProcess = "Unknown"

// namesProcess reports whether events of this kind name the process they are of.
func namesProcess(d *trace.Descriptor) bool {
	return d.Provider == systemProvider && (d.ID == existingProcess || d.ID == processCreate)
}

// nameProcess processes an event that names the process of the V6 thread: the
// process's id in its own namespace, and after a length the name that the kernel
// has for it.
func (r *Reader) nameProcess(thread uint64, payload []byte) {
	c := binread.At(payload, 0)
	c.Uvarint64()
	name := strings.ToValidUTF8(string(c.Bytes(int(c.U16()))), "\ufffd")
	pid := r.threads[thread].pid
	was, known := r.info.Processes[pid]
	if name == "" || name == unknownProcess || pid == 0 || name == was.Name || !known && len(r.info.Processes) == maxProcesses {
		return
	}
	if r.names += len(name); r.names > maxProcessNames {
		return
	}
	if r.info.Processes == nil {
		r.info.Processes = make(map[uint64]trace.Process)
	}
	r.info.Processes[pid] = trace.Process{Name: name}
}
