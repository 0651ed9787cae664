package nettrace

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

var start = time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)

// small writes the same short history in any format: the events of two threads
// interleave, and one thread ends.
func small(t *testing.T, opt WriterOptions) []byte {
	t.Helper()
	hello := &trace.Descriptor{
		Provider: "P", ID: 7, Version: 2, Name: "Hello", Opcode: 3, Level: 4, Keywords: 5,
		Fields: []trace.Field{{Name: "A", Type: trace.Int32}, {Name: "B", Type: trace.Array, Elem: &trace.Field{Type: trace.Uint8}}},
	}
	bye := &trace.Descriptor{Provider: "P", ID: 8, Fields: []trace.Field{{Name: "A", Type: trace.Int32}}}
	labels := &trace.Labels{ActivityID: [16]byte{1}, RelatedActivityID: [16]byte{2}}
	if opt.Version == 6 {
		labels.SpanID, labels.Text = 9, []trace.Label{{Name: "k", Value: "v"}}
	}
	opt.Start, opt.SyncTicks, opt.PID, opt.CPUs = start, 1000, 42, 2

	var out bytes.Buffer
	w := newWriter(t, &out, opt)
	write := func(capture uint64, ev trace.Event, stack ...uint64) {
		t.Helper()
		b := make([]byte, 8*len(stack))
		for i, a := range stack {
			binary.LittleEndian.PutUint64(b[8*i:], a)
		}
		ev.SetStack(b, 8)
		if err := w.Write(capture, &ev); err != nil {
			t.Fatal(err)
		}
	}
	write(10, trace.Event{Desc: hello, Ticks: 100, TID: 10, CPU: 3, Payload: []byte{1, 2}})
	write(11, trace.Event{Desc: hello, Ticks: 105, TID: 11, CPU: 3, Payload: []byte{3}, Labels: labels}, 0x10, 0x20)
	write(10, trace.Event{Desc: bye, Ticks: 110, TID: 11, CPU: 4, Payload: []byte{4}, Labels: labels}, 0x10, 0x20)
	w.Lost(0, 10, 2)
	w.EndThread(0, 11)
	if err := w.SequencePoint(0); err != nil {
		t.Fatal(err)
	}
	write(10, trace.Event{Desc: bye, Ticks: 120, TID: 10, CPU: trace.UnknownCPU}, 0x20)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const smallV4 = `
nettrace v4 sync=1000 start=2024-05-01T10:00:00Z
metadata HEADERS
  def id=1 provider=P event=7 version=2 name=Hello opcode=3 level=4 keywords=5 v2field=int32:A v2field=array<uint8>:B cpu=0xffffffff thread=10 time=+100 sorted
  def id=2 provider=P event=8 field=int32:A thread=11 time=+110 sorted
stacks first=1 [] [0x10 0x20]
events HEADERS
  event meta=1 capture=10 thread=10 cpu=3 stack=1 time=+100 sorted payload=hex:0102
  event meta=2 cpu=4 thread=11 stack=2 time=+110 activity=01 related=02 payload=hex:04
  event meta=1 capture=11 seq=1 cpu=3 time=+105 sorted payload=hex:03
sp time=+111 10=4 11=1
stacks first=1 [0x20]
events HEADERS
  event meta=2 capture=10 thread=10 seq=5 cpu=0xffffffff stack=1 time=+120 sorted
sp time=+121 10=5
end`

const smallV6 = `
nettrace v6 sync=1000 start=2024-05-01T10:00:00Z kv=HardwareThreadCount:2 kv=ProcessId:42
threads
  thread index=1 pid=42 tid=10
  thread index=2 pid=42 tid=11
metadata
  def id=1 provider=P event=7 version=2 name=Hello opcode=3 level=4 keywords=5 field=int32:A field=array<uint8>:B
  def id=2 provider=P event=8 level=0 version=0 field=int32:A
stacks first=1 [] [0x10 0x20]
labels first=1
  list activity=01 related=02 span=9 text=k:v
events HEADERS
  event meta=1 capture=1 thread=1 cpu=3 stack=1 time=+100 sorted payload=hex:0102
  event meta=2 cpu=4 thread=2 stack=2 labels=1 time=+110 payload=hex:04
  event meta=1 capture=2 seq=1 cpu=3 time=+105 sorted payload=hex:03
sp time=+111 1=4 2=1
removethreads 2=1
stacks first=1 [0x20]
events HEADERS
  event meta=2 capture=1 thread=1 seq=5 cpu=0xffffffff stack=1 time=+120 sorted
sp time=+121 1=5
end`

func TestWriterBytes(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  WriterOptions
		text string
	}{
		{"v4", WriterOptions{}, smallV4},
		{"v4 uncompressed", WriterOptions{Uncompressed: true}, smallV4},
		{"v6", WriterOptions{Version: 6}, smallV6},
		{"v6 uncompressed", WriterOptions{Version: 6, Uncompressed: true}, smallV6},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := "compressed"
			if c.opt.Uncompressed {
				headers = "uncompressed"
			}
			want := tracetest.MustNettrace(t, string(bytes.ReplaceAll([]byte(c.text), []byte("HEADERS"), []byte(headers))))
			if got := small(t, c.opt); !bytes.Equal(got, want) {
				t.Errorf("got\n%swant\n%s", hex.Dump(got), hex.Dump(want))
			}
		})
	}
}

