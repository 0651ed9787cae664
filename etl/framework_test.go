package etl_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// A frameworkEvent is an event of the .NET Framework, assembled by hand, with
// the fields that it must be decoded to.
type frameworkEvent struct {
	name    string
	private bool
	id      uint16
	version uint16
	opcode  uint8 // of the classic form; 0 if there is none
	payload func(p ptr) []any
	fields  string // JSON
}

// A ptr makes pointers of four or eight bytes.
type ptr int

func (p ptr) of(v uint32) any {
	if p == 4 {
		return v
	}
	return uint64(v)
}

func fixed(values ...any) func(ptr) []any { return func(ptr) []any { return values } }

const runtimeInstance = uint16(9)

// frameworkEvents are the events of the .NET Framework 2.0 to 4.8, in every version.
var frameworkEvents = []frameworkEvent{
	{name: "GCStart", id: 1, version: 0, opcode: 1, payload: fixed(uint32(3), uint32(1)), fields: `{"Count":3,"Reason":1}`},
	{
		name: "GCStart", id: 1, version: 1, opcode: 1, payload: fixed(uint32(3), uint32(2), uint32(4), uint32(1), runtimeInstance),
		fields: `{"Count":3,"Depth":2,"Reason":4,"Type":1,"ClrInstanceID":9}`,
	},
	{
		name: "GCStart", id: 1, version: 2, payload: fixed(uint32(3), uint32(2), uint32(4), uint32(1), runtimeInstance, uint64(7)),
		fields: `{"Count":3,"Depth":2,"Reason":4,"Type":1,"ClrInstanceID":9,"ClientSequenceNumber":7}`,
	},
	{name: "GCEnd", id: 2, version: 0, opcode: 2, payload: fixed(uint32(3), uint16(2)), fields: `{"Count":3,"Depth":2}`},
	{name: "GCEnd", id: 2, version: 1, opcode: 2, payload: fixed(uint32(3), uint32(2), runtimeInstance), fields: `{"Count":3,"Depth":2,"ClrInstanceID":9}`},
	{name: "GCRestartEEEnd", id: 3, version: 0, opcode: 132, payload: fixed(), fields: `{}`},
	{name: "GCRestartEEEnd", id: 3, version: 0, opcode: 8, payload: fixed(), fields: `{}`},
	{name: "GCRestartEEEnd", id: 3, version: 1, opcode: 132, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{
		name: "GCHeapStats", id: 4, version: 0, opcode: 5, payload: fixed([10]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, [3]uint32{11, 12, 13}),
		fields: `{"GenerationSize0":1,"TotalPromotedSize0":2,"GenerationSize1":3,"TotalPromotedSize1":4,"GenerationSize2":5,"TotalPromotedSize2":6,` +
			`"GenerationSize3":7,"TotalPromotedSize3":8,"FinalizationPromotedSize":9,"FinalizationPromotedCount":10,"PinnedObjectCount":11,"SinkBlockCount":12,"GCHandleCount":13}`,
	},
	{
		name: "GCHeapStats", id: 4, version: 1, opcode: 133, payload: fixed([10]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, [3]uint32{11, 12, 13}, runtimeInstance),
		fields: `{"GenerationSize0":1,"TotalPromotedSize0":2,"GenerationSize1":3,"TotalPromotedSize1":4,"GenerationSize2":5,"TotalPromotedSize2":6,` +
			`"GenerationSize3":7,"TotalPromotedSize3":8,"FinalizationPromotedSize":9,"FinalizationPromotedCount":10,"PinnedObjectCount":11,"SinkBlockCount":12,"GCHandleCount":13,"ClrInstanceID":9}`,
	},
	{name: "GCCreateSegment", id: 5, version: 0, opcode: 6, payload: fixed(uint64(1), uint64(2), uint32(1)), fields: `{"Address":1,"Size":2,"Type":1}`},
	{name: "GCCreateSegment", id: 5, version: 1, opcode: 134, payload: fixed(uint64(1), uint64(2), uint32(0), runtimeInstance), fields: `{"Address":1,"Size":2,"Type":0,"ClrInstanceID":9}`},
	{name: "GCFreeSegment", id: 6, version: 0, opcode: 7, payload: fixed(uint64(1)), fields: `{"Address":1}`},
	{name: "GCFreeSegment", id: 6, version: 1, opcode: 135, payload: fixed(uint64(1), runtimeInstance), fields: `{"Address":1,"ClrInstanceID":9}`},
	{name: "GCRestartEEBegin", id: 7, version: 0, opcode: 136, payload: fixed(), fields: `{}`},
	{name: "GCRestartEEBegin", id: 7, version: 1, opcode: 136, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "GCSuspendEEEnd", id: 8, version: 0, opcode: 137, payload: fixed(), fields: `{}`},
	{name: "GCSuspendEEEnd", id: 8, version: 1, opcode: 137, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "GCSuspendEEBegin", id: 9, version: 0, opcode: 10, payload: fixed(uint16(1)), fields: `{"Reason":1}`},
	{name: "GCSuspendEEBegin", id: 9, version: 1, opcode: 10, payload: fixed(uint32(6), uint32(2), runtimeInstance), fields: `{"Reason":6,"Count":2,"ClrInstanceID":9}`},
	{name: "GCAllocationTick", id: 10, version: 0, opcode: 11, payload: fixed(uint32(1), uint32(1)), fields: `{"AllocationAmount":1,"AllocationKind":1}`},
	{name: "GCAllocationTick", id: 10, version: 1, opcode: 11, payload: fixed(uint32(1), uint32(0), runtimeInstance), fields: `{"AllocationAmount":1,"AllocationKind":0,"ClrInstanceID":9}`},
	{
		name: "GCAllocationTick", id: 10, version: 2,
		payload: func(p ptr) []any {
			return []any{uint32(1), uint32(0), runtimeInstance, uint64(2), p.of(3), "T", uint32(4)}
		},
		fields: `{"AllocationAmount":1,"AllocationKind":0,"ClrInstanceID":9,"AllocationAmount64":2,"TypeID":3,"TypeName":"T","HeapIndex":4}`,
	},
	{
		name: "GCAllocationTick", id: 10, version: 3,
		payload: func(p ptr) []any {
			return []any{uint32(1), uint32(0), runtimeInstance, uint64(2), p.of(3), "T", uint32(4), p.of(5)}
		},
		fields: `{"AllocationAmount":1,"AllocationKind":0,"ClrInstanceID":9,"AllocationAmount64":2,"TypeID":3,"TypeName":"T","HeapIndex":4,"Address":5}`,
	},
	{name: "GCCreateConcurrentThread", id: 11, version: 0, opcode: 12, payload: fixed(), fields: `{}`},
	{name: "GCCreateConcurrentThread", id: 11, version: 1, opcode: 12, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "GCTerminateConcurrentThread", id: 12, version: 0, opcode: 13, payload: fixed(), fields: `{}`},
	{name: "GCTerminateConcurrentThread", id: 12, version: 1, opcode: 13, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "GCFinalizersEnd", id: 13, version: 0, opcode: 15, payload: fixed(uint32(5)), fields: `{"Count":5}`},
	{name: "GCFinalizersEnd", id: 13, version: 1, opcode: 15, payload: fixed(uint32(5), runtimeInstance), fields: `{"Count":5,"ClrInstanceID":9}`},
	{name: "GCFinalizersBegin", id: 14, version: 0, opcode: 19, payload: fixed(), fields: `{}`},
	{name: "GCFinalizersBegin", id: 14, version: 1, opcode: 19, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},

	{name: "GCDecision", private: true, id: 1, version: 0, opcode: 132, payload: fixed(uint32(1)), fields: `{"DoCompact":true}`},
	{name: "GCDecision", private: true, id: 1, version: 1, opcode: 132, payload: fixed(uint32(0), runtimeInstance), fields: `{"DoCompact":false,"ClrInstanceID":9}`},
	{name: "GCSettings", private: true, id: 2, version: 0, opcode: 14, payload: fixed(uint64(1), uint64(2), uint32(1)), fields: `{"SegmentSize":1,"LargeObjectSegmentSize":2,"ServerGC":true}`},
	{name: "GCSettings", private: true, id: 2, version: 1, opcode: 14, payload: fixed(uint64(1), uint64(2), uint32(0), runtimeInstance), fields: `{"SegmentSize":1,"LargeObjectSegmentSize":2,"ServerGC":false,"ClrInstanceID":9}`},
	{name: "GCOptimized", private: true, id: 3, version: 0, opcode: 16, payload: fixed(uint64(1), uint64(2), uint32(1)), fields: `{"DesiredAllocation":1,"NewAllocation":2,"GenerationNumber":1}`},
	{name: "GCOptimized", private: true, id: 3, version: 1, opcode: 16, payload: fixed(uint64(1), uint64(2), uint32(1), runtimeInstance), fields: `{"DesiredAllocation":1,"NewAllocation":2,"GenerationNumber":1,"ClrInstanceID":9}`},
	perHeapHistory(0, true, `,"MemoryPressure":51,"ExpandMechanism":52,"CompactMechanism":53,"ConcurrentCompactMechanism":54,"CondemnReasons":55,"HeapIndex":56,"ClrInstanceID":9}`,
		uint32(51), uint32(52), uint32(53), uint32(54), uint32(55), uint32(56), uint8(9)),
	perHeapHistory(1, true, `,"MemoryPressure":51,"ExpandMechanism":52,"CompactMechanism":53,"ConcurrentCompactMechanism":54,"CondemnReasons":55,"HeapIndex":56,"ClrInstanceID":9}`,
		uint32(51), uint32(52), uint32(53), uint32(54), uint32(55), uint32(56), uint8(9)),
	perHeapHistory(2, false, `,"CondemnReasonsGeneration":51,"CondemnReasonsCondition":52,"MemoryPressure":53,"ExpandMechanism":54,"CompactMechanism":55,"HeapIndex":56,"ClrInstanceID":9}`,
		uint32(51), uint32(52), uint32(53), uint32(54), uint32(55), uint32(56), uint8(9)), // .NET Framework 4.5
	perHeapHistory(2, false, `,"CondemnReasonsGeneration":51,"CondemnReasonsCondition":52,"MemoryPressure":53,"ExpandMechanism":54,"CompactMechanism":55,"HeapIndex":56,"ExtraGen0Committed":57,"ClrInstanceID":9}`,
		uint32(51), uint32(52), uint32(53), uint32(54), uint32(55), uint32(56), uint64(57), uint8(9)), // 4.5.2
	{
		name: "GCGlobalHeapHistory", private: true, id: 5, version: 0, opcode: 18, payload: fixed(uint64(1), int32(2), [4]uint32{1, 4, 0, 5}),
		fields: `{"FinalYoungestDesired":1,"NumHeaps":2,"CondemnedGeneration":1,"Gen0ReductionCount":4,"Reason":0,"GlobalMechanisms":5}`,
	},
	{
		name: "GCGlobalHeapHistory", private: true, id: 5, version: 1, opcode: 18, payload: fixed(uint64(1), int32(2), [4]uint32{1, 4, 0, 5}, runtimeInstance),
		fields: `{"FinalYoungestDesired":1,"NumHeaps":2,"CondemnedGeneration":1,"Gen0ReductionCount":4,"Reason":0,"GlobalMechanisms":5,"ClrInstanceID":9}`,
	},
	{name: "GCJoin", private: true, id: 6, version: 0, opcode: 20, payload: fixed(uint32(1), uint32(1), uint32(2)), fields: `{"Heap":1,"JoinTime":1,"JoinType":2}`},
	{name: "GCJoin", private: true, id: 6, version: 1, opcode: 20, payload: fixed(uint32(1), uint32(1), uint32(2), runtimeInstance), fields: `{"Heap":1,"JoinTime":1,"JoinType":2,"ClrInstanceID":9}`},
	{name: "PrvGCMarkStackRoots", private: true, id: 7, version: 0, opcode: 21, payload: fixed(uint32(1)), fields: `{"HeapNum":1}`},
	{name: "PrvGCMarkStackRoots", private: true, id: 7, version: 1, opcode: 21, payload: fixed(uint32(1), runtimeInstance), fields: `{"HeapNum":1,"ClrInstanceID":9}`},
	{name: "PrvGCMarkFinalizeQueueRoots", private: true, id: 8, version: 0, opcode: 22, payload: fixed(uint32(1)), fields: `{"HeapNum":1}`},
	{name: "PrvGCMarkFinalizeQueueRoots", private: true, id: 8, version: 1, opcode: 22, payload: fixed(uint32(1), runtimeInstance), fields: `{"HeapNum":1,"ClrInstanceID":9}`},
	{name: "PrvGCMarkHandles", private: true, id: 9, version: 0, opcode: 23, payload: fixed(uint32(1)), fields: `{"HeapNum":1}`},
	{name: "PrvGCMarkHandles", private: true, id: 9, version: 1, opcode: 23, payload: fixed(uint32(1), runtimeInstance), fields: `{"HeapNum":1,"ClrInstanceID":9}`},
	{name: "PrvGCMarkCards", private: true, id: 10, version: 0, opcode: 24, payload: fixed(uint32(1)), fields: `{"HeapNum":1}`},
	{name: "PrvGCMarkCards", private: true, id: 10, version: 1, opcode: 24, payload: fixed(uint32(1), runtimeInstance), fields: `{"HeapNum":1,"ClrInstanceID":9}`},
	{name: "BGCBegin", private: true, id: 11, version: 0, opcode: 25, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "BGC1stNonConEnd", private: true, id: 12, version: 0, opcode: 26, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "BGC1stConEnd", private: true, id: 13, version: 0, opcode: 27, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "BGC2ndNonConBegin", private: true, id: 14, version: 0, opcode: 28, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "BGC2ndNonConEnd", private: true, id: 15, version: 0, opcode: 29, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "BGC2ndConBegin", private: true, id: 16, version: 0, opcode: 30, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "BGC2ndConEnd", private: true, id: 17, version: 0, opcode: 31, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "BGCPlanEnd", private: true, id: 18, version: 0, opcode: 32, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "BGCSweepEnd", private: true, id: 19, version: 0, opcode: 33, payload: fixed(runtimeInstance), fields: `{"ClrInstanceID":9}`},
	{name: "BGCDrainMark", private: true, id: 20, version: 0, opcode: 34, payload: fixed(uint64(1), runtimeInstance), fields: `{"Objects":1,"ClrInstanceID":9}`},
	{name: "BGCRevisit", private: true, id: 21, version: 0, opcode: 35, payload: fixed(uint64(1), uint64(2), uint32(1), runtimeInstance), fields: `{"Pages":1,"Objects":2,"IsLarge":1,"ClrInstanceID":9}`},
	{
		name: "BGCOverflow", private: true, id: 22, version: 0, opcode: 36, payload: fixed(uint64(1), uint64(2), uint64(3), uint32(0), runtimeInstance),
		fields: `{"Min":1,"Max":2,"Objects":3,"IsLarge":0,"ClrInstanceID":9}`,
	},
	{name: "BGCAllocWaitBegin", private: true, id: 23, version: 0, opcode: 37, payload: fixed(uint32(2), runtimeInstance), fields: `{"Reason":2,"ClrInstanceID":9}`},
	{name: "BGCAllocWaitEnd", private: true, id: 24, version: 0, opcode: 38, payload: fixed(uint32(2), runtimeInstance), fields: `{"Reason":2,"ClrInstanceID":9}`},
	{name: "GCFullNotify", private: true, id: 25, version: 0, opcode: 19, payload: fixed(uint32(2), uint32(1)), fields: `{"GenNumber":2,"IsAlloc":1}`},
	{name: "GCFullNotify", private: true, id: 25, version: 1, opcode: 19, payload: fixed(uint32(2), uint32(1), runtimeInstance), fields: `{"GenNumber":2,"IsAlloc":1,"ClrInstanceID":9}`},
	{
		name: "PrvFinalizeObject", private: true, id: 192, version: 0,
		payload: func(p ptr) []any { return []any{p.of(1), p.of(2), runtimeInstance, "T"} },
		fields:  `{"TypeID":1,"ObjectID":2,"ClrInstanceID":9,"TypeName":"T"}`,
	},
	{
		name: "CCWRefCountChangeAnsi", private: true, id: 193, version: 0,
		payload: func(p ptr) []any {
			return []any{p.of(1), p.of(2), p.of(3), uint32(4), uint64(5), [2]byte{'C'}, [2]byte{'N'}, "AddRef", runtimeInstance}
		},
		fields: `{"HandleID":1,"ObjectID":2,"COMInterfacePointer":3,"NewRefCount":4,"AppDomainID":5,"ClassName":"C","NameSpace":"N","Operation":"AddRef","ClrInstanceID":9}`,
	},
	{
		name: "PrvSetGCHandle", private: true, id: 194, version: 0,
		payload: func(p ptr) []any { return []any{p.of(1), p.of(2), uint32(3), uint32(0), uint64(5), runtimeInstance} },
		fields:  `{"HandleID":1,"ObjectID":2,"Kind":3,"Generation":0,"AppDomainID":5,"ClrInstanceID":9}`,
	},
	{
		name: "PrvDestroyGCHandle", private: true, id: 195, version: 0,
		payload: func(p ptr) []any { return []any{p.of(1), runtimeInstance} }, fields: `{"HandleID":1,"ClrInstanceID":9}`,
	},
	{
		name: "PinPlugAtGCTime", private: true, id: 199, version: 0,
		payload: func(p ptr) []any { return []any{p.of(1), p.of(2), p.of(3), runtimeInstance} },
		fields:  `{"PlugStart":1,"PlugEnd":2,"GapBeforeSize":3,"ClrInstanceID":9}`,
	},
	{
		name: "CCWRefCountChange", private: true, id: 200, version: 0,
		payload: func(p ptr) []any {
			return []any{p.of(1), p.of(2), p.of(3), uint32(4), uint64(5), "C", "N", "AddRef", runtimeInstance}
		},
		fields: `{"HandleID":1,"ObjectID":2,"COMInterfacePointer":3,"NewRefCount":4,"AppDomainID":5,"ClassName":"C","NameSpace":"N","Operation":"AddRef","ClrInstanceID":9}`,
	},
}

// perHeapHistory is GCPerHeapHistory of the private provider: five generations
// with ten sizes each, which are 1 to 50 here, and then rest.
func perHeapHistory(version uint16, old bool, fields string, rest ...any) frameworkEvent {
	names := []string{"SizeBefore", "FreeListBefore", "FreeObjBefore", "SizeAfter", "FreeListAfter", "FreeObjAfter", "In", "Out", "NewAllocation", "Surv"}
	if old {
		names = []string{"SizeBefore", "SizeAfter", "CurrentSize", "PreviousSize", "Fragmentation", "In", "Out", "NewAllocation", "Surv", "Growth"}
	}
	var generations []string
	for g := range 5 {
		var sizes []string
		for i, name := range names {
			sizes = append(sizes, fmt.Sprintf("%q:%d", name, g*len(names)+i+1))
		}
		generations = append(generations, "{"+strings.Join(sizes, ",")+"}")
	}
	return frameworkEvent{
		name: "GCPerHeapHistory", private: true, id: 4, version: version, opcode: 17,
		payload: func(p ptr) (values []any) {
			for i := range uint32(50) {
				values = append(values, p.of(i+1))
			}
			return append(values, rest...)
		},
		fields: `{"GenData":[` + strings.Join(generations, ",") + "]" + fields,
	}
}

// written returns the event with each header that it can have.
func (e *frameworkEvent) written() (events []tracetest.ETLEvent) {
	provider, task := tracetest.RuntimeGUID, tracetest.GCTaskGUID
	if e.private {
		provider, task = tracetest.PrivateGUID, tracetest.PrivateGCTaskGUID
	}
	for _, h := range []struct {
		kind uint8
		size ptr
	}{{tracetest.ETLEvent32, 4}, {tracetest.ETLEvent64, 8}} {
		events = append(events, tracetest.ETLEvent{Type: h.kind, Provider: provider, ID: e.id, Version: e.version, Payload: tracetest.ETLPayload(e.payload(h.size)...)})
	}
	if e.opcode == 0 {
		return events
	}
	for _, h := range []struct {
		kind uint8
		size ptr
	}{{tracetest.ETLFull32, 4}, {tracetest.ETLFull64, 8}, {tracetest.ETLInstance64, 8}} {
		events = append(events, tracetest.ETLEvent{Type: h.kind, Provider: task, Opcode: e.opcode, Version: e.version, Payload: tracetest.ETLPayload(e.payload(h.size)...)})
	}
	return events
}

// TestFramework decodes the events of the .NET Framework as they come through a
// file: of 32-bit and 64-bit processes, described by a manifest and the classic
// way.
func TestFramework(t *testing.T) {
	f := tracetest.NewETL()
	f.Header.BufferSize = 64 << 10
	b := f.Buffer(0)
	var want []string
	for _, e := range frameworkEvents {
		for _, w := range e.written() {
			w.Time, w.PID, w.TID = f.Header.Time+int64(len(want)), 5, 6
			b.Event(w)
			want = append(want, fmt.Sprintf("%s/%d %s", e.name, e.version, e.fields))
		}
	}
	data := f.Bytes()
	r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
	var d clr.Decoder
	n := 0
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s/%d %s", d.Name(ev.Desc), ev.Desc.Version, fieldsOf(t, &d, ev))
		if got != want[n] {
			t.Errorf("got  %s\nwant %s", got, want[n])
		}
		if n++; ev.Desc.Keywords == 0 && ev.Desc.Level != 0 {
			t.Errorf("%s: no keywords", got)
		}
	}
	if n != len(want) {
		t.Errorf("%d events of %d", n, len(want))
	}
}

// fieldsOf returns the fields of an event, and their faults.
func fieldsOf(t *testing.T, d *clr.Decoder, ev *trace.Event) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(append(append([]byte(`{"":0`), d.AppendFields(nil, ev)...), '}'), &members); err != nil {
		t.Fatal(err)
	}
	fields := string(members["fields"])
	for name := range members {
		if name != "" && name != "fields" && name != "fields_text" {
			fields += " " + name
		}
	}
	return fields
}
