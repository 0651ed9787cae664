package nettrace

// Whole returns how long the part of the trace is, from its first byte, that was
// read and ends with a whole object; 0 before there is one. The bytes of end,
// put behind that part, make it a trace that readers of all kinds read to its
// end: TraceEvent drops events of a trace that ends without them. Nothing is to
// be put there where the trace has ended by itself. The slice is not to be
// changed.
//
// What is received from a runtime is so written to a file that is whole at any
// time, however the runtime ends.
func (r *Reader) Whole() (size int64, end []byte) {
	switch {
	case r.ended, r.in.whole == 0:
		return r.in.whole, nil
	case r.in.version == 6:
		return r.in.whole, endV6
	default:
		return r.in.whole, endObjects
	}
}

// End marks: of V6 an empty block of kind EndOfStream, of the others the tag of
// a null reference.
var (
	endV6      = make([]byte, 4)
	endObjects = []byte{tagNull}
)
