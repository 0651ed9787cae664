package etl_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/etltest"
)

// TestStart damages the times in the header of a file. The trace gets no longer, and
// damage is reported if the buffers contradict the header.
func TestStart(t *testing.T) {
	const second = 10_000_000
	for _, c := range []struct {
		name    string
		flip    func(h *etltest.Header)
		damaged bool
	}{
		{"whole", func(*etltest.Header) {}, false},
		{"an earlier start of the clock", func(h *etltest.Header) { h.Time -= 1 << 30 }, true},
		{"a far earlier start of the clock", func(h *etltest.Header) { h.Time -= 1 << 50 }, true},
		{"a later start of the clock", func(h *etltest.Header) { h.Time += 1 << 30 }, true},
		{"a later start of day", func(h *etltest.Header) { h.Start += 1 << 25 }, true},
		{"an earlier end of day", func(h *etltest.Header) { h.End -= 1 << 25 }, true},
		{"a later end of day", func(h *etltest.Header) { h.End += 1 << 40 }, false}, // nothing was raised meanwhile
	} {
		f := etltest.New()
		f.Header.Frequency = second
		f.Header.Time = 1 << 51
		at := f.Header.Time
		for range 4 {
			at += 2 * second
			f.Buffer(0).Event(etltest.Event{Type: etltest.Event64, Time: at, Provider: etltest.Runtime, ID: 1}).Flushed = at + second
		}
		f.Header.End = f.Header.Start + 9*second
		c.flip(&f.Header)
		data := f.Bytes()
		r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
		events := 0
		for _, err := range r.Events() {
			if err != nil {
				t.Fatal(c.name, err)
			}
			events++
		}
		if l := r.Loss(); events != 4 || l.Damaged > 0 != c.damaged || r.Info().Last > 9*time.Second {
			t.Errorf("%s: %d events, %d damaged, %v long", c.name, events, l.Damaged, r.Info().Last)
		}
	}
}
