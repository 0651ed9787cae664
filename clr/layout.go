package clr

// A schema is an event's name with its layouts by version.
type schema struct {
	name     string
	provider string
	id       uint32
	opcode   uint8
	level    uint8
	keywords uint64
	layouts  []layout // from the oldest version on
}

// A layout is the fields of a payload in wire order.
type layout struct {
	version uint32
	padding int // bytes after the fields that mean nothing
	fields  []field
}

// A field is one value on the wire and its place in the output.
type field struct {
	key    string // `"Name":`, empty for padding that is not to be shown
	code   code
	counts bool // its value is the number of elements of the arrays and bytes after it
	words  *words
	count  int     // of fixed arrays
	size   bySizes // of padding; else the payload's least size for the field to be there
	elem   *field  // of arrays
	raw    *field  // the same as the runtime's C structure has it, nil if that is no different
	fields []field // of objects
}

// bySizes are numbers of bytes for pointers of 4 and of 8 bytes.
type bySizes struct{ ptr4, ptr8 uint16 }

func (s bySizes) of(ptrSize int) int { return bySize(ptrSize, int(s.ptr4), int(s.ptr8)) }

// A code selects how a field is read and written. Only traces' own descriptions use the
// second half.
type code uint8

const (
	codePad code = iota
	codeU8
	codeU16
	codeU32
	codeU64
	codePtr
	codeI32
	codeF32
	codeBool32
	codeUTF16
	codeANSI
	codeGUID
	codeBytes      // as many as the field that counts them holds
	codeArray      // as many elements as the field that counts them holds
	codeFixedArray // of count elements
	codeObject

	codeI8
	codeI16
	codeI64
	codeF64
	codeBool8
	codeChar
	codeByteChar
	codeDecimal
	codeDateTime
	codeVarInt
	codeVarUint
	codeArray16 // after a uint16 with the number of elements
	codeRelLoc
	codeDataLoc
)

// layout returns the layout of a version: the one of the newest known version up to it,
// else the oldest.
func (s *schema) layout(version uint32) *layout {
	l := &s.layouts[0]
	for i := range s.layouts {
		if s.layouts[i].version <= version {
			l = &s.layouts[i]
		}
	}
	return l
}
