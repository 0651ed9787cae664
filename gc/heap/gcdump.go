package heap

import (
	"io"
	"math"
	"strings"
	"unicode/utf16"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// maxGCDump bounds a .gcdump file. Its nodes are in a part of at most 2 GiB.
const maxGCDump = 8 << 30

// ReadGCDump reads a .gcdump file, as PerfView and dotnet-gcdump write it (PerfView's
// GCHeapDump.cs, MemoryGraph.cs and Graph.cs, and Microsoft.Diagnostics.FastSerialization).
//
// Its names are PerfView's: types of one name are one type for each order of magnitude of
// their objects' sizes, such as "System.Byte[] (Bytes > 1K)". The format has no
// field for the number of the collection, its times, the addresses of types, or weak handles,
// and most files have no generations: these stay zero. The values of dependent handles are
// roots of the kind RootOther, because the format does not have their keys.
func ReadGCDump(r io.Reader) (*Snapshot, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxGCDump+1))
	if err != nil {
		return nil, err
	}
	d := gcdump{file: b, cursor: binread.At(b, 0), classes: make(map[uint32]class)}
	if len(b) > maxGCDump {
		return nil, d.fail("file", trace.ErrTooLarge)
	}
	if err := d.read(); err != nil {
		return nil, err
	}
	return d.snapshot(), nil
}

// A gcdump is a .gcdump file while it is read.
type gcdump struct {
	file    []byte
	cursor  binread.Cursor
	classes map[uint32]class // by offset of their first use

	types       []dumpType
	root        uint32
	offsets     []byte // of the records of nodes, in the blob
	blob        []byte
	addresses   []byte
	ranges      []Range
	pid         uint64
	multipliers []float32 // by type; of counts and sizes
	count, size float32   // on average
}

type class struct {
	name           string
	version, least uint32
}

type dumpType struct {
	name, module string
	size         uint32
}

// Tags of values in the file.
const (
	tagNull        = 1
	tagReference   = 2
	tagBegin       = 4
	tagEnd         = 6
	serialization  = "\x14\x00\x00\x00!FastSerialization.1"
	gcdumpFormat   = "gcdump"
	heapDumpClass  = "GCHeapDump"
	graphClass     = "Graphs.MemoryGraph"
	oldestHeapDump = 8 // the version before it has another layout
	segmentLatest  = 1 // has gen4's end
)

func (d *gcdump) fail(section string, err error) error {
	return &trace.FormatError{Format: gcdumpFormat, Off: d.cursor.Pos(), Section: section, Err: err}
}

// malformed returns the error for a section that violates the format, or that the end of the
// file truncates.
func (d *gcdump) malformed(section string) error {
	if !d.cursor.OK() {
		return d.fail(section, io.ErrUnexpectedEOF)
	}
	return d.fail(section, trace.ErrMalformed)
}

func (d *gcdump) read() error {
	c := &d.cursor
	if string(c.Bytes(len(serialization))) != serialization {
		return d.fail("header", trace.ErrNotTrace)
	}
	dump, there := d.begin()
	switch {
	case !there || !strings.HasSuffix(dump.name, heapDumpClass):
		return d.malformed("header")
	case dump.version <= oldestHeapDump || dump.least > 10:
		return d.fail("header", trace.ErrUnsupportedVersion)
	}
	if err := d.graph(); err != nil {
		return err
	}
	c.U8() // whether pointers have 8 bytes
	d.count, d.size = math.Float32frombits(c.U32()), math.Float32frombits(c.U32())
	if _, there := d.begin(); there { // JSHeapInfo has no fields
		d.end()
	}
	if err := d.heapInfo(); err != nil {
		return err
	}
	_, _ = d.text(), c.U64() // the log, when it was written
	_, _ = d.text(), d.text()
	d.pid = uint64(c.U32())
	c.Skip(2 * 8) // memory in use
	n := int(c.U32())
	if !c.OK() || n > c.Len()/4 {
		return d.malformed("multipliers")
	}
	for range n {
		d.multipliers = append(d.multipliers, math.Float32frombits(c.U32()))
	}
	return nil
}

// begin reads the beginning of an object, and returns its class. There is none where the
// file has null, or refers to an earlier object.
func (d *gcdump) begin() (of class, there bool) {
	c := &d.cursor
	switch c.U8() {
	case tagNull:
		return class{}, false
	case tagReference:
		c.U32()
		return class{}, false
	case tagBegin:
	default:
		c.Skip(-1)
		return class{}, false
	}
	at := uint32(c.Off())
	switch c.U8() {
	case tagReference:
		of, there = d.classes[c.U32()]
		if !there {
			c.Skip(-1)
		}
	case tagBegin:
		if c.U8() != tagNull { // the class of classes
			c.Skip(-1)
		}
		of = class{version: c.U32(), least: c.U32(), name: d.text()}
		d.end()
		d.classes[at] = of
		there = c.OK()
	default:
		c.Skip(-1)
	}
	return of, there
}

// end reads the end of an object, in which nothing may be left.
func (d *gcdump) end() {
	if d.cursor.U8() != tagEnd {
		d.cursor.Skip(-1)
	}
}

