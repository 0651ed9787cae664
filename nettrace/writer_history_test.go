package nettrace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gctrail/gctrail/trace"
)

// TestWriterHistories writes random histories and reads them back: every event comes back
// unchanged, in time order, and lost events are counted.
func TestWriterHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opt := WriterOptions{
			Version:      rapid.SampledFrom([]int{4, 6}).Draw(t, "version"),
			PointerSize:  rapid.SampledFrom([]int{4, 8}).Draw(t, "pointer"),
			Uncompressed: rapid.Bool().Draw(t, "uncompressed"),
			SyncTicks:    rapid.Int64Range(0, 1<<50).Draw(t, "sync"),
			Start:        start,
			PID:          7,
		}
		h := history{opt: opt, threads: map[uint64]int64{}}
		w, err := NewWriter(&h.out, opt)
		if err != nil {
			t.Fatal(err)
		}
		h.w = w
		t.Repeat(map[string]func(*rapid.T){
			"write": h.write,
			"lost":  h.lost,
			"flush": func(t *rapid.T) { h.check(t, w.Flush()) },
			"point": func(t *rapid.T) {
				h.check(t, w.SequencePoint(h.newest))
				h.newest++ // which it is later than
			},
		})
		h.check(t, w.Close())
		h.compare(t)
	})
}

var historyKinds = []*trace.Descriptor{
	{Provider: "A", ID: 1, Version: 2, Level: 4},
	{Provider: "A", ID: 2, Keywords: 1, Fields: []trace.Field{{Name: "X", Type: trace.Int32}}},
	{Provider: "B", ID: 1, Name: "Named", Opcode: 5},
}

// A history is the input of a Writer.
type history struct {
	opt     WriterOptions
	out     bytes.Buffer
	w       *Writer
	newest  int64
	threads map[uint64]int64 // by capture thread: time of the last event
	events  []*trace.Event
	missing uint64
}

