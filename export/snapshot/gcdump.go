package snapshot

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"unicode/utf16"

	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/trace"
)

// Tags of values in the file (Microsoft.Diagnostics.FastSerialization's Tags).
const (
	tagNull         = 1
	tagReference    = 2
	tagBegin        = 4
	tagEnd          = 6
	tagByte         = 8
	tagSkip         = 12
	tagString       = 13
	heapDumpVersion = 10
	heapDumpLeast   = 8
)

// rootNames are PerfView's names of the nodes below "[other roots]", by kind. The nodes
// of statics and of variables stand above them.
var rootNames = [heap.NumRootKinds]string{
	heap.RootOther: "[Other Handles]", heap.RootHandle: "[StrongHandle]", heap.RootPinned: "[PinnedHandle]",
	heap.RootRefCounted: "[COM/WinRT Objects]", heap.RootFinalizer: "[FinalizerQueue]",
}

// WriteGCDump writes a snapshot as a .gcdump file, which PerfView and Visual Studio open
// (PerfView's GCHeapDump.cs, MemoryGraph.cs and Graph.cs). Larger
// objects get 2 GiB, and weak handles are left out, because the format has no place for them. The value of a dependent handle is a
// reference of its key, as for the collector, and not a root.
//
// The error is the writer's, or ErrIncomplete.
func WriteGCDump(w io.Writer, s *heap.Snapshot) error {
	if s.Graph == nil {
		return ErrIncomplete
	}
	d := &gcdump{w: bufio.NewWriterSize(w, 64<<10), s: s, g: s.Graph, classes: map[string]uint32{}, indexes: map[*heap.Type]int32{}}
	d.plan()
	d.write()
	return d.w.Flush()
}

// A gcdump writes one file.
type gcdump struct {
	w       *bufio.Writer
	n       uint32 // bytes written
	s       *heap.Snapshot
	g       *heap.Graph
	classes map[string]uint32 // where each was written first

	types   []dumpType
	indexes map[*heap.Type]int32
	pseudo  []pseudoNode
	offsets []uint32 // of the nodes, in blob
	blob    []byte
	total   int64
}

type dumpType struct {
	name, module string
	size         int32 // of its first object; -1 before it
}

// A pseudoNode stands above objects. Its children are nodes of its kind, or objects.
type pseudoNode struct {
	typ     int32
	nodes   []int
	objects []uint32
}

// plan makes the nodes: the undefined type, the nodes above the roots, the objects.
func (d *gcdump) plan() {
	d.types = []dumpType{{"UNDEFINED", "", 0}}
	d.blob = []byte{0, 0} // where nodes that are never written point to
	root := d.node("[.NET Roots]")
	var statics, locals, others, dependents int
	below := func(parent int, slot *int, name string) int {
		if *slot == 0 {
			*slot = d.node(name)
			d.pseudo[parent].nodes = append(d.pseudo[parent].nodes, *slot)
		}
		return *slot
	}
	var kinds [heap.NumRootKinds]int
	for _, r := range d.g.Roots() {
		var parent int
		switch r.Kind {
		case heap.RootStatic:
			parent = below(root, &statics, "[static vars]")
			field := 0
			parent = below(parent, &field, "[static var "+d.g.Type(r.Object).String()+"."+r.Field+"]")
		case heap.RootStack:
			parent = below(root, &locals, "[local vars]")
		default:
			parent = below(root, &others, "[other roots]")
			if r.Dependent {
				parent = below(parent, &dependents, "[Dependent Handles]")
			} else {
				parent = below(parent, &kinds[r.Kind], rootNames[r.Kind])
			}
		}
		d.pseudo[parent].objects = append(d.pseudo[parent].objects, r.Object)
	}

	for _, u := range d.s.Types {
		d.indexes[u.Type] = int32(len(d.types))
		d.types = append(d.types, dumpType{u.Type.String(), u.Type.Module, -1})
	}
	d.offsets = make([]uint32, 0, len(d.pseudo)+d.g.Len())
	for i, p := range d.pseudo {
		children := make([]int, 0, len(p.nodes)+len(p.objects))
		children = append(children, p.nodes...)
		for _, object := range p.objects {
			children = append(children, len(d.pseudo)+int(object))
		}
		d.record(i, p.typ, 0, children)
	}
	var children []int
	for i := range uint32(d.g.Len()) {
		children = children[:0]
		for _, object := range d.g.References(i) {
			children = append(children, len(d.pseudo)+int(object))
		}
		size := int32(min(d.g.Size(i), math.MaxInt32))
		d.total += int64(size)
		d.record(len(d.pseudo)+int(i), d.typeOf(i, size), size, children)
	}
}

// node adds a node that is no object, of a type of its own.
func (d *gcdump) node(name string) int {
	d.types = append(d.types, dumpType{name, "", 0})
	d.pseudo = append(d.pseudo, pseudoNode{typ: int32(len(d.types) - 1)})
	return len(d.pseudo) - 1
}

// typeOf returns the index of an object's type, which has the size of its first object.
func (d *gcdump) typeOf(object uint32, size int32) int32 {
	i := d.indexes[d.g.Type(object)]
	if d.types[i].size < 0 {
		d.types[i].size = size
	}
	return i
}

// record adds the record of a node: its type, its size if that is not the type's, and how
// far its children are from it.
func (d *gcdump) record(node int, typ, size int32, children []int) {
	d.offsets = append(d.offsets, uint32(len(d.blob)))
	if d.types[typ].size == size {
		d.blob = appendCompact(d.blob, typ<<1)
	} else {
		d.blob = appendCompact(appendCompact(d.blob, typ<<1|1), size)
	}
	d.blob = appendCompact(d.blob, int32(len(children)))
	for _, child := range children {
		d.blob = appendCompact(d.blob, int32(child-node))
	}
}

