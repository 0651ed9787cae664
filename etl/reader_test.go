package etl_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// listing returns all that a reader yields of files, in lines.
func listing(opts etl.Options, files ...[]byte) string {
	var parts []etl.File
	for i, f := range files {
		parts = append(parts, etl.File{ReaderAt: bytes.NewReader(f), Size: int64(len(f)), Name: fmt.Sprintf("%c.etl", 'a'+i)})
	}
	r := etl.NewMergedReader(parts, opts)
	var b strings.Builder
	for ev, err := range r.Events() {
		if err != nil {
			fmt.Fprintf(&b, "error: %v\n", err)
			return b.String()
		}
		listEvent(&b, ev)
	}
	tracetest.ListLoss(&b, r.Loss())
	return b.String()
}

func listEvent(b *strings.Builder, ev *trace.Event) {
	fmt.Fprintf(b, "%v: %s/%d/%d", ev.Time(), ev.Desc.Provider, ev.Desc.ID, ev.Desc.Version)
	if ev.PID != trace.UnknownID {
		fmt.Fprintf(b, " thread %d.%d", ev.PID, ev.TID)
	}
	fmt.Fprintf(b, " cpu %d [% x]", ev.CPU, ev.Payload)
	if s := ev.AppendStack(nil); len(s) > 0 {
		fmt.Fprintf(b, " stack %#x", s)
	}
	if ev.PointerSize != 8 {
		fmt.Fprintf(b, " pointers of %d", ev.PointerSize)
	}
	if ev.Labels != nil {
		fmt.Fprintf(b, " activity %x related %x", ev.Labels.ActivityID[:1], ev.Labels.RelatedActivityID[:1])
	}
	b.WriteByte('\n')
}

// same compares a listing with the lines that are wanted.
func same(t *testing.T, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, "\n") + "\n"; got != w {
		t.Errorf("got\n%s\nwant\n%s", got, w)
	}
}

const nothingLost = "lost: 0 (exact)"

// at returns an event of the runtime, so many microseconds after the start of a
// file that tracetest.NewETL returns.
func at(us int64, id uint16, payload ...byte) tracetest.ETLEvent {
	return tracetest.ETLEvent{
		Type: tracetest.ETLEvent64, Time: 1_000_000 + 10*us, PID: 5, TID: 6,
		Provider: tracetest.RuntimeGUID, ID: id, Version: 1, Level: 4, Keywords: 1, Payload: payload,
	}
}

// line returns how at's events are listed.
func line(us int64, id uint16, rest string) string {
	return fmt.Sprintf("%v: Microsoft-Windows-DotNETRuntime/%d/1 thread 5.6 cpu %s", time.Duration(us)*time.Microsecond, id, rest)
}

