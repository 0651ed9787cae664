package perfetto

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
)

// The fields of a heap graph, by their numbers in Perfetto's
// protos/perfetto/trace/profiling/heap_graph.proto.
const (
	packetHeapGraph = 56 // TracePacket

	graphPID       = 1 // HeapGraph
	graphObjects   = 2
	graphFields    = 4
	graphContinued = 5
	graphIndex     = 6
	graphRoots     = 7
	graphFiles     = 8
	graphTypes     = 9

	objectID        = 1 // HeapGraphObject
	objectType      = 2
	objectSize      = 3
	objectField     = 4
	objectReference = 5

	typeID    = 1 // HeapGraphType
	typeFile  = 2
	typeName  = 3
	typeField = 6

	rootObjects = 1 // HeapGraphRoot
	rootType    = 2

	internedID   = 1 // InternedString
	internedText = 2
)

// rootTypes are Android's kinds of roots that come closest to the runtime's.
var rootTypes = [heap.NumRootKinds]uint64{
	heap.RootOther: 13, heap.RootStack: 3, heap.RootHandle: 1, heap.RootPinned: 2, heap.RootRefCounted: 1, heap.RootFinalizer: 10, heap.RootStatic: 5,
}

// snapshotSequence is the packet sequence of heap graphs, whose packets must not be mixed with
// others.
const snapshotSequence = 2

// heapGraphPacket is the size from which a packet of a heap graph is written.
const heapGraphPacket = 256 << 10

// Snapshot writes a heap snapshot with a Graph as the heap graph of a process, at the start
// of its collection. Perfetto names the kinds of roots as Android does.
func (w *Writer) Snapshot(of *gc.Process, s *heap.Snapshot) error {
	w.process(of)
	g := &heapGraph{w: w, s: s, types: make(map[*heap.Type]uint64), files: map[string]uint64{"": 1}}
	g.interned(graphFiles, 1, "")
	g.interned(graphFields, 1, "reference")
	for i := range uint32(s.Graph.Len()) {
		g.object(i)
		g.flush(heapGraphPacket)
	}
	g.roots()
	g.packet(false)
	return w.err
}

// A heapGraph is a snapshot while it is written.
type heapGraph struct {
	w     *Writer
	s     *heap.Snapshot
	types map[*heap.Type]uint64 // ids
	files map[string]uint64     // ids of modules
	body  message               // of the packet
	sub   message
	index uint64 // of the packet
}

func (g *heapGraph) interned(field protowire.Number, id uint64, text string) {
	g.sub = g.sub[:0]
	g.sub.uint(internedID, id)
	g.sub.text(internedText, export.Clean(text))
	g.body.message(field, g.sub)
}

// object writes an object. Ids are its number and one: 0 is null.
func (g *heapGraph) object(i uint32) {
	typ := g.typeOf(g.s.Graph.Type(i))
	references := g.s.Graph.References(i)
	o := g.sub[:0]
	o.uint(objectID, uint64(i)+1)
	o.uint(objectType, typ)
	o.uint(objectSize, uint64(g.s.Graph.Size(i)))
	if len(references) > 0 {
		fields, objects := make(message, 0, len(references)), make(message, 0, 4*len(references))
		for _, to := range references {
			fields = protowire.AppendVarint(fields, 1)
			objects = protowire.AppendVarint(objects, uint64(to)+1)
		}
		o.message(objectField, fields)
		o.message(objectReference, objects)
	}
	g.body.message(graphObjects, o)
	g.sub = o
}

// typeOf returns the id of a type, and writes the type at its first use.
func (g *heapGraph) typeOf(t *heap.Type) uint64 {
	id, known := g.types[t]
	if known {
		return id
	}
	file, known := g.files[t.Module]
	if !known {
		file = uint64(len(g.files) + 1)
		g.files[t.Module] = file
		g.interned(graphFiles, file, t.Module)
	}
	id = uint64(len(g.types) + 1)
	g.types[t] = id
	g.sub = g.sub[:0]
	g.sub.uint(typeID, id)
	g.sub.uint(typeFile, file)
	g.sub.text(typeName, export.Clean(t.String()))
	g.sub.uint(typeField, 1)
	g.body.message(graphTypes, g.sub)
	return id
}

func (g *heapGraph) roots() {
	var objects [heap.NumRootKinds]message
	for _, r := range g.s.Graph.Roots() {
		objects[r.Kind] = protowire.AppendVarint(objects[r.Kind], uint64(r.Object)+1)
	}
	for kind, ids := range objects {
		if len(ids) == 0 {
			continue
		}
		g.sub = g.sub[:0]
		g.sub.message(rootObjects, ids)
		g.sub.uint(rootType, rootTypes[kind])
		g.body.message(graphRoots, g.sub)
	}
}

// flush writes a packet if it has a size, after which another comes.
func (g *heapGraph) flush(size int) {
	if len(g.body) >= size {
		g.packet(true)
	}
}

func (g *heapGraph) packet(continued bool) {
	g.body.uint(graphPID, processID(g.s.PID))
	g.body.uint(graphIndex, g.index)
	if continued {
		g.body.uint(graphContinued, 1)
	}
	g.w.packet = g.w.packet[:0]
	g.w.packet.uint(packetTimestamp, uint64(g.s.Start.Or(0)))
	g.w.packet.uint(packetSequence, snapshotSequence)
	g.w.packet.message(packetHeapGraph, g.body)
	g.w.flush()
	g.body, g.index = g.body[:0], g.index+1
}
