package perfetto

import (
	"bytes"
	"maps"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/heaptest"
)

// each calls do with every field of a message.
func each(t *testing.T, b []byte, do func(field protowire.Number, number uint64, bytes []byte)) {
	t.Helper()
	for len(b) > 0 {
		field, typ, n := protowire.ConsumeTag(b)
		size := protowire.ConsumeFieldValue(field, typ, b[max(n, 0):])
		if n < 0 || size < 0 {
			t.Fatalf("%d bytes of no message", len(b))
		}
		number, _ := protowire.ConsumeVarint(b[n:])
		part, _ := protowire.ConsumeBytes(b[n:])
		do(field, number, part)
		b = b[n+size:]
	}
}

// packed returns how many numbers a field has.
func packed(b []byte) (n int) {
	for ; len(b) > 0; n++ {
		_, size := protowire.ConsumeVarint(b)
		b = b[size:]
	}
	return n
}

// TestSnapshot: the heap graph has all objects, with their types, sizes and references, and
// all roots, in packets that are numbered and of which only the last is not continued.
func TestSnapshot(t *testing.T) {
	s := heaptest.Snapshots(t, "../../testdata/net10-wks-leak.nettrace.gz")[2]
	var b bytes.Buffer
	w := NewWriter(&b)
	if err := w.Snapshot(&gc.Process{PID: s.PID, Name: "leak"}, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	var objects, references, packets, roots int
	var size uint64
	last := true // a packet was not continued
	names, counts := map[uint64]string{}, map[string]int{}
	each(t, b.Bytes(), func(_ protowire.Number, _ uint64, packet []byte) {
		each(t, packet, func(field protowire.Number, _ uint64, graph []byte) {
			if field != packetHeapGraph {
				return
			}
			continued := false
			each(t, graph, func(field protowire.Number, number uint64, part []byte) {
				switch field {
				case graphIndex:
					if number != uint64(packets) {
						t.Errorf("packet %d is numbered %d", packets, number)
					}
				case graphContinued:
					continued = true
				case graphTypes:
					var id uint64
					each(t, part, func(field protowire.Number, number uint64, text []byte) {
						switch field {
						case typeID:
							id = number
						case typeName:
							names[id] = string(text)
						}
					})
				case graphRoots:
					each(t, part, func(field protowire.Number, _ uint64, ids []byte) {
						if field == rootObjects {
							roots += packed(ids)
						}
					})
				case graphObjects:
					each(t, part, func(field protowire.Number, number uint64, list []byte) {
						switch field {
						case objectID:
							if objects++; number != uint64(objects) {
								t.Fatalf("object %d has the id %d", objects, number)
							}
						case objectType:
							counts[names[number]]++
						case objectSize:
							size += number
						case objectField:
							references += packed(list)
						case objectReference:
							references -= packed(list)
						}
					})
				}
			})
			packets++
			last = !continued
		})
	})
	want := map[string]int{}
	for i := range uint32(s.Graph.Len()) {
		want[s.Graph.Type(i).String()]++
	}
	if objects != s.Graph.Len() || size != uint64(s.Bytes) || references != 0 || roots != len(s.Graph.Roots()) || packets < 2 || !last {
		t.Errorf("%d objects of %d bytes, %d roots, %d packets", objects, size, roots, packets)
	}
	if !maps.Equal(counts, want) {
		t.Errorf("%d types, not %d", len(counts), len(want))
	}
}