func TestHeaders(t *testing.T) {
	f := tracetest.NewETL()
	b := f.Buffer(2)
	time, pid, tid := int64(1_000_000), uint32(5), uint32(6)
	payload := []byte{1, 2, 3}
	kernel := tracetest.ETLEvent{PID: pid, TID: tid, Group: 5, Opcode: 1, Version: 3, Payload: payload}
	classic := tracetest.ETLEvent{PID: pid, TID: tid, Provider: "01020304-0506-0708-090a-0b0c0d0e0f10", Opcode: 9, Version: 2, Level: 4, Payload: payload}
	described := tracetest.ETLEvent{PID: pid, TID: tid, Provider: tracetest.PrivateGUID, ID: 300, Version: 1, Payload: payload}
	image := kernel
	image.Group, image.Opcode = 3, 10
	strange := kernel
	strange.Group, strange.PID = 0x2a, 1<<32-1
	counted := kernel
	counted.Counters, counted.Sampled = 2, true
	related := described
	related.Activity[0] = 0xaa
	related.Items = []tracetest.ETLItem{{Type: 12, Data: []byte("odd")}, {Type: 1, Data: bytes.Repeat([]byte{0xbb}, 16)}}
	stacked := described
	stacked.Items = []tracetest.ETLItem{{Type: 6, Data: tracetest.ETLPayload(uint64(0), uint64(0x10), uint64(0x20))}}
	stacked32 := described
	stacked32.Items = []tracetest.ETLItem{{Type: 5, Data: tracetest.ETLPayload(uint64(0), uint32(0x30))}}
	for _, e := range []struct {
		kind  uint8
		event tracetest.ETLEvent
	}{
		{tracetest.ETLSystem32, kernel},
		{tracetest.ETLSystem64, image},
		{tracetest.ETLCompact32, kernel},
		{tracetest.ETLCompact64, strange},
		{tracetest.ETLPerfInfo32, kernel},
		{tracetest.ETLPerfInfo64, counted},
		{tracetest.ETLFull32, classic},
		{tracetest.ETLFull64, classic},
		{tracetest.ETLInstance32, classic},
		{tracetest.ETLInstance64, classic},
		{tracetest.ETLTimed, classic},
		{tracetest.ETLEvent32, described},
		{tracetest.ETLEvent64, related},
		{tracetest.ETLEvent64, stacked},
		{tracetest.ETLEvent64, stacked32},
	} {
		e.event.Type, e.event.Time = e.kind, time
		b.Event(e.event)
		time += 10
	}
	b.Raw([]byte{16, 0, 0, 0x90, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) // a message
	b.Event(at(20, 1))
	same(t, listing(etl.Options{Stacks: true}, f.Bytes()),
		"0s: Thread/1/3 thread 5.6 cpu 2 [01 02 03] pointers of 4",
		"1µs: Image/10/3 thread 5.6 cpu 2 [01 02 03]",
		"2µs: Thread/1/3 thread 5.6 cpu 2 [01 02 03] pointers of 4",
		"3µs: kernel group 0x2a/1/3 cpu 2 [01 02 03]",
		"4µs: Thread/1/3 cpu 2 [01 02 03] pointers of 4",
		"5µs: Thread/1/3 cpu 2 [01 02 03]",
		"6µs: 01020304-0506-0708-090a-0b0c0d0e0f10/9/2 thread 5.6 cpu 2 [01 02 03] pointers of 4",
		"7µs: 01020304-0506-0708-090a-0b0c0d0e0f10/9/2 thread 5.6 cpu 2 [01 02 03]",
		"8µs: 01020304-0506-0708-090a-0b0c0d0e0f10/9/2 thread 5.6 cpu 2 [01 02 03] pointers of 4",
		"9µs: 01020304-0506-0708-090a-0b0c0d0e0f10/9/2 thread 5.6 cpu 2 [01 02 03]",
		"11µs: Microsoft-Windows-DotNETRuntimePrivate/300/1 thread 5.6 cpu 2 [01 02 03] pointers of 4",
		"12µs: Microsoft-Windows-DotNETRuntimePrivate/300/1 thread 5.6 cpu 2 [01 02 03] activity aa related bb",
		"13µs: Microsoft-Windows-DotNETRuntimePrivate/300/1 thread 5.6 cpu 2 [01 02 03] stack [0x10 0x20]",
		"14µs: Microsoft-Windows-DotNETRuntimePrivate/300/1 thread 5.6 cpu 2 [01 02 03] stack [0x30]",
		line(20, 1, "2 []"), nothingLost)
}

func TestClassicEvents(t *testing.T) {
	f := tracetest.NewETL()
	b := f.Buffer(0)
	for i, opcode := range []uint8{10, 1, 2, 5, 133, 8, 132, 77} {
		b.Event(tracetest.ETLEvent{Type: tracetest.ETLFull32, Time: 1_000_000 + int64(i)*10, PID: 5, TID: 6, Provider: tracetest.GCTaskGUID, Opcode: opcode})
	}
	data := f.Bytes()
	r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
	var got []string
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s/%d/%d %d %#x", ev.Desc.Provider[:9], ev.Desc.ID, ev.Desc.Version, ev.Desc.Level, ev.Desc.Keywords))
	}
	want := []string{
		"Microsoft/9/0 4 0x1", "Microsoft/1/0 4 0x1", "Microsoft/2/0 4 0x1", "Microsoft/4/0 4 0x1", "Microsoft/4/0 4 0x1",
		"Microsoft/3/0 4 0x1", "Microsoft/3/0 4 0x1", "044973cd-/77/0 0 0x0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestClocks(t *testing.T) {
	const fileTime = 133485408000000000
	for _, c := range []struct {
		name        string
		clock       uint32
		frequency   int64
		mhz         uint32
		start, time int64
		ns          time.Duration
		millis      float64
		wantHz      int64
	}{
		{name: "QPC", clock: 1, frequency: 2_630_627, start: 5_464_821_681_081, time: 5_464_821_681_081 + 7_891_881, ns: 3 * time.Second, millis: 3000, wantHz: 2_630_627},
		{name: "QPC, a product past 64 bits", clock: 1, frequency: 2_630_627, start: 1, time: 1 + 2_630_627*400_000_000, ns: 400_000_000 * time.Second, millis: 4e11, wantHz: 2_630_627},
		{name: "QPC, rounded", clock: 1, frequency: 2_630_627, start: 100, time: 101, ns: 380, millis: 1000.0 / 2_630_627, wantHz: 2_630_627},
		{name: "system time", clock: 2, frequency: 1, start: fileTime, time: fileTime + 15, ns: 1500, millis: 0.0015, wantHz: 10_000_000},
		{name: "CPU cycles", clock: 3, frequency: 1, mhz: 3592, start: 1 << 60, time: 1<<60 + 3592*7, ns: 7 * time.Microsecond, millis: 0.007, wantHz: 3_592_000_000},
		{name: "unsaid, system time", clock: 0, frequency: 3, start: fileTime + 1000, time: fileTime + 1010, ns: 1000, millis: 0.001, wantHz: 10_000_000},
		{name: "unsaid, QPC", clock: 0, frequency: 1000, start: 5, time: 6, ns: time.Millisecond, millis: 1, wantHz: 1000},
		{name: "before the start", clock: 1, frequency: 1000, start: 5, time: 3, ns: -2 * time.Millisecond, millis: -2, wantHz: 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tracetest.NewETL()
			h := &f.Header
			h.Clock, h.Frequency, h.CPUMHz, h.Time = c.clock, c.frequency, c.mhz, c.start
			e := at(0, 1)
			e.Time = c.time
			f.Buffer(0).Event(e)
			data := f.Bytes()
			r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
			n := 0
			for ev, err := range r.Events() {
				if err != nil {
					t.Fatal(err)
				}
				n++
				if ev.Time() != c.ns || ev.Millis() != c.millis || ev.Clock.Frequency != c.wantHz {
					t.Errorf("%v, %v ms at %d Hz", ev.Time(), ev.Millis(), ev.Clock.Frequency)
				}
			}
			if start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC); n != 1 || !r.Info().Start.Equal(start) {
				t.Errorf("%d events from %v", n, r.Info().Start)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	f := tracetest.NewETL()
	f.Buffer(1).Event(at(5, 1)).Event(at(9, 2))
	f.Buffer(0).Compress().Event(at(1, 3)).Event(at(5, 4)).Event(at(7, 5))
	f.Buffer(0).Event(at(7, 6)).Event(at(8, 7))
	f.Buffer(2).Event(at(4, 9)).Event(at(3, 8)) // out of order
	f.Buffers[1].Seq, f.Buffers[2].Seq = 9, 10
	same(t, listing(etl.Options{}, f.Bytes()),
		line(1, 3, "0 []"), line(3, 8, "2 []"), line(4, 9, "2 []"), line(5, 4, "0 []"), line(5, 1, "1 []"),
		line(7, 5, "0 []"), line(7, 6, "0 []"), line(8, 7, "0 []"), line(9, 2, "1 []"), nothingLost)
}

// TestSharedBuffers reads buffers that processors share: the first event of one
// need not be the oldest.
func TestSharedBuffers(t *testing.T) {
	f := tracetest.NewETL()
	f.Header.Mode |= 0x10000000
	f.Buffer(0).Event(at(1, 1)).Event(at(97, 2))
	f.Buffer(0).Event(at(100, 3)).Event(at(95, 4))
	same(t, listing(etl.Options{}, f.Bytes()),
		line(1, 1, "0 []"), line(95, 4, "0 []"), line(97, 2, "0 []"), line(100, 3, "0 []"), nothingLost)
}

// TestLate finds events that are too far out of order to be sorted.
func TestLate(t *testing.T) {
	f := tracetest.NewETL()
	f.Header.Mode |= 0x10000000 // processors share buffers
	f.Buffer(0).Event(at(1, 1)).Event(at(9000, 2))
	f.Buffer(1).Event(at(20_000, 3)).Event(at(5000, 4)).Event(at(7000, 5))
	data := f.Bytes()
	r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
	var late []uint32
	for ev := range r.Events() {
		if ev.Late {
			late = append(late, ev.Desc.ID)
		}
	}
	if !slices.Equal(late, []uint32{4, 5}) || r.Loss().Late != 2 {
		t.Errorf("late are %d, %d in all", late, r.Loss().Late)
	}
}

func TestWindows7(t *testing.T) {
	f := tracetest.NewETL()
	f.Header.Windows7, f.Header.Type, f.Header.PointerSize = true, tracetest.ETLSystem32, 4
	f.Buffer(3).Event(at(1, 1, 7))
	same(t, listing(etl.Options{}, f.Bytes()), line(1, 1, "3 [07]"), nothingLost)
}

// walk returns a ClrStackWalk of the thread of at's events.
func walk(us int64, frames ...uint64) tracetest.ETLEvent {
	e := at(us, 82)
	e.Version, e.Payload = 0, tracetest.ETLPayload(uint16(1), uint16(0), uint32(len(frames)), frames)
	return e
}

func TestStackWalks(t *testing.T) {
	f := tracetest.NewETL()
	other := at(2, 3)
	other.TID = 7
	f.Buffer(0).Event(at(1, 1)).Event(other).Event(walk(3, 0x10, 0x20)).Event(at(4, 2)).Event(at(5, 4))
	f.Buffer(1).Event(walk(6, 0x30)).Event(walk(7, 0x40))
	f.Buffer(0).Event(at(100_000, 5)).Event(walk(200_000, 0x50))
	list := func(want func(*trace.Descriptor) bool) []string {
		var got []string
		for l := range strings.Lines(listing(etl.Options{Stacks: true, Want: want}, f.Bytes())) {
			if strings.Contains(l, "/1 thread") {
				got = append(got, strings.TrimSpace(l))
			}
		}
		return got
	}
	want := []string{
		line(1, 1, "0 [] stack [0x10 0x20]"),
		strings.Replace(line(2, 3, "0 []"), "5.6", "5.7", 1),
		line(4, 2, "0 []"),
		line(5, 4, "0 [] stack [0x30]"),
		line(100_000, 5, "0 []"),
	}
	if got := list(nil); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	// An unwanted event still takes its stack.
	if got := list(func(d *trace.Descriptor) bool { return d.ID == 2 }); !slices.Equal(got, want[2:3]) {
		t.Errorf("only 2: %q", got)
	}
}

func TestSeveralFiles(t *testing.T) {
	a, b := tracetest.NewETL(), tracetest.NewETL()
	a.Buffer(0).Event(at(1, 1)).Event(at(3, 3))
	b.Header.Start += 360 // 36 µs by the time of day: it is one clock all the same
	b.Header.Time += 10
	b.Buffer(0).Event(at(2, 2)).Event(at(4, 4))
	want := []string{line(1, 1, "0 []"), line(2, 2, "0 []"), line(3, 3, "0 []"), line(4, 4, "0 []"), nothingLost}
	same(t, listing(etl.Options{}, a.Bytes(), b.Bytes()), want...)

	// Other clocks are set by the time of day: 1000 ticks a second here.
	b.Header.Start = a.Header.Start
	b.Header.Frequency = 1000
	b.Header.Time = 50
	e := at(0, 2)
	e.Time = 53
	b.Buffers[0] = tracetest.NewETL().Buffer(0).Event(e)
	same(t, listing(etl.Options{}, a.Bytes(), b.Bytes()),
		line(1, 1, "0 []"), line(3, 3, "0 []"), line(3000, 2, "0 []"), nothingLost)
}

func TestLoss(t *testing.T) {
	file := func(change func(f *tracetest.ETLFile)) []byte {
		f := tracetest.NewETL()
		f.Header.CPUs = 2
		f.Buffer(0).Event(at(1, 1)).Event(at(2, 2))
		f.Buffer(1).Event(at(3, 3))
		f.Buffer(0).Event(at(4, 4))
		change(f)
		return f.Bytes()
	}
	events := func(ids ...int64) []string {
		var lines []string
		for _, id := range ids {
			cpu := "0 []"
			if id == 3 {
				cpu = "1 []"
			}
			lines = append(lines, line(id, uint16(id), cpu))
		}
		return lines
	}
	// lost puts an event of a real-time session at the start of the last buffer.
	lost := func(opcode uint8, counted uint32) func(*tracetest.ETLFile) {
		return func(f *tracetest.ETLFile) {
			f.Header.EventsLost = counted
			f.Buffers = f.Buffers[:2]
			f.Buffer(0).Event(tracetest.ETLEvent{
				Type: tracetest.ETLFull64, Time: 1_000_040, PID: 5, TID: 6, Provider: tracetest.LostEventGUID, Opcode: opcode,
			}).Event(at(4, 4))
		}
	}
	lostAfter := func(opcode string) []string {
		return slices.Insert(events(1, 2, 3, 4), 3, "4µs: Lost_Event/"+opcode+"/0 thread 5.6 cpu 0 []")
	}
	whole := file(func(*tracetest.ETLFile) {})
	for _, c := range []struct {
		name   string
		data   []byte
		events []string
		want   []string
	}{
		{"nothing", whole, events(1, 2, 3, 4), []string{nothingLost}},
		{
			"events", file(func(f *tracetest.ETLFile) { f.Header.EventsLost = 3 }), events(1, 2, 3, 4),
			[]string{"lost: 3 (exact)", "lost between 0s and 4µs"},
		},
		{
			"buffers", file(func(f *tracetest.ETLFile) { f.Header.BuffersLost = 1 }), events(1, 2, 3, 4),
			[]string{"lost: 0 (lower_bound)", "lost between 0s and 4µs"},
		},
		{
			"a flag says so", file(func(f *tracetest.ETLFile) { f.Buffers[0].Flag(tracetest.ETLEventsLost) }), events(1, 2, 3, 4),
			[]string{"lost: 0 (lower_bound)", "lost between 0s and 4µs"},
		},
		{
			"a real-time session says so, of events", file(lost(32, 0)), lostAfter("32"),
			[]string{"lost: 1 (lower_bound)", "lost between 3µs and 4µs"},
		},
		{
			"a real-time session says so, of a buffer", file(lost(33, 0)), lostAfter("33"),
			[]string{"lost: 0 (lower_bound)", "lost between 3µs and 4µs"},
		},
		{
			"a real-time session says so, of a file", file(lost(34, 0)), lostAfter("34"),
			[]string{"lost: 0 (lower_bound)", "lost between 3µs and 4µs"},
		},
		{
			"a real-time session says so, and the file header", file(lost(32, 3)), lostAfter("32"),
			[]string{"lost: 3 (lower_bound)", "lost between 0s and 4µs"},
		},
		{
			"a real-time session says something else", file(lost(35, 0)), lostAfter("35"),
			[]string{nothingLost},
		},
		{
			"not closed", file(func(f *tracetest.ETLFile) { f.Header.End, f.Header.Written, f.Unmarked = 0, 1, true }), events(1, 2, 3, 4),
			[]string{"lost: 0 (unknown), cut", "lost between 4µs and 4µs"},
		},
		{
			"cut on the edge of a buffer", whole[:0x3000], events(1, 2, 3),
			[]string{"lost: 0 (lower_bound), cut", "lost between 3µs and 3µs"},
		},
		{
			"cut within a buffer", whole[:0x3060], events(1, 2, 3),
			[]string{"lost: 0 (lower_bound), cut", "lost between 4µs and 4µs"},
		},
		{
			"cut within a buffer's header", whole[:0x3010], events(1, 2, 3),
			[]string{"lost: 0 (lower_bound), cut", "lost between 3µs and 3µs"},
		},
		{"zeros at the end", append(bytes.Clone(whole), make([]byte, 100_000)...), events(1, 2, 3, 4), []string{nothingLost}},
		{
			"no buffer where one belongs", file(func(f *tracetest.ETLFile) { f.Buffers[0].Type = 99 }), events(3, 4),
			[]string{"lost: 0 (lower_bound)", "lost between 0s and 4µs", "damage: etl: buffer at 0x1000: malformed: no buffer begins here"},
		},
		{
			"no event where one belongs", file(func(f *tracetest.ETLFile) { f.Buffers[0].Raw([]byte("garbage!")) }), events(1, 2, 3, 4),
			[]string{"lost: 0 (lower_bound)", "lost between 2µs and 4µs", "damage: etl: event at 0x1000: malformed: no event begins at 0xe8 of the buffer, 8 bytes are skipped"},
		},
		{
			"an event past the end", file(func(f *tracetest.ETLFile) { e := at(3, 9); e.Size = 999; f.Buffers[0].Event(e) }), events(1, 2, 3, 4),
			[]string{"lost: 0 (lower_bound)", "lost between 2µs and 4µs", "damage: etl: event at 0x1000: unexpected EOF"},
		},
		{
			"an event shorter than its header", file(func(f *tracetest.ETLFile) { e := at(3, 9); e.Size = 8; f.Buffers[0].Event(e) }), events(1, 2, 3, 4),
			[]string{"lost: 0 (lower_bound)", "lost between 2µs and 4µs", "damage: etl: event at 0x1000: malformed: event of 8 bytes"},
		},
		{"unused space", file(func(f *tracetest.ETLFile) { f.Buffers[0].Claim = 0x200 }), events(1, 2, 3, 4), []string{nothingLost}},
		{
			"a compressed buffer that claims more", file(func(f *tracetest.ETLFile) { f.Buffers[0].Compress().Claim = 40 << 20 }), events(1, 2, 3, 4),
			[]string{"lost: 0 (lower_bound)", "lost between 2µs and 4µs", "damage: etl: buffer at 0x1000: unexpected EOF"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, listing(etl.Options{}, c.data), append(c.events, c.want...)...)
		})
	}
}

func TestResync(t *testing.T) {
	f := tracetest.NewETL()
	f.Header.Mode, f.Header.Compression = 0x04000001, 3
	for i := range int64(6) {
		f.Buffer(0).Compress().Event(at(i, uint16(i)))
	}
	f.Buffers[2].Type = 99
	got := listing(etl.Options{}, f.Bytes())
	for i := range int64(6) {
		if strings.Contains(got, line(i, uint16(i), "0 []")) == (i == 2) {
			t.Errorf("event %d: %s", i, got)
		}
	}
}

func TestRefused(t *testing.T) {
	good := tracetest.NewETL().Bytes()
	packed := func(method uint32) []byte {
		f := tracetest.NewETL()
		f.Header.Mode, f.Header.Compression = 0x04000001, method
		return f.Bytes()
	}
	flagged := tracetest.NewETL()
	flagged.Header.Compression = 2
	flagged.Buffer(0).Compress().Event(at(1, 1))
	odd := tracetest.NewETL()
	odd.Header.Clock = 9
	still := tracetest.NewETL()
	still.Header.Frequency = 0
	for _, c := range []struct {
		name string
		data []byte
		err  error
		text string
	}{
		{"empty", nil, trace.ErrNotTrace, "etl: a.etl: file header at 0x0: not a trace"},
		{"something else", bytes.Repeat([]byte("text"), 999), trace.ErrNotTrace, "etl: a.etl: file header at 0x0: not a trace"},
		{"cut in the header", good[:0x100], io.ErrUnexpectedEOF, "etl: a.etl: file header at 0x0: unexpected EOF"},
		{"LZNT1", packed(2), trace.ErrUnsupported, "etl: a.etl: file header at 0x0: not supported: buffers compressed by LZNT1, this reader knows XPRESS"},
		{"Huffman", packed(4), trace.ErrUnsupported, "etl: a.etl: file header at 0x0: not supported: buffers compressed by XPRESS Huffman, this reader knows XPRESS"},
		{"LZNT1 without saying so", flagged.Bytes(), trace.ErrUnsupported, "etl: a.etl: file header at 0x0: not supported: buffers compressed by LZNT1, this reader knows XPRESS"},
		{"clock", odd.Bytes(), trace.ErrUnsupported, "etl: a.etl: file header at 0x0: not supported: clock of type 9"},
		{"frequency", still.Bytes(), trace.ErrMalformed, "etl: a.etl: file header at 0x0: malformed: a clock of type 1 with 0 ticks per second"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := etl.NewMergedReader([]etl.File{{ReaderAt: bytes.NewReader(c.data), Size: int64(len(c.data)), Name: "a.etl"}, {ReaderAt: bytes.NewReader(good), Size: int64(len(good))}}, etl.Options{})
			for ev, err := range r.Events() {
				if ev != nil || !errors.Is(err, c.err) || err.Error() != c.text {
					t.Errorf("%v, %v", ev, err)
				}
			}
			for _, err := range r.Events() {
				if !errors.Is(err, trace.ErrUsed) {
					t.Error(err)
				}
			}
		})
	}
}

// TestLargeBuffers reads buffers of several stretches, on many processors, in
// bounded memory.
func TestLargeBuffers(t *testing.T) {
	const cpus, events, size = 64, 330, 900
	for _, packed := range []bool{false, true} {
		f := tracetest.NewETL()
		f.Header.BufferSize, f.Header.CPUs = 1<<20, cpus
		for cpu := range uint16(cpus) {
			b := f.Buffer(cpu)
			if packed {
				b.Compress()
			}
			for i := range int64(events) {
				b.Event(at(i*100+int64(cpu), cpu, bytes.Repeat([]byte{byte(i), byte(i >> 8), byte(cpu)}, size/3)...))
			}
		}
		data := f.Bytes()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
		n := int64(0)
		for ev, err := range r.Events() {
			if err != nil {
				t.Fatal(err)
			}
			i, cpu := n/cpus, n%cpus
			want := bytes.Repeat([]byte{byte(i), byte(i >> 8), byte(cpu)}, size/3)
			if ev.Ticks != (i*100+cpu)*10 || !bytes.Equal(ev.Payload, want) {
				t.Fatalf("event %d at %d of processor %d", n, ev.Ticks, ev.CPU)
			}
			n++
		}
		runtime.ReadMemStats(&after)
		if l := r.Loss(); n != cpus*events || l.Damaged > 0 || l.Late > 0 {
			t.Errorf("%d events, %+v", n, l)
		}
		payloads := uint64(cpus * events * size) // that the test makes
		if used := after.TotalAlloc - before.TotalAlloc - payloads; used > 32<<20 {
			t.Errorf("%d bytes allocated", used)
		}
	}
}

// TestManyProcessors reads large buffers of many processors at one time. Their memory
// bound is higher than that of fewer processors, so that none has to wait.
func TestManyProcessors(t *testing.T) {
	const cpus, events, size = 256, 130, 1000
	f := tracetest.NewETL()
	f.Header.BufferSize, f.Header.CPUs = 192<<10, cpus
	for cpu := range uint16(cpus) {
		b := f.Buffer(cpu)
		for i := range int64(events) {
			b.Event(at(i*10_000+int64(cpu)*10, cpu, make([]byte, size)...))
		}
	}
	data := f.Bytes()
	r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
	n, last := 0, int64(0)
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Ticks < last {
			t.Fatalf("event %d at %d, after %d", n, ev.Ticks, last)
		}
		n, last = n+1, ev.Ticks
	}
	if n != cpus*events || r.Loss().Late > 0 {
		t.Errorf("%d events, %d late", n, r.Loss().Late)
	}
}

