package gogc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/nettrace"
)

const traceHeader = "go 1.26 trace\x00\x00\x00"

// traceBatch returns a batch of a generation, which begins at so many ticks.
func traceBatch(generation, at uint64, data []byte) []byte {
	b := []byte{evEventBatch}
	for _, n := range []uint64{generation, 1, at, uint64(len(data))} {
		b = binary.AppendUvarint(b, n)
	}
	return append(b, data...)
}

// traceEvent returns the type of an event and numbers.
func traceEvent(kind byte, numbers ...uint64) []byte {
	b := []byte{kind}
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// The strings of kindStrings, and a clock of 1000 ticks a second that had made
// 500 at second 7.
const sweep, mark, profile = 300, 301, 302

func traceTables(generation uint64) []byte {
	kinds := []byte{evStrings}
	for id, text := range map[uint64]string{sweep: "GC sweep termination", mark: markTerm, profile: "goroutine profile"} {
		kinds = append(append(kinds, traceEvent(evString, id, uint64(len(text)))...), text...)
	}
	clock := append([]byte{evSync}, traceEvent(evFrequency, 1000)...)
	clock = append(clock, traceEvent(evClockSnapshot, 400, 99, 7, 0)...)
	return append(traceBatch(generation, 0, kinds), traceBatch(generation, 100, clock)...)
}

// assembledTrace has two generations. A stop begins in the first and ends in the
// second, and events of another kind are between.
func assembledTrace() []byte {
	first := bytes.Join([][]byte{
		traceEvent(evSTWBegin, 10, sweep, 1), traceEvent(28, 1, 5), traceEvent(evSTWEnd, 19), // at 1010, for 20 ms
		traceEvent(16, 1000, 1<<40, 3), traceEvent(evSTWBegin, 70, profile, 1), traceEvent(evSTWEnd, 10),
		traceEvent(evSTWBegin, 90, mark, 1), // at 2200
	}, nil)
	second := bytes.Join([][]byte{traceEvent(evSTWEnd, 0), traceEvent(evSTWBegin, 300, mark, 1), traceEvent(evSTWEnd, 5)}, nil)
	return bytes.Join([][]byte{
		[]byte(traceHeader),
		traceBatch(1, 0, traceEvent(evStacks, 1, 2, 3)), traceBatch(1, 1000, first), traceTables(1),
		{evEndOfGeneration},
		{evExperimentalBatch, 1, 2, 1, 1, 3, 9, 9, 9},
		traceTables(2), traceBatch(2, 2250, second),
		{evEndOfGeneration},
	}, nil)
}

func listStops(stops []stop) string {
	var b strings.Builder
	for _, s := range stops {
		fmt.Fprintf(&b, "%v at %v for %v; ", s.final, s.begin.Sub(time.Unix(7, 0)), s.end.Sub(s.begin))
	}
	return b.String()
}

func TestStops(t *testing.T) {
	var r stopReader
	trace := assembledTrace()
	stops, err := r.read(trace)
	const want = "false at 510ms for 20ms; true at 1.7s for 50ms; true at 2.05s for 5ms; "
	if got := listStops(stops); got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if stops, err := r.read(trace); len(stops) > 0 || err != nil {
		t.Errorf("the second time: %q, %v", listStops(stops), err)
	}
	for n := range trace {
		var r stopReader
		stops, err := r.read(trace[:n])
		if !strings.HasPrefix(want, listStops(stops)) || err != nil && !errors.Is(err, errFormat) {
			t.Errorf("cut at %d: %q, %v", n, listStops(stops), err)
		}
	}
}

func TestStopsRefused(t *testing.T) {
	for _, c := range []struct {
		name, text string
		trace      []byte
	}{
		{"header", `unknown format: "go 1.99 trace\x00\x00\x00"`, []byte("go 1.99 trace\x00\x00\x00")},
		{"batch", "event 77 among batches", append([]byte(traceHeader), 77)},
		{"event", "event 77", append([]byte(traceHeader), traceBatch(1, 1, []byte{77})...)},
		{"event without time", "event 3", append([]byte(traceHeader), traceBatch(1, 1, []byte{3})...)},
		{"within an event", "ends within an event", append([]byte(traceHeader), traceBatch(1, 1, []byte{evSTWBegin, 1, 1})...)},
		{"within a batch", "ends within a batch", append([]byte(traceHeader), evEventBatch, 1, 1, 1, 9)},
		{"a batch of 4 GiB", "ends within a batch", append([]byte(traceHeader), traceEvent(evEventBatch, 1, 1, 1, 1<<32)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r stopReader
			if _, err := r.read(c.trace); !errors.Is(err, errFormat) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want %q", err, c.text)
			}
		})
	}
}

// FuzzStops reads arbitrary bytes: reading ends, and a second time finds no more stops than the
// first.
func FuzzStops(f *testing.F) {
	f.Add(assembledTrace())
	f.Fuzz(func(t *testing.T, data []byte) {
		var r stopReader
		stops, _ := r.read(data)
		if again, _ := r.read(data); len(again) > len(stops) {
			t.Errorf("%d stops, then %d", len(stops), len(again))
		}
	})
}

// TestFlight finds the stops of real cycles in the program's own trace.
func TestFlight(t *testing.T) {
	f, err := takeOff()
	if err != nil {
		t.Fatal(err)
	}
	defer f.recorder.Stop()
	const cycles = 5
	for range cycles {
		runtime.GC()
	}
	if err := f.look(); err != nil {
		t.Fatal(err)
	}
	final := 0
	for i, s := range f.stops {
		if s.final {
			final++
		}
		if s.end.Before(s.begin) || i > 0 && s.begin.Before(f.stops[i-1].end) || time.Since(s.begin).Abs() > time.Minute {
			t.Errorf("stops %s", listStops(f.stops))
		}
	}
	if final < cycles || len(f.stops) < 2*cycles {
		t.Errorf("%d stops of %d cycles", len(f.stops), cycles)
	}
}

// TestLongCycle: if a cycle's first pause is too long ago to be raised, the cycle is
// raised with the sum of its pauses.
func TestLongCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewProvider(Options{Late: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		session, err := p.Start(&out, emit.SessionOptions{Providers: Wanted()})
		if err != nil {
			t.Fatal(err)
		}
		s := &Source{p: p, first: p.NewThread()}
		s.second = s.first.Sibling()
		if s.pauses, err = p.Define(goPauses); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond) // no event is older than the provider
		now := time.Now()
		c := cycle{
			number: 1, end: now, pause: 3 * time.Millisecond,
			pauses: []pause{{now.Add(-time.Hour), now.Add(-time.Hour + 2*time.Millisecond)}, {now.Add(-time.Millisecond), now}},
		}
		if err := s.raise(&c); err != nil {
			t.Fatal(err)
		}
		if err := session.Close(); err != nil {
			t.Fatal(err)
		}
		var model gc.Model
		n := 0
		for c, err := range model.Collections(nettrace.NewReader(&out, nettrace.Options{Want: gc.Wants})) {
			// If the clock moves in steps, events of one step have times some ns apart.
			if n++; err != nil || (c.Pause().Or(0)-3*time.Millisecond).Abs() > 100*time.Nanosecond {
				t.Errorf("%+v, %v", c, err)
			}
		}
		if n != 1 {
			t.Errorf("%d collections", n)
		}
	})
}
