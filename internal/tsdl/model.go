package tsdl

// A Trace is the metadata of a trace.
type Trace struct {
	Major        int      // of CTF: 1 or 2
	UUID         [16]byte // zero if the metadata has none
	ByteOrder    ByteOrder
	PacketHeader *Type // nil if packets have none
	Env          map[string]string
	Clocks       []*Clock
	Streams      []*Stream
}

// A ByteOrder is an order of bytes in numbers, and of bits in bytes.
type ByteOrder uint8

const (
	Native ByteOrder = iota // the trace's
	LittleEndian
	BigEndian
)

// A Clock converts the cycles of time stamps. The time of c cycles is Seconds +
// (Cycles + c) / Frequency seconds after 1970 began (UTC).
type Clock struct {
	Name      string // its id, in CTF 2
	Frequency uint64 // at least 1
	Seconds   int64
	Cycles    int64
}

// A Stream is a class of streams.
type Stream struct {
	ID            uint64
	PacketContext *Type // nil if there is none, like the others
	EventHeader   *Type
	EventContext  *Type
	Clock         *Clock // CTF 2: the default clock; else nil
	Events        []*Event
}

// An Event is a class of events.
type Event struct {
	ID      uint64
	Name    string
	Context *Type // nil if there is none
	Payload *Type // nil if there is none
}

// A Kind is the kind of a type.
type Kind uint8

const (
	Int     Kind = iota // of Size bits
	VarInt              // LEB128
	Float               // of Size bits
	String              // up to a zero unit of Size bits
	Struct              // Fields
	Array               // Length elements
	Dynamic             // as many elements as the field at Ref says
	Variant             // the one of Options that the field at Ref selects
)

// A Type describes how a value is stored in the bits of a packet. Types share
// their parts.
type Type struct {
	Kind   Kind
	Align  int // in bits, a power of two; of structures and arrays including their parts
	Size   int // of Int, Float and the units of String, in bits
	Order  ByteOrder
	Signed bool
	Text   bool      // an array of such integers is UTF-8, up to the first zero
	Clock  string    // CTF 1.8: name of the clock that the integer counts
	Labels []Mapping // of an enumeration, which is an Int

	Fields  []Field  // of Struct
	Elem    *Type    // of Array and Dynamic
	Length  uint64   // of Array
	Ref     Ref      // of Dynamic and Variant
	Options []Option // of Variant
	MayMiss bool     // of Variant: no option may be selected

	depth int // of nesting
}

// A Field is a member of a structure.
type Field struct {
	Name string
	Type *Type
	Role Role // CTF 2
}

// A Mapping gives some values of an enumeration a label.
type Mapping struct {
	Label  string
	Ranges []Range
}

// A Range is the integers from Lo to Hi, as the bits of an uint64 or, of a
// signed type, an int64.
type Range struct{ Lo, Hi uint64 }

// An Option is one of the types of a Variant. Ranges are the values of the
// selector that choose it; without Ranges, the label Name of the selector's
// type chooses it.
type Option struct {
	Name   string
	Type   *Type
	Ranges []Range
}

// A Ref is the location of a field that a type depends on.
type Ref struct {
	Scope Scope
	Path  []string
}

// A Scope is one of the structures that a packet and its events have.
type Scope uint8

const (
	Anywhere Scope = iota // CTF 1.8: the innermost field of this name
	PacketHeader
	PacketContext
	EventHeader
	StreamContext // that all events of a stream have
	EventContext
	Payload
)

// A Role is the purpose of a field's value.
type Role uint8

const (
	NoRole Role = iota
	PacketMagic
	TraceUUID
	StreamID
	StreamInstance
	PacketSize  // in bits
	ContentSize // in bits
	Timestamp   // in a packet context, of the packet's begin
	PacketEnd
	Discarded
	PacketSequence
	EventID
	NumRoles
)

// Bounds on the contents of metadata.
const (
	// MaxSize bounds the metadata of one trace in bytes. It leaves room for all events of
	// a Linux kernel, which take 2 MiB in CTF 1.8, and 12 MiB in CTF 2.
	MaxSize = 16 << 20
	// MaxAlign bounds alignments, in bits.
	MaxAlign = 1 << 15

	maxDepth = 32
	maxParts = 1 << 18 // fields, labels, options, events and streams
)