// TestPackedProcessors reads a small file of many processors whose buffers are large when
// they are unpacked: it takes only the memory of a small file.
func TestPackedProcessors(t *testing.T) {
	const cpus, events = 1000, 130
	f := tracetest.NewETL()
	f.Header.Mode, f.Header.Compression = 0x04000001, 3
	f.Header.BufferSize, f.Header.CPUs = 192<<10, cpus
	for cpu := range uint16(cpus) {
		b := f.Buffer(cpu).Compress()
		for i := range int64(events) {
			b.Event(at(i*10_000+int64(cpu), 1, make([]byte, 1000)...))
		}
	}
	data := f.Bytes()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
	n := 0
	for _, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 || n != cpus*events {
		t.Errorf("%d bytes allocated for %d, %d events", used, len(data), n)
	}
}

// TestBombs reads files of a few kilobytes that claim to be gigabytes, in little
// memory and time.
func TestBombs(t *testing.T) {
	// endless is literals, and then a match that repeats them forever.
	endless := func(literals []byte) (stream []byte) {
		le := binary.LittleEndian
		match := uint16(len(literals)-1)<<3 | 7
		for ; len(literals) >= 32; literals = literals[32:] {
			stream = append(append(stream, 0, 0, 0, 0), literals[:32]...)
		}
		stream = le.AppendUint32(stream, 1<<(31-len(literals)))
		stream = append(stream, literals...)
		stream = le.AppendUint16(stream, match)
		return append(stream, 15, 255, 0, 0, 255, 255, 255, 127)
	}
	e := at(1, 1)
	for _, c := range []struct {
		name   string
		stream []byte
		claim  uint32
	}{
		{"zeros", endless(make([]byte, 8)), 64 << 20},
		{"more zeros than a buffer can have", endless(make([]byte, 8)), 1 << 31},
		{"events", endless(e.Bytes()), 64 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tracetest.NewETL()
			f.Header.Mode, f.Header.Compression = 0x04000001, 3
			for range 500 {
				b := f.Buffer(0).Compress()
				b.Claim, b.Stream = c.claim, c.stream
			}
			data := f.Bytes()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
			for _, err := range r.Events() {
				if err != nil {
					t.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 48<<20 || r.Loss().Damaged == 0 {
				t.Errorf("%d bytes allocated for %d, %+v", used, len(data), r.Loss())
			}
		})
	}
}
