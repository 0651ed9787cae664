package nettrace_test

import (
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
)

const liveHead = `nettrace v4
metadata
  def id=1 provider=P event=1
`

// liveParts are the parts of a trace, and the times of the events that are known after
// each. An event that is not sorted waits for a sorted one behind it.
var liveParts = []struct {
	text string
	now  []int64 // emitted at once
	idle []int64 // emitted when nothing more comes
}{
	{liveHead, nil, nil},
	{`events
  event meta=1 capture=1 time=+100 sorted
  event time=+150
  event capture=2 time=+120
`, []int64{100}, []int64{120, 150}},
	{`events
  event meta=1 capture=1 seq=3 time=+200 sorted
  event capture=2 seq=2 time=+130
  event capture=3 seq=1 time=+250
`, []int64{130, 200}, []int64{250}},
}

// growing returns the bytes that each part adds to the trace.
func growing(t *testing.T) [][]byte {
	var added [][]byte
	text, have := "", 0
	for _, p := range liveParts {
		text += p.text
		b := tracetest.MustNettrace(t, text)
		added = append(added, b[have:])
		have = len(b)
	}
	return added
}

// TestDispatch: the reader emits every event that it can as soon as the bytes of a block
// are there, and the rest when the input is idle.
func TestDispatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = 200 * time.Millisecond
		in, out := net.Pipe()
		events := make(chan int64, 16)
		late := make(chan uint64)
		go func() {
			r := nettrace.NewReader(in, nettrace.Options{Idle: idle})
			for ev, err := range r.Events() {
				if err != nil {
					t.Error(err)
				}
				events <- ev.Ticks
			}
			late <- r.Loss().Late
		}()
		expect := func(part int, after time.Duration, want []int64) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			var got []int64
			for len(events) > 0 {
				got = append(got, <-events)
			}
			if !slices.Equal(got, want) {
				t.Errorf("part %d, %v later: events at %v, want %v", part, after, got, want)
			}
		}
		for i, b := range growing(t) {
			out.Write(b)
			expect(i, 0, liveParts[i].now)
			expect(i, idle/2, nil)
			expect(i, idle, liveParts[i].idle)
		}
		out.Close()
		if n := <-late; n != 1 { // the one at 130 came after the one at 150
			t.Errorf("%d late events, want 1", n)
		}
	})
}

// TestStopWhileIdle ends reading while an idle input is flushed.
func TestStopWhileIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := net.Pipe()
		defer out.Close()
		go func() {
			for _, b := range growing(t)[:2] {
				out.Write(b)
			}
		}()
		n := 0
		for range nettrace.NewReader(in, nettrace.Options{Idle: time.Second}).Events() {
			if n++; n == 2 {
				break
			}
		}
		in.Close()
		if n != 2 {
			t.Errorf("%d events", n)
		}
	})
}
