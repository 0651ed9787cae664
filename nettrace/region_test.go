package nettrace

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// blockOf returns an event block of n events of one capture thread, 10 ticks
// apart from the time from on, none of them sorted, with payloads of 100 bytes.
func blockOf(off int, capture uint64, seq uint32, from uint64, n int) []byte {
	body := make([]byte, eventpipe.EventBlockHeader)
	eventpipe.PutBlockHeader(body, true, 0, 0)
	var prev eventpipe.Header
	for i := range n {
		h := eventpipe.Header{MetadataID: 1, Seq: seq + uint32(i), Capture: capture, Thread: capture, Ticks: from + uint64(10*i), Payload: 100}
		body = h.AppendCompressed(body, &prev, false)
		body = append(body, make([]byte, 100)...)
		prev = h
	}
	b := eventpipe.AppendFrameV4(nil, eventpipe.BlockEvents, len(body), int64(off))
	return append(append(b, body...), eventpipe.TagEnd)
}

// TestLargeRegion reads 64 MB between two sequence points without a sorted event: first
// all of one thread, then all of another.
func TestLargeRegion(t *testing.T) {
	const blocks, events = 320, 1000
	data := tracetest.MustNettrace(t, "nettrace v4 freq=1000000000 sync=0\nmetadata\n  def id=1 provider=P event=1\n")
	for thread := uint64(1); thread <= 2; thread++ {
		for i := range blocks {
			data = append(data, blockOf(len(data), thread, uint32(i*events+1), 1_000_000+uint64(i*events*10)+thread, events)...)
		}
	}
	runtime.GC()
	var before, during runtime.MemStats
	runtime.ReadMemStats(&before)

	r := NewReader(bytes.NewReader(data), Options{})
	var n int
	var late uint64
	last := int64(-1)
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case ev.Late:
			late++
		case ev.Ticks < last:
			t.Fatalf("event %d at %d follows one at %d and is not late", n, ev.Ticks, last)
		default:
			last = ev.Ticks
		}
		if n++; n == blocks*events*3/2 {
			runtime.ReadMemStats(&during)
		}
	}
	if n != 2*blocks*events {
		t.Errorf("%d events, want %d", n, 2*blocks*events)
	}
	if late == 0 || r.Loss().Late != late || !r.Loss().Touches(0, 1<<40) {
		t.Errorf("%d events came late, loss %+v", late, r.Loss())
	}
	if held := during.HeapSys - before.HeapSys; held > 2*maxPending {
		t.Errorf("the heap grew by %d MB", held>>20)
	}
}
