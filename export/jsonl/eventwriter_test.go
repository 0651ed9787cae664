package jsonl_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/trace"
)

// TestEventWriter compares the lines with Events', in the order of the events, although
// the source reuses its event.
func TestEventWriter(t *testing.T) {
	const rounds = 5000
	var got, want bytes.Buffer
	one := jsonl.Events{Start: start}
	w := jsonl.NewEventWriter(&got)
	w.Start = start
	var ev trace.Event
	for i := range int64(rounds) {
		for _, each := range events() {
			ev = *each.Clone()
			ev.Ticks += i
			want.Write(one.AppendEvent(nil, &ev))
			if err := w.Write(&ev); err != nil {
				t.Fatal(err)
			}
			clear(ev.Payload)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%d bytes differ from the %d that Events writes", got.Len(), want.Len())
	}
}

// A full disk stops the writer, and nothing is written after what failed.
func TestEventWriterFails(t *testing.T) {
	full := &limited{left: 1}
	w := jsonl.NewEventWriter(full)
	w.Start = start
	ev := events()[0]
	n := 0
	for w.Write(ev) == nil {
		if n++; n == 1<<20 {
			t.Fatal("no error")
		}
	}
	if err := w.Close(); !errors.Is(err, errFull) || full.failed != 1 {
		t.Errorf("%v after %d failed writes", err, full.failed)
	}
}

var errFull = errors.New("full")

// A limited accepts a limited number of writes, and fails further ones.
type limited struct{ left, failed int }

func (l *limited) Write(p []byte) (int, error) {
	if l.left == 0 {
		l.failed++
		return 0, errFull
	}
	l.left--
	return len(p), nil
}

func BenchmarkEventWriter(b *testing.B) {
	one := jsonl.Events{Start: start}
	ev := events()[0]
	w := jsonl.NewEventWriter(io.Discard)
	w.Start = start
	b.SetBytes(int64(len(one.AppendEvent(nil, ev))))
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(ev); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
