package ctf_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/trace"
)

var writerStart = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

// A written is a trace in memory.
type written struct {
	*ctf.Writer
	metadata, stream bytes.Buffer
}

func newWritten(t testing.TB, opt ctf.WriterOptions) *written {
	t.Helper()
	if opt.Start.IsZero() {
		opt.Start = writerStart
	}
	w := &written{}
	var err error
	if w.Writer, err = ctf.NewWriter(&w.metadata, &w.stream, opt); err != nil {
		t.Fatal(err)
	}
	return w
}

// read closes the trace, and reads it.
func (w *written) read(t testing.TB) ([]*trace.Event, *ctf.Reader) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return readFS(t, fstest.MapFS{
		"ust/uid/0/64-bit/metadata":   {Data: w.metadata.Bytes()},
		"ust/uid/0/64-bit/channel0_0": {Data: w.stream.Bytes()},
	})
}

func readFS(t testing.TB, fsys fs.FS) ([]*trace.Event, *ctf.Reader) {
	t.Helper()
	r, err := ctf.Open(fsys, ctf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var events []*trace.Event
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev.Clone())
	}
	if l := r.Loss(); l.Damaged != 0 || l.Truncated || l.Late != 0 {
		t.Errorf("loss: %+v", l)
	}
	return events, r
}

// number is an event with one field.
var number = trace.Descriptor{Provider: "p", Name: "number", Fields: []trace.Field{{Name: "n", Type: trace.Uint32}}}

func numberEvent(ticks int64, n uint32) *trace.Event {
	return &trace.Event{Desc: &number, Ticks: ticks, TID: 7, Payload: binary.LittleEndian.AppendUint32(nil, n)}
}

// TestUnknownThread: a thread that is unknown, or does not fit, is read as unknown.
func TestUnknownThread(t *testing.T) {
	w := newWritten(t, ctf.WriterOptions{})
	tests := []struct{ written, read uint64 }{
		{0, 0},
		{1 << 31, 1 << 31},
		{1<<32 - 2, 1<<32 - 2},
		{1<<32 - 1, trace.UnknownID},
		{1 << 32, trace.UnknownID},
		{trace.UnknownID, trace.UnknownID},
	}
	for _, test := range tests {
		ev := numberEvent(0, 1)
		ev.TID = test.written
		if err := w.Write(ev); err != nil {
			t.Fatal(err)
		}
	}
	events, _ := w.read(t)
	if len(events) != len(tests) {
		t.Fatalf("%d events", len(events))
	}
	for i, test := range tests {
		if got := events[i].TID; got != test.read {
			t.Errorf("thread %d is read as %d, want %d", test.written, got, test.read)
		}
	}
}

