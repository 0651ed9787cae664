package etl_test

import (
	"bytes"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// A growingFile can be read up to where it has been written.
type growingFile struct {
	t    testing.TB
	data []byte
	size int
}

func (f *growingFile) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > int64(f.size) {
		f.t.Errorf("read %d bytes at %d of %d", len(p), off, f.size)
		return 0, io.EOF
	}
	return bytes.NewReader(f.data[:f.size]).ReadAt(p, off)
}

// tailOf returns a reader of a file that grows by pieces of random sizes, up to most. It
// calls grown before each.
func tailOf(t testing.TB, data []byte, lag time.Duration, random *rand.Rand, most int, grown func(size int)) *etl.Reader {
	f := &growingFile{t: t, data: data}
	return etl.NewMergedReader([]etl.File{{ReaderAt: f}}, etl.Options{Tail: &etl.Tail{
		Lag: lag,
		Wait: func() etl.Growth {
			grown(f.size)
			f.size = min(len(data), f.size+1+random.IntN(most))
			return etl.Growth{Sizes: []int64{int64(f.size)}, Done: f.size == len(data)}
		},
	}})
}

// tailed are traces that are read as they grow, and how late their sessions wrote
// events. Neither had a flush timer.
func tailed(t testing.TB) []struct {
	name string
	data []byte
	lag  time.Duration
} {
	return []struct {
		name string
		data []byte
		lag  time.Duration
	}{
		{"plain", plain(t), 7 * time.Second},
		{"packed", packed(t), 20 * time.Second},
	}
}

// TestTail reads traces that grow in 200 ways. The collections equal the whole file's,
// and no event is held back longer than necessary.
func TestTail(t *testing.T) {
	for _, c := range tailed(t) {
		t.Run(c.name, func(t *testing.T) {
			whole, times := collectionsOf(t, wholeReader(c.data))
			if len(whole) == 0 {
				t.Fatal("no collections")
			}
			for way := range 100 {
				random := rand.New(rand.NewPCG(uint64(way), 1))
				most := 1 << (9 + random.IntN(13)) // from 512 bytes to 2 MiB
				got, gotTimes := collectionsOf(t, tailOf(t, c.data, c.lag, random, most, func(int) {}))
				if !slices.Equal(got, whole) {
					t.Fatalf("way %d: %d collections, want %d", way, len(got), len(whole))
				}
				if !slices.Equal(gotTimes, times) {
					t.Fatalf("way %d: %d events, want %d, or in another order", way, len(gotTimes), len(times))
				}
			}
		})
	}
}

// TestTailEnd: the header that a session writes at its end has the number of lost events.
func TestTailEnd(t *testing.T) {
	file := tracetest.NewETL()
	file.Buffer(0).Event(tracetest.ETLEvent{Type: tracetest.ETLEvent64, Time: file.Header.Time + 1, PID: 5, TID: 6, Provider: tracetest.RuntimeGUID, ID: 1})
	f := &growingFile{t: t, data: file.Bytes()}
	file.Header.EventsLost = 7
	final := file.Bytes()
	r := etl.NewMergedReader([]etl.File{{ReaderAt: f}}, etl.Options{Tail: &etl.Tail{Wait: func() etl.Growth {
		if f.size == len(final) {
			f.data = final
			return etl.Growth{Sizes: []int64{int64(f.size)}, Done: true}
		}
		f.size = len(final)
		return etl.Growth{Sizes: []int64{int64(f.size)}}
	}}})
	events := 0
	for _, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events++
	}
	if lost := r.Loss().Events; events != 1 || lost != 7 {
		t.Errorf("%d events, %d lost", events, lost)
	}
}

// session is a trace of 30 s on 8 processors, each of which writes its buffer every
// second, or earlier if it is full. It also returns when each buffer was written, and the
// times of all events.
func session(random *rand.Rand) (data []byte, written, times []int64) {
	const processors, seconds, full = 8, 30, 400
	file := tracetest.NewETL()
	h := &file.Header
	h.Time, h.BufferSize, h.CPUs, h.End = 0, sessionBuffer, processors, h.Start+(seconds+1)*second
	var waiting [processors][]tracetest.ETLEvent
	write := func(cpu int, at int64) {
		if len(waiting[cpu]) == 0 {
			return
		}
		b := file.Buffer(uint16(cpu))
		b.Flushed = at
		for _, e := range waiting[cpu] {
			b.Event(e)
		}
		waiting[cpu] = nil
		written = append(written, at)
	}
	at, timer := int64(0), int64(second)
	for at < seconds*second {
		at += 1 + random.Int64N(second/500)
		for ; at >= timer; timer += second {
			for cpu := range processors {
				write(cpu, timer)
			}
		}
		cpu := random.IntN(1 + random.IntN(processors)) // some have more to do
		waiting[cpu] = append(waiting[cpu], tracetest.ETLEvent{Type: tracetest.ETLEvent64, Time: at, PID: 7, TID: uint32(cpu + 1), Provider: tracetest.RuntimeGUID, ID: 1})
		times = append(times, at)
		if len(waiting[cpu]) == full {
			write(cpu, at)
		}
	}
	for cpu := range processors {
		write(cpu, timer)
	}
	return file.Bytes(), written, times
}

