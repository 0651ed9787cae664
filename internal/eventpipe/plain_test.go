package eventpipe

import (
	"bytes"
	"math"
	"testing"

	"github.com/gctrail/gctrail/trace"
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

// TestAppendWantedPastLargestTime: it ends before the event whose time passes the largest number,
// and finds the times of all before it.
func TestAppendWantedPastLargestTime(t *testing.T) {
	const events, delta = 3000, 300 // a time of two bytes
	data := make([]byte, EventBlockHeader, EventBlockHeader+4*events+MaxHeader)
	PutBlockHeader(data, true, 0, 0)
	data = append(data, bytes.Repeat([]byte{0, 0x80 | delta&0x7f, delta >> 7, 7}, events)...)
	data = append(data, make([]byte, MaxHeader)...)
	for _, before := range []int{0, 1, 1000, events} {
		r, err := ReadBlock(data, 0, 4)
		if err != nil {
			t.Fatal(err)
		}
		start := math.MaxUint64 - uint64(before)*delta
		if before == events {
			start = 0
		}
		r.MetadataID, r.Ticks, r.Payload = 1, start, 1
		records, _ := r.AppendWanted([]trace.Record{{Len: 1}}, events+1, start, []uint32{0, 1}, []uint64{0, 1}, nil)
		if len(records) != 1+before || r.Ticks != start+uint64(before)*delta {
			t.Fatalf("%d records up to %d, want %d", len(records)-1, r.Ticks, before)
		}
		for i, rec := range records[1:] {
			if rec.Ticks != int64(i+1)*delta || rec.Payload(data)[0] != 7 {
				t.Fatalf("%d: %+v", i, rec)
			}
		}
	}
}