// TestWriterEqualTimes checks that an event is not marked as sorted if the previous one of its
// thread has the same time: TraceEvent may still hold that one, and would then deliver it
// second.
func TestWriterEqualTimes(t *testing.T) {
	const text = `
nettrace v4 sync=1000 start=2024-05-01T10:00:00Z
metadata compressed
  def id=1 provider=P event=1 cpu=0xffffffff thread=10 time=+100 sorted
stacks first=1 []
events compressed
  event meta=1 capture=10 thread=10 cpu=0 stack=1 time=+100 sorted
  event meta=1 time=+110
  event meta=1 capture=11 seq=1 thread=11 time=+105 sorted
events compressed
  event meta=1 capture=10 seq=3 thread=10 stack=1 time=+110
  event meta=1 capture=11 seq=2 thread=11 time=+112 sorted
sp time=+113 10=3 11=2
end`
	var out bytes.Buffer
	w := newWriter(t, &out, WriterOptions{Start: start, SyncTicks: 1000, PID: 42, CPUs: 2})
	d := &trace.Descriptor{Provider: "P", ID: 1}
	add := func(thread uint64, ticks int64) {
		write(t, w, thread, &trace.Event{Desc: d, TID: thread, Ticks: ticks})
	}
	add(10, 100)
	add(11, 105)
	add(10, 110)
	w.drain() // as it does when the queue is full
	add(10, 110)
	add(11, 112)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if want := tracetest.MustNettrace(t, text); !bytes.Equal(out.Bytes(), want) {
		t.Errorf("got\n%swant\n%s", hex.Dump(out.Bytes()), hex.Dump(want))
	}
}

