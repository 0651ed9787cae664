package nettrace

import "bytes"

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
	return r.in.whole, r.in.endMark(r.ended)
}

// WholeIn returns how much of b, from its first byte, ends with a whole object,
// and what is to be put behind that part. b is a part of the trace, which is known
// to be whole up to off, where b begins. It is for a disk that has room for a part
// of what was received.
func (r *Reader) WholeIn(b []byte, off int64) (size int, end []byte) {
	f := newFramer(bytes.NewReader(b))
	if off == 0 && f.open() != nil {
		return 0, nil
	}
	f.version = r.in.version
	f.off += off
	f.whole = off
	next := block{kind: blockUnknown}
	for next.kind != blockEnd && !next.cut {
		if f.next(&next) != nil {
			next.cut = true
		}
	}
	return int(f.whole - off), f.endMark(!next.cut)
}

// endMark is what a trace lacks that is cut behind its last whole object.
func (f *framer) endMark(ended bool) []byte {
	switch {
	case ended, f.whole == 0:
		return nil
	case f.version == 6:
		return endV6
	default:
		return endObjects
	}
}

// End marks: of V6 an empty block of kind EndOfStream, of the others the tag of
// a null reference.
var (
	endV6      = make([]byte, 4)
	endObjects = []byte{tagNull}
)
