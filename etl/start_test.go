package etl_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestStart damages the times in the header of a file. The trace gets no longer, and
// damage is reported if the buffers contradict the header.
func TestStart(t *testing.T) {
	const second = 10_000_000
	for _, c := range []struct {
		name    string
		flip    func(h *tracetest.ETLHeader)
		damaged bool
	}{
		{"whole", func(*tracetest.ETLHeader) {}, false},
		{"an earlier start of the clock", func(h *tracetest.ETLHeader) { h.Time -= 1 << 30 }, true},
		{"a far earlier start of the clock", func(h *tracetest.ETLHeader) { h.Time -= 1 << 50 }, true},
		{"a later start of the clock", func(h *tracetest.ETLHeader) { h.Time += 1 << 30 }, true},
		{"a later start of day", func(h *tracetest.ETLHeader) { h.Start += 1 << 25 }, true},
		{"an earlier end of day", func(h *tracetest.ETLHeader) { h.End -= 1 << 25 }, true},
		{"a later end of day", func(h *tracetest.ETLHeader) { h.End += 1 << 40 }, false}, // nothing was raised meanwhile
	} {
		f := tracetest.NewETL()
		f.Header.Frequency = second
		f.Header.Time = 1 << 51
		at := f.Header.Time
		for range 4 {
			at += 2 * second
			f.Buffer(0).Event(tracetest.ETLEvent{Type: tracetest.ETLEvent64, Time: at, Provider: tracetest.RuntimeGUID, ID: 1}).Flushed = at + second
		}
		f.Header.End = f.Header.Start + 9*second
		c.flip(&f.Header)
		data := f.Bytes()
		r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
		var times []time.Duration
		for ev, err := range r.Events() {
			if err != nil {
				t.Fatal(c.name, err)
			}
			times = append(times, ev.Time())
		}
		if l := r.Loss(); len(times) != 4 || l.Damaged > 0 != c.damaged || r.Info().Last > 9*time.Second {
			t.Fatalf("%s: %d events, %d damaged, %v long", c.name, len(times), l.Damaged, r.Info().Last)
		}
		if times[0] < 0 || times[3]-times[0] != 6*time.Second {
			t.Errorf("%s: events at %v", c.name, times)
		}
	}
}

// failing is a file that cannot be read from an offset on.
type failing struct {
	*bytes.Reader
	from int64
}

var errBroken = errors.New("broken")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.from {
		return 0, errBroken
	}
	return f.Reader.ReadAt(p, off)
}

// TestUnreadable: a file that ends within the head of a buffer is cut, and one that cannot be
// read there is damaged, too.
func TestUnreadable(t *testing.T) {
	f := tracetest.NewETL()
	for i := range int64(3) {
		f.Buffer(0).Event(tracetest.ETLEvent{Type: tracetest.ETLEvent64, Time: f.Header.Time + i, Provider: tracetest.RuntimeGUID, ID: 1})
	}
	data := f.Bytes()
	second := int64(f.Header.BufferSize)
	for _, tt := range []struct {
		in      io.ReaderAt
		size    int64
		damaged uint64
	}{
		{failing{bytes.NewReader(data), second}, int64(len(data)), 1},
		{bytes.NewReader(data[:second+10]), second + 10, 0},
	} {
		r := etl.NewReader(tt.in, tt.size, etl.Options{})
		for _, err := range r.Events() {
			if err != nil {
				t.Fatal(err)
			}
		}
		if l := r.Loss(); !l.Truncated || uint64(l.Damaged) != tt.damaged {
			t.Errorf("truncated %t, %d damaged places, want %d", l.Truncated, l.Damaged, tt.damaged)
		}
	}
}
