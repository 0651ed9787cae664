package nettrace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// smallest is the size of the smallest window that has room for the framer's peek.
const smallest = 128

var largest = eventpipe.FileWindow.Most

// A way is how a trace is read: all lead to the same.
type way struct {
	careful bool // with readEvents only
	ahead   bool
	walkers int
	window  int
	runs    bool // events of any kind come in runs
}

// inTurn reads one block after the other, and treats each event as unusual.
var inTurn = way{careful: true, window: largest}

// account reads a trace and returns everything known of it afterwards: a hash of its
// events, the loss, the counts, its Info, and how it ended.
func (w way) account(in io.Reader, opts Options) string {
	opts.Ahead = w.ahead
	if w.runs {
		opts.Runs = func(*trace.Descriptor) bool { return true }
	}
	r := NewReader(in, opts)
	r.careful, r.walkers = w.careful, w.walkers
	r.in = eventpipe.NewFramer(in, eventpipe.WindowSizes{Least: smallest, Most: max(smallest, w.window)})
	events, sum := 0, fnv.New64a()
	var b []byte
	var failed error
	for ev, err := range r.Events() {
		if err != nil {
			failed = err
			break
		}
		for ev := range eventsOf(ev) {
			events++
			b = appendEvent(b[:0], ev)
			_, _ = sum.Write(b)
		}
	}
	whole, end := r.Whole()
	type fields trace.Loss // all of them: String leaves some out
	s := fmt.Sprintf("%d events, hash %x, error %v\nloss %+v\nwhole %d, then %x\n", events, sum.Sum64(), failed, fields(*r.Loss()), whole, end)
	info := *r.Info()
	clock := info.Clock
	info.Clock = nil
	s += fmt.Sprintf("info %+v, clock %+v\n", info, *clock)
	for d, n := range r.Counts() {
		s += fmt.Sprintf("%d of %s %d %q V%d\n", n, d.Provider, d.ID, d.Name, d.Version)
	}
	return s
}

// eventsOf yields the events that an event is, one by one.
func eventsOf(ev *trace.Event) iter.Seq[*trace.Event] {
	return func(yield func(*trace.Event) bool) {
		if ev.Run == nil {
			yield(ev)
			return
		}
		for i := range ev.Run.Records {
			rec, one := &ev.Run.Records[i], *ev
			one.Desc, one.Ticks, one.Payload = ev.Run.Descs[rec.Desc], rec.Ticks, rec.Payload(ev.Run.Bytes)
			if !yield(&one) {
				return
			}
		}
	}
}

// compare reads a trace in other ways than in turn.
func compare(t *testing.T, name string, data []byte, opts Options, window int) {
	t.Helper()
	want := inTurn.account(bytes.NewReader(data), opts)
	for _, w := range []way{
		{window: largest},
		{ahead: true, window: largest},
		{ahead: true, walkers: 2, window: largest},
		{ahead: true, walkers: 1, window: window},
		{runs: true, careful: true, window: largest},
		{runs: true, ahead: true, walkers: 1, window: window},
	} {
		if got := w.account(bytes.NewReader(data), opts); got != want {
			t.Fatalf("%s, read with %+v:\n%s\nin turn:\n%s", name, w, got, want)
		}
	}
	w := way{ahead: true, walkers: 1, window: window}
	if got := w.account(iotest.HalfReader(bytes.NewReader(data)), opts); got != want {
		t.Fatalf("%s, read by halves with %+v:\n%s\nin turn:\n%s", name, w, got, want)
	}
}

// appendEvent appends everything of an event that is compared.
func appendEvent(b []byte, ev *trace.Event) []byte {
	b = append(b, ev.Desc.Provider...)
	for _, n := range []uint64{0, uint64(ev.Desc.ID), uint64(ev.Desc.Version), uint64(ev.Ticks), ev.PID, ev.TID, uint64(ev.CPU)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = strconv.AppendBool(b, ev.Late)
	stack := ev.AppendStack(nil)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(stack)))
	for _, address := range stack {
		b = binary.LittleEndian.AppendUint64(b, address)
	}
	if ev.Labels != nil {
		b = fmt.Appendln(b, *ev.Labels)
	}
	return append(b, ev.Payload...)
}