// appendCompact appends a number in groups of 7 bits, the highest first, of which the first
// has the sign. All but the last have the highest bit set.
func appendCompact(b []byte, v int32) []byte {
	groups := 1
	for most := int64(1) << 6; int64(v) < -most || int64(v) >= most; most <<= 7 {
		groups++
	}
	for groups--; groups > 0; groups-- {
		b = append(b, 0x80|byte(v>>(7*groups))&0x7f)
	}
	return append(b, byte(v)&0x7f)
}

func (d *gcdump) write() {
	d.bytes([]byte("\x14\x00\x00\x00!FastSerialization.1"))
	d.begin("GCHeapDump", heapDumpVersion, heapDumpLeast)
	d.graph()
	d.put(d.wide(), float32(1), float32(1)) // nothing is sampled
	d.put(uint8(tagNull))                   // of JavaScript
	d.heapInfo()
	d.text("")      // the log
	d.put(int64(0)) // when it was taken
	d.text("")      // the machine
	d.text("")      // the process
	if d.s.PID == trace.UnknownID {
		d.put(uint32(0))
	} else {
		d.put(uint32(d.s.PID))
	}
	d.put(int64(0), int64(0))       // committed memory, and the working set
	d.put(uint32(0))                // multipliers of types
	d.put(uint8(tagSkip), int32(0)) // behind the next value, which is no InteropInfo
	d.put(uint8(tagNull))
	behind := d.n
	d.put(uint8(tagString))
	d.text("gctrail")
	d.put(uint8(tagEnd))
	table := d.n
	d.put(uint32(1), behind)
	trailer := d.n
	d.put(table, trailer)
}

// wide returns 1 if pointers have 8 bytes: an object is beyond the reach of 4.
func (d *gcdump) wide() uint8 {
	for i := range uint32(d.g.Len()) {
		if d.g.Address(i) > math.MaxUint32 {
			return 1
		}
	}
	return 0
}

func (d *gcdump) graph() {
	d.begin("Graphs.MemoryGraph", 1, 0)
	d.put(d.total, uint32(0), uint32(len(d.types)))
	for _, t := range d.types {
		d.text(t.name)
		d.put(t.size)
		d.text(t.module)
	}
	d.put(uint32(len(d.offsets)))
	var offset [4]byte
	for _, o := range d.offsets {
		binary.LittleEndian.PutUint32(offset[:], o)
		d.bytes(offset[:])
	}
	d.put(uint32(len(d.blob)))
	d.bytes(d.blob)
	d.put(uint32(len(d.offsets)))
	var address [8]byte
	for range d.pseudo {
		d.bytes(address[:])
	}
	for i := range uint32(d.g.Len()) {
		binary.LittleEndian.PutUint64(address[:], d.g.Address(i))
		d.bytes(address[:])
	}
	d.put(uint8(tagByte), d.wide(), uint8(tagEnd))
}

// heapInfo writes a segment for each range of a generation, with the end of that generation
// only.
func (d *gcdump) heapInfo() {
	ranges := d.g.Ranges()
	if len(ranges) == 0 {
		d.put(uint8(tagNull))
		return
	}
	var size uint64
	for _, r := range ranges {
		size += r.End - r.Start
	}
	d.begin("DotNetHeapInfo", 0, 0)
	d.put(size, uint32(len(ranges)))
	for _, r := range ranges {
		d.begin("GCHeapDumpSegment", 1, 1)
		d.put(r.Start, r.End)
		for g := range generationEnds {
			end := uint64(0)
			if g == r.Generation {
				end = r.End
			}
			d.put(end)
		}
		d.put(uint8(tagEnd))
	}
	d.put(uint8(tagEnd))
}

// generationEnds is how many generations a segment has ends of: frozen objects are in none.
const generationEnds = uint8(5)

// begin writes the beginning of an object, with its class when it is the first.
func (d *gcdump) begin(class string, version, least int32) {
	d.put(uint8(tagBegin))
	if at, known := d.classes[class]; known {
		d.put(uint8(tagReference), at)
		return
	}
	d.classes[class] = d.n
	d.put(uint8(tagBegin), uint8(tagNull), version, least)
	d.text(class)
	d.put(uint8(tagEnd))
}

// text writes a string: each of its UTF-16 units as UTF-8 has that number.
func (d *gcdump) text(s string) {
	units := utf16.Encode([]rune(s))
	d.put(int32(len(units)))
	var b []byte
	for _, u := range units {
		switch {
		case u < 0x80:
			b = append(b, byte(u))
		case u < 0x800:
			b = append(b, 0xc0|byte(u>>6), 0x80|byte(u)&0x3f)
		default:
			b = append(b, 0xe0|byte(u>>12), 0x80|byte(u>>6)&0x3f, 0x80|byte(u)&0x3f)
		}
	}
	d.bytes(b)
}

func (d *gcdump) put(values ...any) {
	var scratch [8]byte
	for _, v := range values {
		b, err := binary.Append(scratch[:0], binary.LittleEndian, v)
		if err != nil {
			panic(err) // of a type without a fixed size
		}
		d.bytes(b)
	}
}

func (d *gcdump) bytes(b []byte) {
	n, _ := d.w.Write(b) // Flush returns its error
	d.n += uint32(n)
}
