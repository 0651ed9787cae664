package clr

import (
	"testing"

	"github.com/gctrail/gctrail/trace"
)

// TestAllocations: neither decoding nor writing allocates once the slices are large
// enough.
func TestAllocations(t *testing.T) {
	var d Decoder
	var out []byte
	check := func(name string, f func()) {
		t.Helper()
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	for _, p := range realPayloads(t) {
		ev := p.event()
		s := KindOf(p.Provider, p.ID).New()
		check(p.Name+".Decode", func() { s.Decode(p.Version, p.Payload, p.PointerSize) })
		check(p.Name+": AppendFields", func() { out = d.AppendFields(out[:0], ev) })
	}
	e := newEncoder(1, 8)
	e.object(schemas[KindBulkType].layouts[0].fields)
	var bulk BulkType
	check("BulkType.Decode", func() { bulk.Decode(0, e.payload, 8) })
	own := ownEvent()
	check("AppendFields of a described event", func() { out = d.AppendFields(out[:0], own) })
}

func BenchmarkDecode(b *testing.B) {
	for _, p := range benchPayloads(b) {
		s := KindOf(p.Provider, p.ID).New()
		b.Run(p.Name, func(b *testing.B) {
			b.SetBytes(int64(len(p.Payload)))
			b.ReportAllocs()
			for b.Loop() {
				s.Decode(p.Version, p.Payload, p.PointerSize)
			}
		})
	}
}

func BenchmarkAppendFields(b *testing.B) {
	var d Decoder
	var out []byte
	run := func(name string, ev *trace.Event) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(ev.Payload)))
			b.ReportAllocs()
			for b.Loop() {
				out = d.AppendFields(out[:0], ev)
			}
		})
	}
	for _, p := range benchPayloads(b) {
		run(p.Name, p.event())
	}
	run("described by the trace", ownEvent())
}

// benchPayloads returns some of each size.
func benchPayloads(b *testing.B) []realPayload {
	wanted := map[string]bool{
		"GCStart": true, "GCHeapStats": true, "GCAllocationTick": true,
		"GCPerHeapHistory": true, "GCDynamicEvent": true, "GCBulkMovedObjectRanges": true,
	}
	var list []realPayload
	for _, p := range realPayloads(b) {
		if wanted[p.Name] {
			list = append(list, p)
			delete(wanted, p.Name)
		}
	}
	return list
}

func ownEvent() *trace.Event {
	return &trace.Event{
		Desc: &trace.Descriptor{Provider: "System.Runtime", Name: "Counter", Fields: []trace.Field{
			{Name: "Name", Type: trace.UTF16String},
			{Name: "At", Type: trace.DateTime},
			{Name: "Mean", Type: trace.Float64},
			{Name: "Cost", Type: trace.Decimal},
			{Name: "Parts", Type: trace.Array, Elem: &trace.Field{Type: trace.Object, Fields: []trace.Field{
				{Name: "A", Type: trace.Int32}, {Name: "B", Type: trace.VarUint},
			}}},
		}},
		Payload: []byte("c\x00p\x00u\x00\x00\x00" + "\x15\x81\xb1\xe3\x5c\x1f\xd5\x01" + "\x9a\x99\x99\x99\x99\x99\xb9\x3f" +
			"\x00\x00\x02\x80\x00\x00\x00\x00\x39\x30\x00\x00\x00\x00\x00\x00" + "\x02\x00" + "\x01\x00\x00\x00\x05" + "\x02\x00\x00\x00\x06"),
		PointerSize: 8,
	}
}
