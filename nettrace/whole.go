package nettrace

import (
	"bytes"

	"github.com/gctrail/gctrail/internal/eventpipe"
)

// Whole returns the length of the longest prefix read so far that ends at an object
// boundary (0 before the first), and the bytes that complete it: the prefix followed by
// end is a trace that every reader reads to its end. Otherwise TraceEvent would drop
// events. end is empty if the trace itself has ended. The caller must not change it.
//
// A program that writes the bytes it receives from a runtime can thus keep its file
// readable at any time, even if the runtime crashes.
func (r *Reader) Whole() (size int64, end []byte) {
	if r.ahead != nil {
		size = r.ahead.whole
	} else {
		size = r.in.Whole
	}
	return size, eventpipe.EndMark(r.in.Version, size, r.ended)
}

// WholeIn returns the length of the longest prefix of b that ends at an object
// boundary, and the bytes that complete it. b is a part of the trace that
// begins at off, an object boundary. Use it if a disk has room for only part of
// what was received.
func (r *Reader) WholeIn(b []byte, off int64) (size int, end []byte) {
	f := eventpipe.NewFramer(bytes.NewReader(b), eventpipe.FileWindow)
	if off > 0 {
		f.ContinueAt(r.in.Version, off)
	} else if f.Open() != nil {
		return 0, nil
	}
	next := eventpipe.Block{Kind: eventpipe.BlockUnknown}
	for next.Kind != eventpipe.BlockEnd && !next.Cut {
		if f.Next(&next) != nil {
			next.Cut = true
		}
	}
	return int(f.Whole - off), eventpipe.EndMark(f.Version, f.Whole, !next.Cut)
}
