package nettrace

import "bytes"

// Whole returns the length of the longest prefix read so far that ends at an
// object boundary (0 before the first), and the bytes that complete it: the
// prefix followed by end is a trace that every reader reads to its end.
// TraceEvent drops events of a trace without them. end is empty if the trace
// itself has ended. The caller must not change it.
//
// A program that writes the bytes it receives from a runtime can thus keep its
// file readable at any time, even if the runtime crashes.
func (r *Reader) Whole() (size int64, end []byte) {
	if r.ahead != nil {
		size = r.ahead.whole
	} else {
		size = r.in.whole
	}
	return size, endMark(r.in.version, size, r.ended)
}

// WholeIn returns the length of the longest prefix of b that ends at an object
// boundary, and the bytes that complete it. b is a part of the trace that
// begins at off, an object boundary. Use it if a disk has room for only part of
// what was received.
func (r *Reader) WholeIn(b []byte, off int64) (size int, end []byte) {
	f := newFramer(bytes.NewReader(b), fileWindow)
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
	return int(f.whole - off), endMark(f.version, f.whole, !next.cut)
}

// endMark returns what a trace lacks that is cut behind its last whole object.
func endMark(version int, whole int64, ended bool) []byte {
	switch {
	case ended, whole == 0:
		return nil
	case version == 6:
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
