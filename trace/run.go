package trace

// A Run is events in a row that a source yields as one Event, because a reader was asked to:
// see nettrace.Options and ctf.Options. They differ in what their Records have, in CTF also in
// thread and processor, and in nothing else; none is late.
type Run struct {
	Records []Record
	Descs   []*Descriptor // which Record.Desc numbers
	Bytes   []byte        // with the payloads
}

// A Record is one event of a Run.
type Record struct {
	Ticks          int64  // as in Event
	Off, Len       uint32 // of the payload in Run.Bytes
	Desc           uint32 // an index in Run.Descs
	Stack, Context uint32 // for the source, which numbers them
}

// Payload returns the payload of the record in the bytes that it refers to.
func (r *Record) Payload(b []byte) []byte { return b[r.Off : r.Off+r.Len : r.Off+r.Len] }
