package gc

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/clr"
)

// bulkHead is the number of bytes decoded of an event with a part of the heap: Index, Count
// and ClrInstanceID.
const bulkHead = 4 + 4 + 2

// heapPart notes that the current collection writes the heap to the trace. The runtime does
// so only in a collection that a session requested (eventtrace.cpp,
// ShouldWalkHeapObjectsForEtw), although the collection's reason is the one of GC.Collect.
func (m *Model) heapPart(e *event) {
	if len(e.Payload) < bulkHead {
		return
	}
	if rt := m.runtime(e, binary.LittleEndian.Uint16(e.Payload[8:])); rt != nil && rt.blocking != nil {
		rt.blocking.HeapDump = true
	}
}

// isHeapPart reports whether events of a kind have a part of the heap.
func isHeapPart(k clr.Kind) bool {
	return k == clr.KindGCBulkRootEdge || k == clr.KindGCBulkNode || k == clr.KindGCBulkEdge
}
