package convert

import (
	"time"

	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// Code lies in slots of one size, in the order in which the new trace mentions it,
// because true sizes, distances and offsets of methods would identify public libraries.
// Addresses of no known method have slots behind a gap that is larger than any
// precompiled method is taken for.
const (
	slotSize   = 64
	maxMethods = 1 << 20 // as many as a symbol.Table holds
	maxUnknown = 1 << 18
	methodsAt  = 0x1000_0000
	gap        = 1 << 20
	unknownAt  = methodsAt + maxMethods*slotSize + gap
)

// A codeMap replaces code addresses.
type codeMap struct {
	table   symbol.Table
	methods map[symbol.CodeID]uint64
	unknown map[place]uint64
}

// A place is an address in a process.
type place struct{ pid, address uint64 }

func newCodeMap() codeMap {
	return codeMap{methods: make(map[symbol.CodeID]uint64), unknown: make(map[place]uint64)}
}

// slot returns the slot of the method at an address, and that there is one; else a slot
// for the address alone. All addresses for which there is no room share one. Zero means no
// address, and stays.
func (c *codeMap) slot(pid, address uint64, at time.Duration) (uint64, bool) {
	if address == 0 {
		return 0, false
	}
	if id, known := c.table.Code(pid, address, at); known {
		return slotIn(c.methods, id, methodsAt, maxMethods), true
	}
	return slotIn(c.unknown, place{pid, address}, unknownAt, maxUnknown), false
}

func slotIn[K comparable](slots map[K]uint64, key K, base uint64, most int) uint64 {
	slot, known := slots[key]
	if !known {
		slot = base + uint64(len(slots))*slotSize
		if len(slots) < most-1 {
			slots[key] = slot
		}
	}
	return slot
}

// start replaces the address at which a method starts.
func (c *codeMap) start(pid, address uint64, at time.Duration) uint64 {
	slot, _ := c.slot(pid, address, at)
	return slot
}

// inside replaces an address in the code of a process. All addresses inside a method become
// the same one, so that the position in the method is not kept.
func (c *codeMap) inside(pid, address uint64, at time.Duration) uint64 {
	slot, known := c.slot(pid, address, at)
	if known {
		slot += slotSize / 2
	}
	return slot
}

// AppendStack appends the code addresses of an event's stack, redacted, leaf first.
func (r *Redactor) AppendStack(dst []uint64, ev *trace.Event) []uint64 {
	from := len(dst)
	dst = ev.AppendStack(dst)
	for i, at := from, ev.Time(); i < len(dst); i++ {
		dst[i] = r.code.inside(ev.PID, dst[i], at)
	}
	return dst
}