// FuzzAhead reads anything in turn, and then with walkers and goroutines that read ahead,
// in windows of any size, some events or all. Events, their order and the account of loss
// must be the same.
func FuzzAhead(f *testing.F) {
	texts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(texts) == 0 {
		f.Fatalf("no assembled traces: %v", err)
	}
	for i, path := range texts {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		text, _, _ = bytes.Cut(text, []byte("\n-- want --\n"))
		for want := range uint8(3) {
			f.Add(tracetest.MustNettrace(f, string(text)), uint16(100*i), want)
		}
	}
	for _, name := range []string{"net10-killed-web.nettrace.gz", "net21-win-x86-objver3.netperf.gz"} {
		f.Add(tracetest.Gunzip(f, "../testdata/"+name)[:32<<10], uint16(5000), uint8(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, window uint16, want uint8) {
		opts := Options{Stacks: want&1 == 0}
		if want > 1 {
			opts.Want = func(d *trace.Descriptor) bool { return d.ID%uint32(want) == 0 }
		}
		compare(t, "fuzz", data, opts, int(window))
	})
}

// TestAheadTraces is FuzzAhead for whole traces, whose beginnings are then damaged: a
// byte is changed, or several are left out.
func TestAheadTraces(t *testing.T) {
	paths, err := filepath.Glob("../testdata/*.net[tp]*.gz")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, path := range paths {
		if !extent.Sampled(path, 2) {
			continue
		}
		name := filepath.Base(path)
		data := tracetest.Gunzip(t, path)
		compare(t, name, data[:min(len(data), 512<<10)], Options{Stacks: true}, 5000)
		data = data[:min(len(data), 64<<10)]
		for range extent.Pick(3, 10, 10) {
			at := 200 + random.IntN(len(data)-200)
			changed := bytes.Clone(data)
			changed[at] ^= 1 << random.IntN(8)
			some := Options{Want: func(d *trace.Descriptor) bool { return d.ID%3 == 0 }}
			compare(t, fmt.Sprintf("%s, byte %d changed", name, at), changed, some, 5000)
			cut := append(bytes.Clone(data[:at]), data[min(len(data), at+random.IntN(1000)):]...)
			compare(t, fmt.Sprintf("%s, cut at %d", name, at), cut, Options{}, 5000)
		}
	}
}

// TestWalks checks that walkers walk nearly all blocks of real traces.
func TestWalks(t *testing.T) {
	for _, path := range []string{"net10-lossy-handles", "net10-wks-pin-collect", "net10-wks-stacks", "net9-srv-datas-web-collect"} {
		in := bytes.NewReader(tracetest.Gunzip(t, "../testdata/"+path+".nettrace.gz"))
		r := NewReader(in, Options{Want: func(d *trace.Descriptor) bool { return d.ID < 10 }})
		if err := r.open(); err != nil {
			t.Fatal(err)
		}
		var b walkedBlock
		blocks, walked := 0, 0
		for r.next(&b) == nil && b.Kind != eventpipe.BlockEnd {
			if b.Kind == eventpipe.BlockEvents && r.anchored {
				blocks++
				if r.walked(&b) {
					walked++
					continue
				}
			}
			if err := r.take(&b); err != nil {
				t.Error(err)
			}
		}
		if blocks == 0 || walked < blocks*9/10 {
			t.Errorf("%s: %d of %d event blocks walked", path, walked, blocks)
		}
	}
}

// TestRuns checks that events come in runs, of the kinds that may, where a thread raises many.
func TestRuns(t *testing.T) {
	data := tracetest.Gunzip(t, "../testdata/net10-lossy-handles.nettrace.gz")
	const set, destroy = 30, 31
	inRuns := func(d *trace.Descriptor) bool { return d.ID == set || d.ID == destroy }
	yields, handles := 0, 0
	for ev, err := range NewReader(bytes.NewReader(data), Options{Runs: inRuns}).Events() {
		if err != nil {
			t.Fatal(err)
		}
		if !inRuns(ev.Desc) {
			if ev.Run != nil {
				t.Fatalf("a run begins with event %d", ev.Desc.ID)
			}
			continue
		}
		yields++
		for one := range eventsOf(ev) {
			if handles++; !inRuns(one.Desc) {
				t.Fatalf("event %d in a run", one.Desc.ID)
			}
		}
		if clone := ev.Clone(); clone.Run != nil || clone.Ticks != ev.Ticks {
			t.Fatal("a clone is not of the first event")
		}
	}
	if yields == 0 || handles < 10*yields {
		t.Errorf("%d events in %d runs", handles, yields)
	}
}

// TestAheadEnds ends reading early, and with an input that fails: no goroutine is
// left, and the error is the input's.
func TestAheadEnds(t *testing.T) {
	data := tracetest.Gunzip(t, "../testdata/net10-lossy-handles.nettrace.gz")
	r := NewReader(bytes.NewReader(data), Options{Ahead: true})
	for range r.Events() {
		break
	}
	r.ahead.tasks.Wait()
	broken := errors.New("disk gone")
	half := func() io.Reader {
		return io.MultiReader(bytes.NewReader(data[:len(data)/2]), iotest.ErrReader(broken))
	}
	want := inTurn.account(half(), Options{})
	if got := (way{ahead: true, walkers: 1, window: largest}).account(half(), Options{}); got != want || !strings.Contains(got, "disk gone") {
		t.Errorf("read ahead:\n%s\nin turn:\n%s", got, want)
	}
}

// TestAheadMemory reads blocks of the largest size: each parcel has one buffer for them.
func TestAheadMemory(t *testing.T) {
	const blocks, size = 24, eventpipe.MaxBlock - 1
	head := tracetest.MustNettrace(t, "nettrace v6")
	block := make([]byte, 4+size)
	binary.LittleEndian.PutUint32(block, size|uint32(eventpipe.BlockUnknown)<<24)
	in := []io.Reader{bytes.NewReader(head)}
	for range blocks {
		in = append(in, bytes.NewReader(block))
	}
	r := NewReader(io.MultiReader(in...), Options{Ahead: true})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if got, want := r.in.Off, int64(len(head)+blocks*len(block)); got != want {
		t.Fatalf("%d bytes read, want %d", got, want)
	}
	// A buffer is made by doubling.
	if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(maxLarge*2*eventpipe.MaxBlock+4<<20); got > limit {
		t.Errorf("%d bytes allocated, want at most %d", got, limit)
	}
}
