package etw

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// buffersOf returns the buffers of a real trace.
func buffersOf(t testing.TB, name string) (buffers [][]byte) {
	t.Helper()
	data := tracetest.Unzipped(t, "../../testdata/"+name)
	for len(data) > 0 {
		n := min(le.Uint32(data), uint32(len(data)))
		buffers = append(buffers, data[:n:n])
		data = data[n:]
	}
	return buffers
}

var realTraces = []string{"net8-win-x64-gcevents.etl.zip", "netfx452-win-x64-head.etl.zip"}

// A turning is a session whose files a test writes.
type turning struct {
	t       testing.TB
	buffers [][]byte
	path    string // of the file that is written
	written int    // buffers
	chain   *chain
	now     time.Time
}

// turn starts a session with limits that has written the first buffers of a trace.
func turn(t testing.TB, buffers [][]byte, limits Limits) *turning {
	t.Helper()
	f := newRecorder()
	f.first = bytes.Join(buffers[:2], nil)
	s, err := Start(f, &Options{Path: filepath.Join(t.TempDir(), "x.etl"), Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	r := &turning{t: t, buffers: buffers, path: s.path, written: 2, now: time.Now(), chain: newChain(s)}
	f.turned = func(path string) { // the first buffer describes each file
		r.path = path
		r.append(buffers[0])
	}
	if err := r.chain.await(time.Now()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.chain.close() })
	return r
}

func (r *turning) append(b []byte) {
	r.t.Helper()
	f, err := os.OpenFile(r.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(b)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// step writes some more buffers, in two pieces, and has the chain look at the files.
func (r *turning) step(random *rand.Rand, passes time.Duration) {
	r.t.Helper()
	n := min(random.IntN(4), len(r.buffers)-r.written)
	b := bytes.Join(r.buffers[r.written:r.written+n], nil)
	cut := random.IntN(len(b) + 1)
	r.append(b[:cut])
	r.check(false)
	r.append(b[cut:])
	r.written += n
	r.check(true)
	r.now = r.now.Add(passes)
	if err := r.chain.tend(r.now, r.now); err != nil {
		r.t.Fatal(err)
	}
	r.check(true)
}

// joined returns the file that the chain's files are joined to.
func (r *turning) joined(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "joined.etl")
	if err := r.chain.join(path, time.Time{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// check compares the chain's readable part with the trace. The content of removed files
// cannot be read.
func (r *turning) check(complete bool) {
	r.t.Helper()
	want := bytes.Join(r.buffers[:r.written], nil)
	size := r.chain.grow()
	if whole := int64(len(bytes.Join(r.buffers[:min(len(r.buffers), r.written+4)], nil))); size > whole || complete && size != int64(len(want)) {
		r.t.Fatalf("%d bytes, want %d", size, len(want))
	}
	from := r.chain.segments[0].from
	if r.chain.head == nil {
		from = 0
	}
	got := make([]byte, min(size, int64(len(want)))-from)
	if n, err := r.chain.ReadAt(got, from); err != nil || !bytes.Equal(got, want[from:from+int64(n)]) {
		r.t.Fatalf("%d bytes at %d differ: %v", n, from, err)
	}
}

// collectionsIn returns the numbers of the collections of a trace, with a mark behind
// incomplete ones.
func collectionsIn(t testing.TB, r io.ReaderAt, size int64) (numbers []string, info *etl.Reader) {
	t.Helper()
	reader := etl.NewReader(r, size, etl.Options{Want: gc.Wants})
	var m gc.Model
	for c, err := range m.Collections(reader) {
		if err != nil {
			t.Fatal(err)
		}
		mark := ""
		if !c.Complete {
			mark = "?"
		}
		numbers = append(numbers, fmt.Sprint(c.Process.PID, " ", c.Number, mark))
	}
	return numbers, reader
}

// TestChain writes traces to several files in 60 ways. Reading the chain, and the joined
// file, gives the trace.
func TestChain(t *testing.T) {
	for _, name := range realTraces {
		buffers := buffersOf(t, name)
		all := bytes.Join(buffers, nil)
		want, whole := collectionsIn(t, bytes.NewReader(all), int64(len(all)))
		files := 0
		for way := range extent.Pick(5, 30, 300) {
			random := rand.New(rand.NewPCG(uint64(way), 5))
			r := turn(t, buffers, Limits{Time: 24 * time.Hour})
			r.chain.hold(r.now)
			for r.written < len(buffers) {
				r.step(random, time.Duration(random.IntN(4))*time.Hour)
			}
			files = max(files, len(r.chain.segments))
			if err := r.chain.finish(); err != nil {
				t.Fatal(err)
			}
			if got, _ := collectionsIn(t, r.chain, r.chain.grow()); !slices.Equal(got, want) {
				t.Fatalf("%s, way %d: %q, want %q", name, way, got, want)
			}
			joined := filepath.Join(t.TempDir(), "joined.etl")
			if err := r.chain.join(joined, time.Time{}); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(joined)
			if err != nil {
				t.Fatal(err)
			}
			got, one := collectionsIn(t, bytes.NewReader(data), int64(len(data)))
			if !slices.Equal(got, want) || !one.Info().Start.Equal(whole.Info().Start) || one.Loss().Truncated != whole.Loss().Truncated {
				t.Fatalf("%s, way %d: joined %q, want %q", name, way, got, want)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(r.path), "*")); len(left) > 0 {
				t.Fatalf("left: %q", left)
			}
		}
		if files < 2 {
			t.Errorf("%s: %d files", name, files)
		}
	}
}

// TestChainDrops: files that exceed the limit of time are removed, unless they are
// held, and the rest is a trace that begins later.
func TestChainDrops(t *testing.T) {
	buffers := buffersOf(t, realTraces[1])
	all := bytes.Join(buffers, nil)
	want, whole := collectionsIn(t, bytes.NewReader(all), int64(len(all)))
	for _, held := range []bool{false, true} {
		r := turn(t, buffers, Limits{Time: 32 * time.Second})
		if held {
			r.chain.hold(r.now)
		}
		random := rand.New(rand.NewPCG(1, 6))
		for r.written < len(buffers) {
			r.step(random, 9*time.Second)
		}
		if r.chain.dropped == held {
			t.Fatalf("dropped %t, held %t", r.chain.dropped, held)
		}
		if most := 32/9 + 3; !held && len(r.chain.segments) > most {
			t.Errorf("%d segments of 9 s, want %d at most for 32 s", len(r.chain.segments), most)
		}
		if err := r.chain.finish(); err != nil {
			t.Fatal(err)
		}
		r.path = filepath.Join(t.TempDir(), "joined.etl")
		if err := r.chain.join(r.path, time.Time{}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(r.path)
		if err != nil {
			t.Fatal(err)
		}
		got, rest := collectionsIn(t, bytes.NewReader(data), int64(len(data)))
		if held {
			if !slices.Equal(got, want) {
				t.Errorf("held: %q, want %q", got, want)
			}
			continue
		}
		// Except for collections that were under way, the last ones are unchanged.
		underWay := func(s string) bool { return strings.HasSuffix(s, "?") }
		got, want := slices.DeleteFunc(got, underWay), slices.DeleteFunc(slices.Clone(want), underWay)
		if len(got) == 0 || len(got) >= len(want) || !slices.Equal(got, want[len(want)-len(got):]) {
			t.Errorf("%q of %q", got, want)
		}
		if later := rest.Info().Start.Sub(whole.Info().Start); later <= 0 || rest.Info().Last >= whole.Info().Last {
			t.Errorf("it begins %v later, and ends after %v instead of %v", later, rest.Info().Last, whole.Info().Last)
		}
	}
}

// TestChainTrimmed: wherever the first files are removed, the rest is a trace without
// damage. It begins no later than any event, which can be in a later file or the first
// buffer.
func TestChainTrimmed(t *testing.T) {
	for _, name := range realTraces {
		buffers := buffersOf(t, name)
		for way := range 10 {
			random := rand.New(rand.NewPCG(uint64(way), 6))
			r := turn(t, buffers, Limits{Time: 24 * time.Hour})
			for r.written < len(buffers) {
				r.step(random, 2*time.Hour)
			}
			if err := r.chain.finish(); err != nil {
				t.Fatal(err)
			}
			for range 1 + random.IntN(len(r.chain.segments)-1) {
				r.chain.dropFirst()
			}
			data := r.joined(t)
			if _, rest := collectionsIn(t, bytes.NewReader(data), int64(len(data))); rest.Loss().Damaged > 0 {
				t.Errorf("%s, way %d: %v", name, way, rest.Loss().Damage[0])
			}
		}
	}
}

// TestChainSize checks that a chain stays within its limit of size, and reports the
// removed part.
func TestChainSize(t *testing.T) {
	buffers := buffersOf(t, realTraces[1])
	for range 40 {
		buffers = append(buffers, buffers[len(buffers)-1])
	}
	r := turn(t, buffers, Limits{Size: 1})
	random := rand.New(rand.NewPCG(1, 7))
	for r.written < len(buffers) {
		r.step(random, time.Minute)
	}
	if n := len(r.chain.segments); n != 1 && n != 2 {
		t.Errorf("%d segments", n)
	}
	if !r.chain.cut && r.chain.dropped {
		t.Error("it is not told that the limit of size was exceeded")
	}
}

// TestSwitch compares the calls that make a session continue in another file. A system
// session keeps its events, and a session that cannot continue is reported.
func TestSwitch(t *testing.T) {
	f := newRecorder()
	f.first = bytes.Join(buffersOf(t, realTraces[0]), nil)
	f.turned = func(path string) {
		if err := os.WriteFile(path, f.first, 0o600); err != nil {
			t.Error(err)
		}
	}
	s, err := StartKernel(f, filepath.Join(t.TempDir(), "x.kernel.etl"), Limits{Time: time.Minute}, true)
	if err != nil {
		t.Fatal(err)
	}
	c := newChain(s)
	if err := c.await(time.Now()); err != nil {
		t.Fatal(err)
	}
	defer c.close()
	c.grow()
	f.calls = nil
	if err := c.tend(time.Now().Add(time.Minute), time.Now()); err != nil {
		t.Fatal(err)
	}
	want := []string{"ControlTrace 0x101 " + s.name + " code 2", "  to x.kernel.ring-0002.etl, flags 0x20000, session flags 0x5"}
	if !slices.Equal(f.calls, want) {
		t.Errorf("%q, want %q", f.calls, want)
	}
	c.grow()
	f.fail["Update"] = StatusDenied
	if err := c.tend(time.Now().Add(time.Hour), time.Now()); !errors.Is(err, StatusDenied) {
		t.Error(err)
	}
	c.discard()
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(s.path), "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