// text reads a string: UTF-16 units, each written alone as UTF-8 has it.
func (d *gcdump) text() string {
	c := &d.cursor
	n := int32(c.U32())
	if n < 0 || int(n) > c.Len() {
		if n != -1 {
			c.Skip(-1)
		}
		return ""
	}
	units := make([]uint16, 0, n)
	for range n {
		switch b := uint16(c.U8()); {
		case b < 0x80:
			units = append(units, b)
		case b < 0xe0:
			units = append(units, b&0x1f<<6|uint16(c.U8())&0x3f)
		default:
			units = append(units, b&0xf<<12|uint16(c.U8())&0x3f<<6|uint16(c.U8())&0x3f)
		}
	}
	return string(utf16.Decode(units))
}

// list reads a number of elements of a size, and returns them.
func (d *gcdump) list(size int) []byte {
	n := int64(d.cursor.U32())
	if n > int64(d.cursor.Len()/size) {
		d.cursor.Skip(-1)
		return nil
	}
	return d.cursor.Bytes(int(n) * size)
}

// graph reads the types and the nodes.
func (d *gcdump) graph() error {
	c := &d.cursor
	of, there := d.begin()
	if !there || of.name != graphClass {
		return d.malformed("graph")
	}
	c.U64() // the sum of sizes
	d.root = c.U32()
	n := c.U32()
	for range n {
		d.types = append(d.types, dumpType{name: d.text(), size: c.U32(), module: d.text()})
		if !c.OK() {
			return d.malformed("types")
		}
	}
	d.offsets = d.list(4)
	d.blob = d.list(1)
	if !c.OK() {
		return d.malformed("nodes")
	}
	if of.least > 0 { // types that only a module's file names
		if err := d.skip(c.U32()); err != nil {
			return err
		}
	}
	d.addresses = d.list(8)
	if len(d.addresses) != 2*len(d.offsets) {
		return d.malformed("addresses")
	}
	const tagByte = 8
	tag := c.U8()
	if tag == tagByte { // whether pointers have 8 bytes
		c.U8()
		tag = c.U8()
	}
	if tag != tagEnd || !c.OK() {
		return d.malformed("graph")
	}
	return nil
}

// skip continues where a forward reference leads, which the table at the end of the file
// has by its index.
func (d *gcdump) skip(index uint32) error {
	at := func(off uint64) uint64 {
		if off+4 > uint64(len(d.file)) {
			return math.MaxUint32
		}
		c := binread.At(d.file[off:], 0)
		return uint64(c.U32())
	}
	table := at(at(uint64(len(d.file) - 4)))
	to := at(table + 4 + 4*uint64(index))
	if to < uint64(d.cursor.Off()) || to > uint64(len(d.file)) {
		return d.fail("forward reference", trace.ErrMalformed)
	}
	d.cursor = binread.At(d.file, 0)
	d.cursor.Skip(int(to))
	return nil
}

// heapInfo reads the segments. An object belongs to the oldest of the generations whose end
// is behind it.
func (d *gcdump) heapInfo() error {
	c := &d.cursor
	if _, there := d.begin(); !there {
		return nil
	}
	c.U64() // the size of all segments
	n := int(c.U32())
	for range n {
		of, there := d.begin()
		if !there || !c.OK() {
			return d.malformed("segments")
		}
		from := c.U64()
		c.U64() // the end of the segment
		var ends [frozen]uint64
		for g := range ends {
			if g < 4 || of.version >= segmentLatest {
				ends[g] = c.U64()
			}
		}
		d.end()
		for g := len(ends) - 1; g >= 0 && len(d.ranges) < maxRoots; g-- {
			if ends[g] > from && ends[g]-from < clr.MaxSize {
				d.ranges = append(d.ranges, Range{from, ends[g], uint8(g)})
				from = ends[g]
			}
		}
	}
	d.end()
	if !c.OK() {
		return d.malformed("segments")
	}
	return nil
}

// A record is a node of the file.
type record struct {
	typ      uint32
	size     uint32
	children []uint32
}

// record decodes a node into r. A record that is damaged is one of no type.
func (d *gcdump) record(node uint32, r *record) {
	*r = record{typ: none, children: r.children[:0]}
	off := d.number(d.offsets, node, 4)
	if off >= uint64(len(d.blob)) {
		return
	}
	c := compact{b: d.blob[off:]}
	typ := uint32(c.next())
	if typ>>1 >= uint32(len(d.types)) {
		return
	}
	if r.size = d.types[typ>>1].size; typ&1 != 0 {
		r.size = uint32(c.next())
	}
	n := c.next()
	if c.failed || n < 0 || int(n) > len(c.b) {
		return
	}
	for range n {
		child := uint32(int32(node) + c.next())
		if c.failed || child >= uint32(len(d.offsets)/4) {
			return
		}
		r.children = append(r.children, child)
	}
	r.typ = typ >> 1
}

// number returns element i of a list.
func (d *gcdump) number(list []byte, i uint32, size int) uint64 {
	c := binread.At(list[int(i)*size:], 0)
	return c.Ptr(size)
}

// A compact is a sequence of numbers: groups of 7 bits, the highest first, whose first bit
// is set if another follows. The first group has the sign.
type compact struct {
	b      []byte
	failed bool
}

func (c *compact) next() int32 {
	const longest = 5
	var v int32
	for i := range min(longest, len(c.b)) {
		b := c.b[i]
		if i == 0 {
			v = int32(int8(b<<1) >> 1)
		} else {
			v = v<<7 | int32(b&0x7f)
		}
		if b < 0x80 {
			c.b = c.b[i+1:]
			return v
		}
	}
	c.failed = true
	return 0
}