// TestWriterEvents: events come back with their time, process and thread, however far
// they are apart and in however many packets.
func TestWriterEvents(t *testing.T) {
	w := newWritten(t, ctf.WriterOptions{PID: 4711, Process: "a-very-long-name-of-a-program", SyncTicks: 1 << 40, PacketSize: 4096})
	var ticks []int64
	at := int64(0)
	for i := range 3000 {
		ticks = append(ticks, at)
		ev := numberEvent(at, uint32(i))
		ev.PID = uint64(i%2) * 12
		if err := w.Write(ev); err != nil {
			t.Fatal(err)
		}
		at += int64(i % 3)
		if i%700 == 699 {
			at += 1<<32 - 1 + int64(i/700) // to both sides of the range of 32 bits
		}
		if i%1000 == 0 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	events, r := w.read(t)
	if len(events) != len(ticks) {
		t.Fatalf("%d events, want %d", len(events), len(ticks))
	}
	for i, ev := range events {
		wantPID := uint64(4711)
		if i%2 == 1 {
			wantPID = 12
		}
		if ev.Ticks != ticks[i] || ev.PID != wantPID || ev.TID != 7 || ev.CPU != 0 || ev.PointerSize != 8 ||
			binary.LittleEndian.Uint32(ev.Payload) != uint32(i) {
			t.Fatalf("event %d: %+v, want it at %d", i, ev, ticks[i])
		}
	}
	if got := r.Info(); !got.Start.Equal(writerStart) || got.Processes[4711].Name != "a-very-long-nam" {
		t.Errorf("%+v", got)
	}
	if l := r.Loss(); l.Events != 0 || l.Exactness != trace.Exact {
		t.Errorf("%+v", l)
	}
	if w.stream.Len()%4096 != 0 {
		t.Errorf("stream of %d bytes", w.stream.Len())
	}
}

// Times are in full where a reader that knows nothing of packets, or takes equal
// times for a wrapped clock, would else be wrong.
func TestWriterFullTimes(t *testing.T) {
	const (
		header, short, full = 84, 6 + 25 + 4, 14 + 25 + 4 // of a packet, of events
		turn                = 1 << 32
	)
	for _, c := range []struct {
		ticks []int64
		size  uint64
	}{
		{[]int64{5}, full},
		{[]int64{5, 6, 7}, full + 2*short},
		{[]int64{5, 5, 6}, 2*full + short},
		{[]int64{5, 5 + turn - 1}, full + short},
		{[]int64{5, 5 + turn}, 2 * full},
	} {
		w := newWritten(t, ctf.WriterOptions{})
		for _, ticks := range c.ticks {
			if err := w.Write(numberEvent(ticks, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := binary.LittleEndian.Uint64(w.stream.Bytes()[48:]), 8*(header+c.size); got != want {
			t.Errorf("events at %v take %d bits, want %d", c.ticks, got, want)
		}
	}
}

// TestWriterHeaders checks the bytes of the two headers of an event: of 16 bits of id and
// 32 of time, and after the id 65535, which LTTng reserves for it, of 32 and 64 bits.
func TestWriterHeaders(t *testing.T) {
	w := newWritten(t, ctf.WriterOptions{})
	for _, ticks := range []int64{0x1122334455, 0x1122334466} {
		if err := w.Write(numberEvent(ticks, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const packet, rest = 84, 25 + 4 // of the packet's header, of an event behind its header
	first := w.stream.Bytes()[packet:]
	if want := "ffff" + "00000000" + "5544332211000000"; hex.EncodeToString(first[:14]) != want {
		t.Errorf("the first event begins with %x, want %s", first[:14], want)
	}
	if second, want := first[14+rest:], "0000"+"66443322"; hex.EncodeToString(second[:6]) != want {
		t.Errorf("the second event begins with %x, want %s", second[:6], want)
	}
	for _, ids := range []string{"uint16_t { compact = 0 ... 65534, extended = 65535 } id;", "uint5_t { compact = 0 ... 30, extended = 31 } id;"} {
		if !strings.Contains(w.metadata.String(), ids) {
			t.Errorf("the metadata has no %s", ids)
		}
	}
}

// Fields of every type come back.
func TestWriterFields(t *testing.T) {
	le := binary.LittleEndian
	text := func(s string) []byte {
		var b []byte
		for _, u := range s {
			b = le.AppendUint16(b, uint16(u))
		}
		return append(b, 0, 0)
	}
	for _, c := range []struct {
		field   trace.Field
		want    trace.Field
		payload []byte
	}{
		{trace.Field{Type: trace.Boolean}, trace.Field{Type: trace.Int32}, []byte{1, 0, 0, 0}},
		{trace.Field{Type: trace.Char}, trace.Field{Type: trace.Uint16}, []byte{0x41, 0x30}},
		{trace.Field{Type: trace.Int8}, trace.Field{Type: trace.Int8}, []byte{0xff}},
		{trace.Field{Type: trace.Uint8}, trace.Field{Type: trace.Uint8}, []byte{0xff}},
		{trace.Field{Type: trace.Int16}, trace.Field{Type: trace.Int16}, []byte{1, 0x80}},
		{trace.Field{Type: trace.Uint64}, trace.Field{Type: trace.Uint64}, []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{trace.Field{Type: trace.Int64}, trace.Field{Type: trace.Int64}, []byte{1, 2, 3, 4, 5, 6, 7, 0x88}},
		{trace.Field{Type: trace.Float32}, trace.Field{Type: trace.Float32}, []byte{0, 0, 0x80, 0x3f}},
		{trace.Field{Type: trace.Float64}, trace.Field{Type: trace.Float64}, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{trace.Field{Type: trace.UTF16String}, trace.Field{Type: trace.UTF16String}, text("größer 中")},
		{trace.Field{Type: trace.UTF16String}, trace.Field{Type: trace.UTF16String}, []byte{0x3d, 0xd8, 0, 0xde, 0, 0}}, // 😀
		{trace.Field{Type: trace.UTF16String}, trace.Field{Type: trace.UTF16String}, []byte{0, 0}},
		{
			trace.Field{Type: trace.GUID},
			trace.Field{Type: trace.FixedArray, Count: 16, Elem: &trace.Field{Type: trace.Uint8}},
			[]byte("0123456789abcdef"),
		},
		{
			trace.Field{Type: trace.Array, Elem: &trace.Field{Type: trace.Int32}},
			trace.Field{Type: trace.Array, Elem: &trace.Field{Type: trace.Int32}},
			[]byte{2, 0, 1, 0, 0, 0, 2, 0, 0, 0},
		},
		{
			trace.Field{Type: trace.Array, Elem: &trace.Field{Type: trace.UTF16String}},
			trace.Field{Type: trace.Array, Elem: &trace.Field{Type: trace.UTF16String}},
			append([]byte{2, 0}, append(text("a"), text("bc")...)...),
		},
	} {
		c.field.Name, c.want.Name = "f", "f"
		last := trace.Field{Name: "last", Type: trace.Uint16}
		d := &trace.Descriptor{Provider: "p", Name: "e", Fields: []trace.Field{c.field, last}}
		w := newWritten(t, ctf.WriterOptions{})
		payload := append(c.payload, 0x34, 0x12)
		if err := w.Write(&trace.Event{Desc: d, Payload: payload}); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(&trace.Event{Desc: d, Payload: payload[:len(payload)-1]}); !errors.Is(err, trace.ErrMalformed) {
			t.Errorf("%+v: a short payload gives %v", c.field, err)
		}
		events, _ := w.read(t)
		if len(events) != 1 {
			t.Fatalf("%+v: %d events", c.field, len(events))
		}
		if got, want := events[0], []trace.Field{c.want, last}; !bytes.Equal(got.Payload, payload) || !reflect.DeepEqual(got.Desc.Fields, want) {
			t.Errorf("%+v: %x as %+v, want %x as %+v", c.field, got.Payload, got.Desc.Fields, payload, want)
		}
	}
}

// TestWriterRefuses: events that cannot be written are refused.
func TestWriterRefuses(t *testing.T) {
	w := newWritten(t, ctf.WriterOptions{})
	for _, fields := range [][]trace.Field{
		{{Name: "a", Type: trace.Object}},
		{{Name: "a", Type: trace.VarInt}},
		{{Name: "a", Type: trace.Array}},
		{{Name: "a", Type: trace.Array, Elem: &trace.Field{Type: trace.Array}}},
		{{Name: "a b", Type: trace.Uint8}},
		{{Name: "", Type: trace.Uint8}},
		{{Name: "a", Type: trace.Uint8}, {Name: "a", Type: trace.Uint8}},
		{{Name: "a", Type: trace.Array, Elem: &trace.Field{Type: trace.Uint8}}, {Name: "_a_length", Type: trace.Uint8}},
	} {
		c := ctf.EventClass{Name: "e", Fields: fields}
		if err := c.Check(); !errors.Is(err, ctf.ErrUndescribed) {
			t.Errorf("%+v: %v", fields, err)
		}
		err := w.Write(&trace.Event{Desc: &trace.Descriptor{Provider: "p", Name: "e", Fields: fields}})
		if !errors.Is(err, ctf.ErrUndescribed) {
			t.Errorf("%+v: %v", fields, err)
		}
	}
	for _, name := range []string{"", "a\"b", "a\\b", "a\nb"} {
		if err := (&ctf.EventClass{Name: name}).Check(); !errors.Is(err, ctf.ErrUndescribed) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if events, r := w.read(t); len(events) != 0 || r.Loss().Events != 0 {
		t.Errorf("%d events, %+v", len(events), r.Loss())
	}
	if err := w.Write(numberEvent(0, 1)); err == nil {
		t.Error("a closed writer writes")
	}
	for _, opt := range []ctf.WriterOptions{
		{},
		{Start: writerStart, PointerSize: 5},
		{Start: writerStart, PacketSize: 5000},
		{Start: writerStart, SyncTicks: -1},
	} {
		if _, err := ctf.NewWriter(&bytes.Buffer{}, &bytes.Buffer{}, opt); err == nil {
			t.Errorf("%+v is taken", opt)
		}
	}
}

// TestWriterLoss: events that are late, too large or lost are counted at the time where
// they should have been.
func TestWriterLoss(t *testing.T) {
	w := newWritten(t, ctf.WriterOptions{PacketSize: 4096})
	packed := &trace.Descriptor{Provider: "p", Name: "text", Fields: []trace.Field{{Name: "s", Type: trace.UTF16String}}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Write(numberEvent(0, 1)))
	must(w.Write(numberEvent(1e6, 1)))
	must(w.Flush())
	if err := w.Write(numberEvent(1e6-1, 1)); !errors.Is(err, trace.ErrLate) {
		t.Errorf("an old event gives %v", err)
	}
	w.Lost(3)
	must(w.Write(numberEvent(2e6, 1)))
	must(w.Flush())
	must(w.Write(numberEvent(3e6, 1)))
	long := make([]byte, 4096)
	for i := range long {
		long[i] = byte(1 - i%2)
	}
	for _, size := range []int{5000, 4096} {
		payload := append(append([]byte{}, long[:min(size-2, len(long))]...), 0, 0)
		payload = append(payload, make([]byte, max(0, size-len(payload)))...)
		err := w.Write(&trace.Event{Desc: packed, Ticks: 4e6, Payload: payload})
		if size > 4096 != errors.Is(err, trace.ErrTooLarge) || size <= 4096 && err != nil {
			t.Errorf("an event of %d bytes gives %v", size, err)
		}
	}
	three := bytes.Repeat([]byte{0x2d, 0x4e}, 2000) // 6000 bytes in UTF-8
	if err := w.Write(&trace.Event{Desc: packed, Ticks: 4e6, Payload: append(three, 0, 0)}); !errors.Is(err, trace.ErrTooLarge) {
		t.Errorf("a text that grows beyond a packet gives %v", err)
	}
	must(w.Write(numberEvent(5e6, 1)))
	w.Lost(10)
	events, r := w.read(t)
	l := r.Loss()
	if len(events) != 6 || l.Events != 1+3+1+1+10 || l.Exactness != trace.Exact {
		t.Errorf("%d events, %+v", len(events), l)
	}
	if l.Touches(0, time.Millisecond/2) || !l.Touches(time.Millisecond, 2*time.Millisecond) ||
		!l.Touches(4*time.Millisecond, 5*time.Millisecond) {
		t.Errorf("loss at %v", l.Ranges())
	}
}

// An error of a file ends the writing.
func TestWriterFails(t *testing.T) {
	failure := errors.New("disk is full")
	if _, err := ctf.NewWriter(failing{failure}, &bytes.Buffer{}, ctf.WriterOptions{Start: writerStart}); !errors.Is(err, failure) {
		t.Error(err)
	}
	w, err := ctf.NewWriter(&bytes.Buffer{}, failing{failure}, ctf.WriterOptions{Start: writerStart})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(numberEvent(0, 1)); err != nil {
		t.Error(err)
	}
	for _, err := range []error{w.Flush(), w.Write(numberEvent(0, 1)), w.Close()} {
		if !errors.Is(err, failure) {
			t.Error(err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A folder that is not empty is left alone.
func TestCreateFolder(t *testing.T) {
	opt := ctf.WriterOptions{Start: writerStart}
	for _, name := range []string{t.TempDir(), filepath.Join(t.TempDir(), "new", "trace")} {
		w, err := ctf.CreateFolder(name, opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write(numberEvent(5, 6)), w.Close()); err != nil {
			t.Fatal(err)
		}
		if events, _ := readFS(t, os.DirFS(name)); len(events) != 1 {
			t.Errorf("%d events", len(events))
		}
		if _, err := ctf.CreateFolder(name, opt); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a folder with a trace in it gives %v", err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ctf.CreateFolder(file, opt); err == nil {
		t.Error("a file is taken for a folder")
	}
}

// A zip has perfcollect's layout.
func TestZipWriter(t *testing.T) {
	var out bytes.Buffer
	w, err := ctf.NewZipWriter(&out, "web", ctf.WriterOptions{Start: writerStart, PointerSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(numberEvent(5, 6)), w.Close()); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "web.trace/lttngTrace/auto-20260301-120000/ust/uid/") {
			t.Error(f.Name)
		}
	}
	if events, _ := readFS(t, z); len(events) != 1 || events[0].PointerSize != 4 {
		t.Errorf("%+v", events)
	}
}

func BenchmarkWriter(b *testing.B) {
	tick := trace.Descriptor{Provider: "p", Name: "tick", Fields: []trace.Field{
		{Name: "AllocationAmount", Type: trace.Uint32},
		{Name: "AllocationKind", Type: trace.Uint32},
		{Name: "TypeName", Type: trace.UTF16String},
		{Name: "HeapIndex", Type: trace.Uint32},
	}}
	payload := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range "System.String[]" {
		payload = append(payload, byte(c), 0)
	}
	payload = append(payload, 0, 0, 1, 2, 3, 4)
	w, err := ctf.NewWriter(io.Discard, io.Discard, ctf.WriterOptions{Start: writerStart})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	ev := trace.Event{Desc: &tick, TID: 7, Payload: payload}
	for b.Loop() {
		ev.Ticks += 100
		if err := w.Write(&ev); err != nil {
			b.Fatal(err)
		}
	}
}