const (
	second        = 10_000_000
	sessionBuffer = 64 << 10
)

// TestTailDelay reads sessions that write every second. Events are in order, none is
// late, and whenever the reader waits, it has emitted all events older than Lag.
func TestTailDelay(t *testing.T) {
	const lag = 1_100 * time.Millisecond
	for way := range 20 {
		random := rand.New(rand.NewPCG(uint64(way), 9))
		data, written, times := session(random)
		n := 0
		r := tailOf(t, data, lag, random, 200_000, func(size int) {
			complete := max(0, size/sessionBuffer-1) // but for that of the file header
			if complete == 0 {
				return
			}
			settled := slices.Max(written[:complete]) - int64(lag/100)
			due, _ := slices.BinarySearch(times, settled+1)
			if n < due {
				t.Fatalf("way %d: %d events were emitted of %d that are older than %v", way, n, due, lag)
			}
		})
		for ev, err := range r.Events() {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Ticks != times[n] || ev.Late {
				t.Fatalf("way %d: event %d is at %d, want %d", way, n, ev.Ticks, times[n])
			}
			n++
		}
		if n != len(times) {
			t.Fatalf("way %d: %d events, want %d", way, n, len(times))
		}
	}
}

// TestTailIdle: when nothing is written for some time, every event so far is emitted.
func TestTailIdle(t *testing.T) {
	data := plain(t)
	f := &growingFile{t: t, data: data}
	n, idle, done := 0, false, false
	r := etl.NewMergedReader([]etl.File{{ReaderAt: f}}, etl.Options{Tail: &etl.Tail{
		Lag: time.Hour,
		Wait: func() etl.Growth {
			switch {
			case f.size < len(data):
				f.size = len(data)
			case !idle:
				idle = true
				if n != 0 {
					t.Errorf("%d events were emitted within Lag", n)
				}
			default:
				if n == 0 {
					t.Error("nothing was emitted of an idle session")
				}
				done = true
			}
			return etl.Growth{Sizes: []int64{int64(f.size)}, Idle: idle, Done: done}
		},
	}})
	for _, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if want := countOf(t, wholeReader(data)); n != want || !done {
		t.Errorf("%d events, want %d", n, want)
	}
}

// TestTailCut: a file whose session was killed is read up to its end, like any file.
func TestTailCut(t *testing.T) {
	data := packed(t)
	for _, size := range []int{0, 100, 0x48 + 0x20, 1000, len(data) / 3, len(data) - 1} {
		random := rand.New(rand.NewPCG(uint64(size), 3))
		r := tailOf(t, data[:size], 2*time.Second, random, 200_000, func(int) {})
		n, failed := 0, false
		for _, err := range r.Events() {
			failed = failed || err != nil
			n++
		}
		w := wholeReader(data[:size])
		want, wantFailed := 0, false
		for _, err := range w.Events() {
			wantFailed = wantFailed || err != nil
			want++
		}
		if n != want || failed != wantFailed || r.Loss().Truncated != w.Loss().Truncated {
			t.Errorf("%d bytes: %d events (error %t), want %d (%t)", size, n, failed, want, wantFailed)
		}
	}
}

func wholeReader(data []byte) *etl.Reader {
	return etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
}

func countOf(t testing.TB, r *etl.Reader) (n int) {
	for _, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// collectionsOf returns the collections of a trace as JSON, and the times of its events.
func collectionsOf(t testing.TB, r *etl.Reader) (lines []string, times []time.Duration) {
	t.Helper()
	var model gc.Model
	for c, err := range model.Collections(timed{r, &times}) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(jsonl.AppendCollection(nil, r.Info().Start, c)))
	}
	return lines, times
}

// timed notes the times of events.
type timed struct {
	trace.Source
	times *[]time.Duration
}

func (s timed) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		for ev, err := range s.Source.Events() {
			if err == nil {
				*s.times = append(*s.times, ev.Time())
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}
