package perfetto

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/dotnettest"
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

// packed returns the numbers of a field.
func packed(b []byte) (list []uint64) {
	for len(b) > 0 {
		v, size := protowire.ConsumeVarint(b)
		list, b = append(list, v), b[size:]
	}
	return list
}

// androidRoots are the numbers of HeapGraphRoot.Type in Perfetto's heap_graph.proto for the
// kinds of roots of the test's snapshot.
var androidRoots = map[heap.RootKind]uint64{
	heap.RootStack: 3, heap.RootHandle: 1, heap.RootPinned: 2, heap.RootRefCounted: 1, heap.RootFinalizer: 10, heap.RootStatic: 5, heap.RootOther: 13,
}

// TestSnapshot: the heap graph has all objects, with their types, sizes and references, and
// all roots, in packets that are numbered and of which only the last is not continued.
func TestSnapshot(t *testing.T) {
	s := dotnettest.Snapshots(t, "../../testdata/net10-wks-leak.nettrace.gz")[2]
	var b bytes.Buffer
	w := NewWriter(&b)
	if err := w.Snapshot(&gc.Process{PID: s.PID, Name: "leak"}, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	var objects, references, packets int
	roots := map[uint64]int{} // of each type
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
					var ids []uint64
					each(t, part, func(field protowire.Number, number uint64, list []byte) {
						switch field {
						case 1: // object_ids
							ids = packed(list)
						case 2: // root_type
							roots[number] += len(ids)
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
							references += len(packed(list))
						case objectReference:
							var want []uint64
							for _, to := range s.Graph.References(uint32(objects - 1)) {
								want = append(want, uint64(to)+1)
							}
							if got := packed(list); !slices.Equal(got, want) {
								t.Fatalf("object %d refers to %v, not %v", objects, got, want)
							}
							references -= len(want)
						}
					})
				}
			})
			packets++
			last = !continued
		})
	})
	want, wantRoots := map[string]int{}, map[uint64]int{}
	for _, r := range s.Graph.Roots() {
		wantRoots[androidRoots[r.Kind]]++
	}
	for i := range uint32(s.Graph.Len()) {
		want[s.Graph.Type(i).String()]++
	}
	if objects != s.Graph.Len() || size != uint64(s.Bytes) || references != 0 || !maps.Equal(roots, wantRoots) || packets < 2 || !last {
		t.Errorf("%d objects of %d bytes, roots %v, not %v, %d packets", objects, size, roots, wantRoots, packets)
	}
	if !maps.Equal(counts, want) {
		t.Errorf("%d types, not %d", len(counts), len(want))
	}
}

// A full disk takes nothing.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestSnapshotFails: a heap graph that cannot be written is an error.
func TestSnapshotFails(t *testing.T) {
	s := dotnettest.Snapshots(t, "../../testdata/net10-wks-leak.nettrace.gz")[0]
	if err := NewWriter(full{}).Snapshot(&gc.Process{PID: s.PID}, s); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}
