package eventpipe

import (
	"bytes"
	"math"
	"testing"
)

// TestCountPlainPastLargestTime: the events before the time passes the largest number are counted.
// It would take hours if each of them looked at all that follow.
func TestCountPlainPastLargestTime(t *testing.T) {
	const events, before, delta = 16 << 20, 12 << 20, 127
	data := make([]byte, EventBlockHeader, EventBlockHeader+2*events)
	PutBlockHeader(data, true, 0, 0)
	data = append(data, bytes.Repeat([]byte{0, delta}, events)...)
	r, err := ReadBlock(data, 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	r.MetadataID, r.Ticks = 1, math.MaxUint64-before*delta
	counts := make([]uint64, 2)
	met := r.CountPlain([]bool{false, true}, counts, nil)
	if counts[1] != before || r.Seq != before || r.Ticks != math.MaxUint64 || len(met) != 1 {
		t.Errorf("%d events up to number %d at %d, want %d", counts[1], r.Seq, r.Ticks, before)
	}
}
