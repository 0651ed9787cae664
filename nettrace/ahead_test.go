package nettrace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/gctrail/gctrail/internal/nettracetest"
	"github.com/gctrail/gctrail/trace"
)

// smallest is the least size of a window: what the framer peeks at has room.
const smallest = 128

var largest = fileWindow.most

// account reads a trace and returns all that is known of it afterwards: a hash of
// its events, the loss, the counts, what Info has, and how it ended.
func account(in io.Reader, opts Options, window int) string {
	r := NewReader(in, opts)
	r.in.in.size = sizes{smallest, max(smallest, window)}
	events, sum := 0, fnv.New64a()
	var failed error
	for ev, err := range r.Events() {
		if err != nil {
			failed = err
			break
		}
		events++
		hashEvent(sum, ev)
	}
	whole, end := r.Whole()
	s := fmt.Sprintf("%d events, hash %x, error %v\nloss %+v\nwhole %d, then %x\n", events, sum.Sum64(), failed, *r.Loss(), whole, end)
	info := *r.Info()
	clock := info.Clock
	info.Clock = nil
	s += fmt.Sprintf("info %+v, clock %+v\n", info, *clock)
	for d, n := range r.Counts() {
		s += fmt.Sprintf("%d of %s %d %q V%d\n", n, d.Provider, d.ID, d.Name, d.Version)
	}
	return s
}

func hashEvent(sum hash.Hash, ev *trace.Event) {
	fmt.Fprintln(sum, ev.Desc.Provider, ev.Desc.ID, ev.Desc.Version, ev.Ticks, ev.PID, ev.TID, ev.CPU, ev.Late, ev.AppendStack(nil))
	if ev.Labels != nil {
		fmt.Fprintln(sum, *ev.Labels)
	}
	sum.Write(ev.Payload)
}

// FuzzAhead reads anything with a goroutine that reads ahead and without one, in
// windows of any size, some events or all: events, their order and the account of
// what was lost are the same.
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
		f.Add(nettracetest.MustAssemble(f, string(text)), uint16(100*i), uint8(i))
	}
	for _, name := range []string{"net10-killed-web.nettrace.gz", "net21-win-x86-objver3.netperf.gz"} {
		f.Add(nettracetest.Gunzip(f, "../testdata/"+name)[:32<<10], uint16(5000), uint8(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, window uint16, want uint8) {
		opts := Options{Stacks: want&1 == 0}
		if want > 1 {
			opts.Want = func(d *trace.Descriptor) bool { return d.ID%uint32(want) == 0 }
		}
		sequential := account(bytes.NewReader(data), opts, largest)
		opts.Ahead = true
		for _, ahead := range []string{
			account(bytes.NewReader(data), opts, largest),
			account(bytes.NewReader(data), opts, int(window)),
			account(iotest.HalfReader(bytes.NewReader(data)), opts, int(window)),
		} {
			if ahead != sequential {
				t.Fatalf("read ahead:\n%s\nwithout:\n%s", ahead, sequential)
			}
		}
	})
}

// TestAheadTraces is FuzzAhead for whole traces, which are then damaged: a byte is
// changed, or some are left out.
func TestAheadTraces(t *testing.T) {
	paths, err := filepath.Glob("../testdata/*.net[tp]*.gz")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, path := range paths {
		data := nettracetest.Gunzip(t, path)
		if len(data) > 512<<10 {
			data = data[:512<<10]
		}
		at := len(data) / 3
		for what, data := range map[string][]byte{
			"as it is": data,
			"changed":  append(append(bytes.Clone(data[:at]), ^data[at]), data[at+1:]...),
			"cut out":  append(bytes.Clone(data[:at]), data[at+1000:]...),
		} {
			sequential := account(bytes.NewReader(data), Options{Stacks: true}, largest)
			for _, window := range []int{5000, largest} {
				opts := Options{Stacks: true, Ahead: true}
				if ahead := account(bytes.NewReader(data), opts, window); ahead != sequential {
					t.Errorf("%s, %s, windows of %d: read ahead:\n%s\nwithout:\n%s", filepath.Base(path), what, window, ahead, sequential)
				}
			}
		}
	}
}

// TestAheadEnds ends reading early, and with an input that fails: no goroutine is
// left, and the error is the input's.
func TestAheadEnds(t *testing.T) {
	data := nettracetest.Gunzip(t, "../testdata/net10-lossy-handles.nettrace.gz")
	r := NewReader(bytes.NewReader(data), Options{Ahead: true})
	for range r.Events() {
		break
	}
	select {
	case <-r.ahead.done:
	default:
		t.Error("the goroutine runs on")
	}
	broken := errors.New("disk gone")
	in := io.MultiReader(bytes.NewReader(data[:len(data)/2]), iotest.ErrReader(broken))
	want := account(in, Options{}, largest)
	in = io.MultiReader(bytes.NewReader(data[:len(data)/2]), iotest.ErrReader(broken))
	if got := account(in, Options{Ahead: true}, largest); got != want || !bytes.Contains([]byte(got), []byte("disk gone")) {
		t.Errorf("read ahead:\n%s\nwithout:\n%s", got, want)
	}
}

// TestAheadMemory reads blocks that are all as large as a block may be: each parcel
// has one buffer for them.
func TestAheadMemory(t *testing.T) {
	const blocks, size = 24, maxBlock - 1
	head := nettracetest.MustAssemble(t, "nettrace v6")
	block := make([]byte, 4+size)
	binary.LittleEndian.PutUint32(block, size|uint32(blockUnknown)<<24)
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
	if got, want := r.in.off, int64(len(head)+blocks*len(block)); got != want {
		t.Fatalf("%d bytes read, want %d", got, want)
	}
	// A buffer is made by doubling.
	if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(parcels*2*maxBlock+4<<20); got > limit {
		t.Errorf("%d bytes allocated, want at most %d", got, limit)
	}
}