func (h *history) check(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func (h *history) write(t *rapid.T) {
	capture := rapid.Uint64Range(1, 4).Draw(t, "capture")
	last, known := h.threads[capture]
	from := h.newest // never late
	if known {
		from = last
	}
	ev := &trace.Event{
		Desc:    rapid.SampledFrom(historyKinds).Draw(t, "kind"),
		Ticks:   from + rapid.Int64Range(0, 1000).Draw(t, "step"),
		PID:     7,
		TID:     rapid.SampledFrom([]uint64{capture, capture, 9, 1 << 40}).Draw(t, "thread"),
		CPU:     rapid.SampledFrom([]uint32{0, 3, trace.UnknownCPU}).Draw(t, "cpu"),
		Payload: binary.LittleEndian.AppendUint32(nil, uint32(len(h.events))),
	}
	ev.Payload = append(ev.Payload, make([]byte, rapid.SampledFrom([]int{0, 1, 300, 5000}).Draw(t, "payload"))...)
	ev.SetStack(make([]byte, h.opt.PointerSize*rapid.IntRange(0, 3).Draw(t, "stack")), h.opt.PointerSize)
	if id := rapid.Byte().Draw(t, "activity"); id > 100 {
		ev.Labels = &trace.Labels{ActivityID: [16]byte{id}}
	}
	err := h.w.Write(capture, ev)
	if errors.Is(err, trace.ErrLate) && known {
		h.missing++
		return
	}
	h.check(t, err)
	h.threads[capture] = ev.Ticks
	h.newest = max(h.newest, ev.Ticks)
	h.events = append(h.events, ev)
}

// lost drops events of a thread that the trace knows, because a reader cannot count the
// ones lost before a thread's first event.
func (h *history) lost(t *rapid.T) {
	capture := rapid.Uint64Range(1, 4).Draw(t, "capture")
	if _, known := h.threads[capture]; !known {
		t.Skip("unknown thread")
	}
	n := rapid.Uint32Range(0, 5).Draw(t, "n")
	h.w.Lost(7, capture, n)
	h.missing += uint64(n)
}

func (h *history) compare(t *rapid.T) {
	r := NewReader(bytes.NewReader(h.out.Bytes()), Options{Stacks: true})
	var got []*trace.Event
	for ev, err := range r.Events() {
		h.check(t, err)
		if len(got) > 0 && ev.Ticks < got[len(got)-1].Ticks {
			t.Fatalf("%d after %d", ev.Ticks, got[len(got)-1].Ticks)
		}
		got = append(got, ev.Clone())
	}
	l := r.Loss()
	exact := l.Exactness == trace.Exact || len(h.events) == 0 // V6 without threads has no numbers
	if l.Events != h.missing || !exact || l.Truncated || l.Damaged != 0 || l.Late != 0 {
		t.Fatalf("loss %+v, want %d events", l, h.missing)
	}
	if len(got) != len(h.events) {
		t.Fatalf("%d events of %d", len(got), len(h.events))
	}
	byNumber := func(a, b *trace.Event) int { return cmp.Compare(number(a), number(b)) }
	slices.SortFunc(got, byNumber)
	for i, want := range h.events {
		if d := difference(got[i], want); d != "" {
			t.Fatalf("event %d: %s: got %+v, want %+v", i, d, got[i], want)
		}
	}
}

func number(ev *trace.Event) uint32 { return binary.LittleEndian.Uint32(ev.Payload) }

// difference names the fields in which two events differ.
func difference(a, b *trace.Event) string {
	switch {
	case a.Desc.Provider != b.Desc.Provider || a.Desc.ID != b.Desc.ID || a.Desc.Name != b.Desc.Name:
		return "kind"
	case a.Ticks != b.Ticks:
		return "time"
	case a.PID != b.PID || a.TID != b.TID || a.CPU != b.CPU:
		return "process, thread or processor"
	case !bytes.Equal(a.Payload, b.Payload):
		return "payload"
	case !slices.Equal(a.AppendStack(nil), b.AppendStack(nil)):
		return "stack"
	case (a.Labels == nil) != (b.Labels == nil) || a.Labels != nil && a.Labels.ActivityID != b.Labels.ActivityID:
		return "labels"
	}
	return ""
}

// TestWriterRegions checks that the writer makes sequence points on its own:
// after many bytes, and after many label lists, but not between events of one time.
func TestWriterRegions(t *testing.T) {
	d := &trace.Descriptor{Provider: "P", ID: 1}
	for _, version := range []int{4, 6} {
		var out bytes.Buffer
		w := newWriter(t, &out, WriterOptions{Version: version, Start: start})
		const n = 40_000
		payload := make([]byte, 400)
		for i := range n {
			ev := &trace.Event{Desc: d, Ticks: int64(i / 100), TID: uint64(1 + i/100%7), Payload: payload}
			ev.Labels = &trace.Labels{ActivityID: [16]byte{byte(i), byte(i >> 8), 1}}
			write(t, w, ev.TID, ev)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		events, r := readAll(t, out.Bytes())
		if len(events) != n || r.seqs.points != 2 || r.Loss().Damaged != 0 {
			t.Errorf("V%d: %d events, %d sequence points, damage %v", version, len(events), r.seqs.points, r.Loss().Damage)
		}
		for i, ev := range events {
			if ev.Ticks != int64(i/100) || ev.TID != uint64(1+i/100%7) || ev.Labels.ActivityID != [16]byte{byte(i), byte(i >> 8), 1} {
				t.Fatalf("V%d: event %d: %+v", version, i, ev)
			}
		}
	}
}

func TestWriterAllocs(t *testing.T) {
	for _, version := range []int{4, 6} {
		w := newWriter(t, io.Discard, WriterOptions{Version: version, Start: start})
		next := steady()
		for range 20_000 {
			write(t, w, 1, next())
		}
		allocs := testing.AllocsPerRun(20_000, func() { w.Write(1, next()) })
		if allocs != 0 {
			t.Errorf("V%d: %v allocations per event", version, allocs)
		}
	}
}

// steady yields events of four threads and two kinds, with stacks and labels.
func steady() func() *trace.Event {
	ev := &trace.Event{CPU: trace.UnknownCPU, Payload: make([]byte, 40)}
	ev.SetStack(make([]byte, 8*16), 8)
	labels := &trace.Labels{ActivityID: [16]byte{1}}
	return func() *trace.Event {
		ev.Ticks += 1000
		n := ev.Ticks / 1000
		ev.TID = uint64(1000 + n/8%4)
		ev.Desc = historyKinds[n%2]
		ev.Labels = nil
		if n%8 == 0 {
			ev.Labels = labels
		}
		return ev
	}
}

func BenchmarkWriter(b *testing.B) {
	for name, version := range map[string]int{"v4": 4, "v6": 6} {
		b.Run(name, func(b *testing.B) {
			out := new(counter)
			w := newWriter(b, out, WriterOptions{Version: version, Start: start})
			next := steady()
			b.ReportAllocs()
			for b.Loop() {
				ev := next()
				if err := w.Write(ev.TID, ev); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.n)/float64(b.N), "B/event")
			b.ReportMetric(float64(out.n)/b.Elapsed().Seconds()/1e6, "MB/s")
		})
	}
}

// A counter counts the written bytes.
type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}