func TestWriterRefusesOptions(t *testing.T) {
	for _, opt := range []WriterOptions{
		{Version: 5, Start: start},
		{PointerSize: 2, Start: start},
		{Frequency: -1, Start: start},
		{},
	} {
		if _, err := NewWriter(io.Discard, opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
}

// TestWriterStart: a start between two milliseconds moves to the earlier, and the ticks
// with it.
func TestWriterStart(t *testing.T) {
	const late = 123456 * time.Nanosecond
	var out bytes.Buffer
	w := newWriter(t, &out, WriterOptions{Start: start.Add(late), SyncTicks: 1 << 40, Frequency: 1e7})
	write(t, w, 1, &trace.Event{Desc: &trace.Descriptor{Provider: "P"}, Ticks: 50, TID: 1})
	w.Close()
	events, r := readAll(t, out.Bytes())
	got := r.Info().Start.Add(events[0].Time())
	if want := start.Add((1235 + 50) * 100 * time.Nanosecond); got != want {
		t.Errorf("event at %v, want %v", got, want)
	}
}

func TestWriterLimits(t *testing.T) {
	d := &trace.Descriptor{Provider: "P", ID: 1}
	for _, version := range []int{4, 6} {
		var out bytes.Buffer
		w := newWriter(t, &out, WriterOptions{Version: version, Start: start})
		write(t, w, 1, &trace.Event{Desc: d, Ticks: 10, TID: 1, Payload: bytes.Repeat([]byte{7}, MaxPayload)})
		refused := func(want error, ev *trace.Event) {
			t.Helper()
			if err := w.Write(1, ev); !errors.Is(err, want) {
				t.Errorf("V%d: got %v, want %v", version, err, want)
			}
		}
		refused(trace.ErrLate, &trace.Event{Desc: d, Ticks: 9, TID: 1})
		refused(trace.ErrTooLarge, &trace.Event{Desc: d, Ticks: 10, TID: 1, Payload: make([]byte, MaxPayload+1)})
		deep := &trace.Event{Desc: d, Ticks: 10, TID: 1}
		deep.SetStack(make([]byte, maxContext+1), 8)
		refused(trace.ErrTooLarge, deep)
		long := &trace.Descriptor{Name: strings.Repeat("x", MaxPayload)}
		refused(trace.ErrTooLarge, &trace.Event{Desc: long, Ticks: 10, TID: 1})
		write(t, w, 1, &trace.Event{Desc: d, Ticks: 11, TID: 1})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(1, &trace.Event{Desc: d, Ticks: 12}); err == nil {
			t.Error("wrote after Close")
		}
		events, r := readAll(t, out.Bytes())
		if len(events) != 2 || len(events[0].Payload) != MaxPayload || r.Loss().Events != 4 {
			t.Errorf("V%d: %d events, %+v", version, len(events), r.Loss())
		}
	}
}

// TestWriterLargePayloads: payloads up to the requested limit are written, but never
// above the largest.
func TestWriterLargePayloads(t *testing.T) {
	d := &trace.Descriptor{Provider: "P", ID: 1}
	for _, version := range []int{4, 6} {
		for _, limit := range []int{MaxLargePayload, 2 * MaxLargePayload} {
			var out bytes.Buffer
			w := newWriter(t, &out, WriterOptions{Version: version, Start: start, MaxPayload: limit})
			large := bytes.Repeat([]byte{7}, MaxLargePayload)
			write(t, w, 1, &trace.Event{Desc: d, Ticks: 10, TID: 1, Payload: large})
			write(t, w, 1, &trace.Event{Desc: d, Ticks: 11, TID: 1})
			if err := w.Write(1, &trace.Event{Desc: d, Ticks: 12, TID: 1, Payload: append(large, 7)}); !errors.Is(err, trace.ErrTooLarge) {
				t.Errorf("V%d: got %v", version, err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			events, r := readAll(t, out.Bytes())
			if len(events) != 2 || !bytes.Equal(events[0].Payload, large) || r.Loss().Events != 1 {
				t.Errorf("V%d: %d events, %+v", version, len(events), r.Loss())
			}
		}
	}
}

func TestWriterRefusesVersion(t *testing.T) {
	w := newWriter(t, io.Discard, WriterOptions{Version: 6, Start: start})
	if err := w.Write(1, &trace.Event{Desc: &trace.Descriptor{Version: 256}}); err == nil {
		t.Error("V6 has no room for version 256")
	}
	write(t, w, 1, &trace.Event{Desc: &trace.Descriptor{Version: 255}})
}

// An error of the underlying writer stays.
func TestWriterError(t *testing.T) {
	full := errors.New("disk full")
	w := newWriter(t, &limited{left: 200, err: full}, WriterOptions{Start: start})
	write(t, w, 1, &trace.Event{Desc: &trace.Descriptor{Provider: "P"}, TID: 1})
	if err := w.Flush(); !errors.Is(err, full) {
		t.Errorf("Flush: %v", err)
	}
	if err := w.Write(1, &trace.Event{}); !errors.Is(err, full) {
		t.Errorf("Write: %v", err)
	}
	if err := w.Close(); !errors.Is(err, full) {
		t.Errorf("Close: %v", err)
	}
}

type limited struct {
	left int
	err  error
}

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.left {
		return 0, l.err
	}
	l.left -= len(b)
	return len(b), nil
}

// fieldsOf are descriptions that V4 can hold, and more that only V6 can.
var fieldsOf = map[int][][]trace.Field{
	4: {
		nil,
		{{Name: "Bool", Type: trace.Boolean}, {Name: "Größe 𝄞", Type: trace.UTF16String}},
		{{Name: "O", Type: trace.Object, Fields: []trace.Field{{Name: "A", Type: trace.Int8}, {Name: "B", Type: trace.GUID}}}},
		{{Name: "A", Type: trace.Array, Elem: &trace.Field{Type: trace.Float64}}},
		{{Name: "L", Type: trace.Array, Elem: &trace.Field{Type: trace.Object, Fields: []trace.Field{
			{Name: "Key", Type: trace.UTF16String}, {Name: "Value", Type: trace.UTF16String},
		}}}, {Name: "T", Type: trace.DateTime}},
	},
	6: {
		{{Name: "V", Type: trace.VarInt}, {Name: "U", Type: trace.VarUint}, {Name: "B", Type: trace.Boolean8}},
		{{Name: "F", Type: trace.FixedArray, Count: 3, Elem: &trace.Field{Type: trace.UTF8Unit}}},
		{{Name: "R", Type: trace.RelLoc, Elem: &trace.Field{Type: trace.Char}}, {Name: "D", Type: trace.DataLoc, Elem: &trace.Field{Type: trace.Int16}}},
		{{Name: "AA", Type: trace.Array, Elem: &trace.Field{Type: trace.Array, Elem: &trace.Field{Type: trace.Int64}}}},
	},
}

func TestWriterFields(t *testing.T) {
	broken := []trace.Field{{Name: "A", Type: trace.Array}}
	for _, version := range []int{4, 6} {
		var out bytes.Buffer
		w := newWriter(t, &out, WriterOptions{Version: version, Start: start})
		var want []*trace.Descriptor
		add := func(fields []trace.Field, fit bool) {
			d := trace.Descriptor{Provider: "Prövider", ID: uint32(len(want)), Name: "N", Version: 3, Opcode: 9, Level: 5, Keywords: math.MaxUint64, Fields: fields}
			write(t, w, 1, &trace.Event{Desc: &d, TID: 1})
			kept := d
			if !fit {
				kept.Fields = nil
			}
			want = append(want, &kept)
		}
		for _, fields := range fieldsOf[4] {
			add(fields, true)
		}
		for _, fields := range fieldsOf[6] {
			add(fields, version == 6)
		}
		add(broken, false)
		add(make([]trace.Field, 20000), false)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		events, r := readAll(t, out.Bytes())
		if len(events) != len(want) || r.Loss().Damaged != 0 {
			t.Fatalf("V%d: %d events of %d, damage %v", version, len(events), len(want), r.Loss().Damage)
		}
		for i, ev := range events {
			if len(ev.Desc.Fields) == 0 {
				ev.Desc.Fields = nil
			}
			if !reflect.DeepEqual(ev.Desc, want[i]) {
				t.Errorf("V%d: got %+v, want %+v", version, ev.Desc, want[i])
			}
		}
	}
}

func write(t testing.TB, w *Writer, capture uint64, ev *trace.Event) {
	t.Helper()
	if err := w.Write(capture, ev); err != nil {
		t.Fatal(err)
	}
}

// readAll returns copies of all events, with their stacks.
// TestUnknownIDs: ids that the writer does not know are unknown to a reader, never 0.
func TestUnknownIDs(t *testing.T) {
	for _, version := range []int{4, 6} {
		for _, pid := range []uint64{0, trace.UnknownID, 42} {
			var out bytes.Buffer
			w := newWriter(t, &out, WriterOptions{Version: version, Start: start, PID: pid})
			desc := &trace.Descriptor{Provider: "P", ID: 7}
			for _, ev := range []trace.Event{
				{Desc: desc, Ticks: 1, PID: trace.UnknownID, TID: trace.UnknownID, CPU: trace.UnknownCPU},
				{Desc: desc, Ticks: 2, TID: 7, CPU: 3},
			} {
				if err := w.Write(ev.TID, &ev); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			events, r := readAll(t, out.Bytes())
			want := trace.UnknownID
			if pid == 42 {
				want = pid
			}
			if len(events) != 2 || r.Info().PID != want || r.Info().CPUs != 0 || r.Loss().Events != 0 {
				t.Fatalf("V%d, PID %d: %d events, %+v, %+v", version, pid, len(events), r.Info(), r.Loss())
			}
			of := want
			if version == 6 {
				of = pick(pid == 42, want, trace.UnknownID) // which a thread without an id has
			}
			if e := events[0]; e.PID != of || e.TID != trace.UnknownID || e.CPU != trace.UnknownCPU {
				t.Errorf("V%d, PID %d: PID %d, TID %d, CPU %d", version, pid, e.PID, e.TID, e.CPU)
			}
			if e := events[1]; e.PID != want || e.TID != 7 || e.CPU != 3 {
				t.Errorf("V%d, PID %d: PID %d, TID %d, CPU %d", version, pid, e.PID, e.TID, e.CPU)
			}
		}
	}
}

func readAll(t testing.TB, b []byte) ([]*trace.Event, *Reader) {
	t.Helper()
	r := NewReader(bytes.NewReader(b), Options{Stacks: true})
	var events []*trace.Event
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev.Clone())
	}
	return events, r
}
