package etl

import (
	"cmp"
	"slices"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// Groups and opcodes of the kernel's events about threads that run: the MOF classes CSwitch,
// which begins with the thread that runs from then on, and SampledProfile.
const (
	groupThread   = 5
	contextSwitch = 36

	groupPerfInfo = 0x0f
	cpuSample     = 46
)

// Ids of Microsoft-Windows-Kernel-Process. It has no rundown of threads.
const (
	kernelThreadStart = 3
	kernelThreadStop  = 4
)

// Opcodes of the kernel's events about threads.
const (
	threadStart   = 1
	threadEnd     = 2
	threadDCStart = 3
	threadDCEnd   = 4
)

// maxPendingThreads bounds the events about threads that wait for a query.
const maxPendingThreads = 1 << 15

// A threadEvent is the start or end of a thread.
type threadEvent struct {
	ticks    int64
	pid, tid uint32
	ends     bool
}

// threads maps threads to processes. Because ids are used again, it follows the events in
// the order in which they are emitted. It sorts and applies events about threads only at
// the first event that does not name its process, because nearly all do.
type threads struct {
	pending []threadEvent // not applied yet
	sorted  bool          // in time order
	of      map[uint32]uint32
}

// add stores an event of either provider; due is the time before which there will be no
// query. The kernel's layouts are the MOF classes Thread_V0_TypeGroup1 to
// Thread_V4_TypeGroup1: version 0 has the thread before the process.
func (t *threads) add(d *trace.Descriptor, payload []byte, ticks, due int64) {
	c := binread.At(payload, 0)
	e := threadEvent{ticks: ticks, pid: c.U32(), tid: c.U32(), ends: d.Opcode == threadEnd}
	if d.Provider == kernelProcessProvider {
		e.ends = d.ID == kernelThreadStop
	} else if d.Version == 0 {
		e.pid, e.tid = e.tid, e.pid
	}
	if !c.OK() {
		return
	}
	if len(t.pending) == maxPendingThreads {
		t.advance(due)
	}
	if len(t.pending) < maxPendingThreads {
		t.pending, t.sorted = append(t.pending, e), false
	}
}

// advance applies the stored events up to ticks. Beyond maxThreads, further threads stay
// unknown.
func (t *threads) advance(ticks int64) {
	if !t.sorted {
		slices.SortStableFunc(t.pending, func(x, y threadEvent) int { return cmp.Compare(x.ticks, y.ticks) })
		t.sorted = true
	}
	if t.of == nil {
		t.of = make(map[uint32]uint32)
	}
	n := 0
	for _, e := range t.pending {
		if e.ticks > ticks {
			break
		}
		n++
		of, known := t.of[e.tid]
		switch {
		case e.ends && of == e.pid:
			delete(t.of, e.tid)
		case !e.ends && (known || len(t.of) < maxThreads):
			t.of[e.tid] = e.pid
		}
	}
	t.pending = slices.Delete(t.pending, 0, n)
}

// threadIn returns the thread that the payload of an event names; trace.UnknownID for none.
func (p place) threadIn(payload []byte, pointer int) uint64 {
	at := 0
	if p == afterPointer {
		at = pointer
	}
	if p == inHeader || len(payload) < at+4 {
		return trace.UnknownID
	}
	return uint64(le.Uint32(payload[at:]))
}

// processOf returns the process of a thread at a time, trace.UnknownID if unknown. Times
// must not decrease from call to call.
func (t *threads) processOf(tid uint64, ticks int64) uint64 {
	if len(t.pending) > 0 {
		t.advance(ticks)
	}
	if pid, ok := t.of[uint32(tid)]; ok {
		return uint64(pid)
	}
	return trace.UnknownID
}
