package etl_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestDisplaced reads buffers with impossible times. The event counts as late, so that
// figures leave it out, and the trace gets no longer.
func TestDisplaced(t *testing.T) {
	const hour = 3600 * 1_000_000
	for _, c := range []struct {
		name    string
		buffers [][]int64 // times of events in microseconds, by processor 0 and 1 in turn
		late    string    // ids
		mode    uint32
	}{
		{name: "in order", buffers: [][]int64{{1, 5000}, {2, 9000}, {6000, 8000}, {9000, 9500}}},
		{name: "a little out of order", buffers: [][]int64{{1, 5900, 5000, 6000}}},
		{name: "far ahead", buffers: [][]int64{{1, hour, 3000, 6000}}, late: "2"},
		{name: "far behind", buffers: [][]int64{{1, 9000, -hour, 9001}}, late: "3"},
		{name: "either of two", buffers: [][]int64{{1, 9000, 4000, 9500}}, late: "2"},
		{name: "the first", buffers: [][]int64{{hour, 2000, 3000}}, late: "1"},
		{name: "the last, after the next buffer began", buffers: [][]int64{{1, 8000}, {2}, {6000, 9000}}, late: "2"},
		{name: "all from one on, until the next buffer", buffers: [][]int64{{1, 2, hour, hour + 1}, {2}, {6000, 9000}}, late: "3 4"},
		{name: "the first of the second", buffers: [][]int64{{1, 2}, {3}, {hour, 2000}, {4}, {9000}}, late: "4"},
		{name: "before the session", buffers: [][]int64{{-hour, 1, 2}}, late: "1"},
		{name: "after the buffer was written", buffers: [][]int64{{1, 2, hour}}, late: "3"},
		{name: "shared by processors", buffers: [][]int64{{1, 9000, 4000, 9500}, {3000}, {2000}}, mode: 0x10000000},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tracetest.NewETL()
			f.Header.Mode |= c.mode
			id := uint16(0)
			for i, times := range c.buffers {
				b := f.Buffer(uint16(i % 2))
				b.Flushed = f.Header.Time + 10*10_000
				for _, us := range times {
					id++
					b.Event(at(us, id))
				}
			}
			data := f.Bytes()
			r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
			late, n := "", uint16(0)
			for ev, err := range r.Events() {
				if err != nil {
					t.Fatal(err)
				}
				if n++; ev.Late {
					late = fmt.Sprint(late, " ", ev.Desc.ID)
				}
			}
			l := r.Loss()
			if late != "" {
				late = late[1:]
			}
			if late != c.late || n != id || (l.Damaged > 0) != (c.late != "") || (len(l.Ranges()) > 0) != (c.late != "") {
				t.Errorf("late %q, want %q; %d events of %d; loss %+v", late, c.late, n, id, l)
			}
			if last := r.Info().Last.Microseconds(); last < 0 || last > 10_000 {
				t.Errorf("the last event is at %d µs", last)
			}
		})
	}
}
