package clr

// A schema is an event's name with its layouts by version.
type schema struct {
	name    string
	layouts []layout // from the oldest version on
}

// A layout is the fields of a payload in wire order.
type layout struct {
	version uint32
	padding int // bytes after the fields that mean nothing
	fields  []field
}

// A field is one value on the wire and its place in the output.
type field struct {
	key    string // `"Name":`
	code   code
	counts bool // its value is the number of elements of the arrays and bytes after it
	words  *words
	count  int       // of arrays: the fixed number of elements, or 0
	size   [2]uint16 // by pointer size 4 and 8: of padding; else what the payload must have, for the field to be there
	elem   *field
	fields []field // of objects
}

// A code says how a field is read and written.
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
	codeUtf16z
	codeAnsiz
	codeGuid
	codeBytes
	codeArray
	codeObject
)

// layout is the layout of a version: that of the newest version that is not
// newer, else the oldest.
func (s *schema) layout(version uint32) *layout {
	l := &s.layouts[0]
	for i := range s.layouts {
		if s.layouts[i].version <= version {
			l = &s.layouts[i]
		}
	}
	return l
}
