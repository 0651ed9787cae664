package trace

// A Field is one field of a payload as the trace itself describes it.
type Field struct {
	Name   string
	Type   TypeCode
	Elem   *Field  // of the array types, RelLoc and DataLoc
	Count  int     // of FixedArray
	Fields []Field // of Object
}

// A TypeCode is the type of a Field. The numbers are .NET's type codes, which
// NetTraceFormat.md lists; only V6 traces use the ones from VarInt on.
type TypeCode uint8

const (
	Object      TypeCode = 1
	Boolean     TypeCode = 3 // four bytes
	Char        TypeCode = 4 // a UTF-16 code unit
	Int8        TypeCode = 5
	Uint8       TypeCode = 6
	Int16       TypeCode = 7
	Uint16      TypeCode = 8
	Int32       TypeCode = 9
	Uint32      TypeCode = 10
	Int64       TypeCode = 11
	Uint64      TypeCode = 12
	Float32     TypeCode = 13
	Float64     TypeCode = 14
	Decimal     TypeCode = 15 // sixteen bytes
	DateTime    TypeCode = 16 // eight bytes: a FILETIME, as EventSource writes it
	GUID        TypeCode = 17
	UTF16String TypeCode = 18 // zero-terminated
	Array       TypeCode = 19 // a uint16 count, then the elements
	VarInt      TypeCode = 20 // zigzag LEB128
	VarUint     TypeCode = 21 // LEB128
	FixedArray  TypeCode = 22
	UTF8Unit    TypeCode = 23 // an array of them is a string
	RelLoc      TypeCode = 24 // uint32: size<<16 | offset from the end of this field
	DataLoc     TypeCode = 25 // uint32: size<<16 | offset from the start of the payload
	Boolean8    TypeCode = 26 // one byte
)
