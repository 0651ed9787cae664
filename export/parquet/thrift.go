package parquet

import "encoding/binary"

// The types of Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// A thrift appends structures in Thrift's compact protocol. See
// thrift/doc/specs/thrift-compact-protocol.md.
type thrift struct {
	dst   []byte
	last  int16   // the number of the field before, in this structure
	outer []int16 // the same of the structures around it
}

func (t *thrift) field(number int16, typ byte) {
	t.dst = append(t.dst, byte(number-t.last)<<4|typ)
	t.last = number
}

func (t *thrift) i32(number int16, v int32) {
	t.field(number, thriftI32)
	t.dst = binary.AppendVarint(t.dst, int64(v))
}

func (t *thrift) i64(number int16, v int64) {
	t.field(number, thriftI64)
	t.dst = binary.AppendVarint(t.dst, v)
}

func (t *thrift) text(number int16, s string) {
	t.field(number, thriftBinary)
	t.element(s)
}

// element appends a string of a list.
func (t *thrift) element(s string) {
	t.dst = binary.AppendUvarint(t.dst, uint64(len(s)))
	t.dst = append(t.dst, s...)
}

// list begins a list. Elements of a number are varints, elements of a structure lie
// between open and end.
func (t *thrift) list(number int16, typ byte, n int) {
	t.field(number, thriftList)
	if n < 15 {
		t.dst = append(t.dst, byte(n)<<4|typ)
		return
	}
	t.dst = append(t.dst, 0xf0|typ)
	t.dst = binary.AppendUvarint(t.dst, uint64(n))
}

// begin begins a structure that is a field.
func (t *thrift) begin(number int16) {
	t.field(number, thriftStruct)
	t.open()
}

// open begins a structure that is an element of a list.
func (t *thrift) open() {
	t.outer = append(t.outer, t.last)
	t.last = 0
}

func (t *thrift) end() {
	t.dst = append(t.dst, 0)
	t.last = t.outer[len(t.outer)-1]
	t.outer = t.outer[:len(t.outer)-1]
}

// timestamp is a SchemaElement's LogicalType of nanoseconds since 1970, UTC.
func (t *thrift) timestamp() {
	t.begin(10)            // logicalType
	t.begin(8)             // TIMESTAMP
	t.field(1, thriftTrue) // isAdjustedToUTC
	t.begin(2)             // unit
	t.begin(3)             // NANOS
	t.end()
	t.end()
	t.end()
	t.end()
}
