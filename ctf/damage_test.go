package ctf_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/trace"
)

// realTraces returns the real traces of testdata by name, unpacked.
func realTraces(t testing.TB) map[string]fstest.MapFS {
	t.Helper()
	paths, err := filepath.Glob("../testdata/*.trace.zip")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	traces := map[string]fstest.MapFS{}
	for _, p := range paths {
		z, err := zip.OpenReader(p)
		if err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{}
		for _, f := range z.File {
			if strings.HasSuffix(f.Name, "/") {
				continue
			}
			b, err := fs.ReadFile(z, f.Name)
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name] = &fstest.MapFile{Data: b, Mode: 0o644}
		}
		z.Close()
		traces[strings.TrimSuffix(filepath.Base(p), ".trace.zip")] = files
	}
	return traces
}

// A result summarizes a read trace for the damage tests.
type result struct {
	last   time.Duration
	events int
	loss   trace.Loss
	err    error
}

// read reads a trace, and checks the contract of trace.Source.
func read(t *testing.T, files fs.FS) result {
	t.Helper()
	r, err := ctf.Open(files, ctf.Options{Resolve: clr.Tracepoint})
	if err != nil {
		return result{err: err}
	}
	var got result
	last := int64(-1 << 63)
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		got.events++
		if ev.Ticks < last && !ev.Late {
			t.Fatalf("event %d at %d after %d", got.events, ev.Ticks, last)
		}
		last = max(last, ev.Ticks)
	}
	got.loss, got.last = *r.Loss(), r.Info().Last
	var counted uint64
	for _, n := range r.Counts() {
		counted += n
	}
	if counted != uint64(got.events) {
		t.Fatalf("%d events, %d counted", got.events, counted)
	}
	if got.loss.Settled != 1<<63-1 {
		t.Fatalf("settled up to %v at the end", got.loss.Settled)
	}
	return got
}

// streams returns the names of the files with packets.
func streams(files fstest.MapFS) []string {
	var names []string
	for name := range files {
		if base := path.Base(name); base != "metadata" && !strings.HasSuffix(base, ".idx") && !strings.HasSuffix(base, ".log") {
			names = append(names, name)
		}
	}
	return names
}

func with(files fstest.MapFS, name string, data []byte) fstest.MapFS {
	damaged := fstest.MapFS{}
	for n, f := range files {
		damaged[n] = f
	}
	damaged[name] = &fstest.MapFile{Data: data, Mode: 0o644}
	return damaged
}

// A trace that is cut ends early, and says so.
func TestTruncated(t *testing.T) {
	for name, files := range realTraces(t) {
		whole := read(t, files)
		for _, stream := range streams(files) {
			data := files[stream].Data
			if len(data) == 0 {
				continue
			}
			random := rand.New(rand.NewPCG(1, uint64(len(data))))
			for range extent.Pick(5, 12, 500) {
				n := random.IntN(len(data))
				got := read(t, with(files, stream, data[:n]))
				switch {
				case got.err != nil:
					t.Errorf("%s: %s cut at %d: %v", name, stream, n, got.err)
				case got.events > whole.events:
					t.Errorf("%s: %s cut at %d: %d events of %d", name, stream, n, got.events, whole.events)
				case got.events < whole.events && n%4096 != 0 && !got.loss.Truncated && got.loss.Damaged == 0:
					t.Errorf("%s: %s cut at %d: %d events of %d, nothing missing", name, stream, n, got.events, whole.events)
				}
			}
		}
	}
}

// A flipped bit does no harm beyond what it touches.
func TestFlipped(t *testing.T) {
	for name, files := range realTraces(t) {
		whole := read(t, files)
		for file := range files {
			data := files[file].Data
			if len(data) == 0 || strings.HasSuffix(file, ".idx") || strings.HasSuffix(file, ".log") {
				continue
			}
			random := rand.New(rand.NewPCG(2, uint64(len(data))))
			for range extent.Pick(5, 12, 500) {
				bit := random.IntN(8 * len(data))
				damaged := bytes.Clone(data)
				damaged[bit/8] ^= 1 << (bit % 8)
				got := read(t, with(files, file, damaged))
				if path.Base(file) == "metadata" {
					continue // any of it may be unreadable
				}
				if got.err != nil {
					t.Errorf("%s: %s bit %d: %v", name, file, bit, got.err)
				}
				if got.events > whole.events+whole.events/10 {
					t.Errorf("%s: %s bit %d: %d events of %d", name, file, bit, got.events, whole.events)
				}
			}
		}
	}
}

// TestBombs: sizes that claim to be huge take little memory and little time.
func TestBombs(t *testing.T) {
	const head = "trace { major = 1; minor = 8; byte_order = le; };\n" +
		"typealias integer { size = 8; align = 8; } := u8;\n" +
		"typealias integer { size = 64; align = 8; } := u64;\n" +
		"stream { packet.context := struct { u64 content_size; u64 packet_size; }; event.header := struct { u8 id; }; };\n"
	packet := func(content, size uint64, payload ...byte) []byte {
		var b []byte
		for _, v := range []uint64{content, size} {
			for i := range 8 {
				b = append(b, byte(v>>(8*i)))
			}
		}
		return append(b, payload...)
	}
	huge := bytes.Repeat([]byte{0xff}, 8)
	var nested strings.Builder
	nested.WriteString("struct s0 { u8 a; };\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&nested, "struct s%d { struct s%d a; struct s%d b; };\n", i, i-1, i-1)
	}
	for _, c := range []struct {
		name, fields string
		before       string
		data         []byte
	}{
		{"packet of exabytes", "u8 a;", "", packet(1<<62, 1<<62, bytes.Repeat([]byte{0, 1}, 1000)...)},
		{"packets without events", "u8 a;", "", bytes.Repeat(packet(128, 128), 100_000)},
		{"sequence of exabytes", "u64 n; u8 a[n];", "", packet(8192, 8192, append([]byte{0}, huge...)...)},
		{"sequence of nothing", "u64 n; struct { } a[n];", "", packet(8192, 8192, append(append([]byte{0}, huge...), make([]byte, 1000)...)...)},
		{"array of arrays of nothing", "struct { } a[1000000000][1000000000];", "", packet(8192, 8192, make([]byte, 1008)...)},
		{"array of exabytes", "u8 a[0xffffffffffffffff];", "", packet(8192, 8192, make([]byte, 1008)...)},
		{"sequence of bits", "u64 n; integer { size = 1; align = 1; } a[n];", "", packet(8192, 8192, append([]byte{0}, huge...)...)},
		{"types made of types", "struct s29 a;", nested.String(), packet(8192, 8192, make([]byte, 1008)...)},
		{"string without an end", "string s;", "", packet(1<<40, 1<<40, bytes.Repeat([]byte{1}, 8<<20)...)},
	} {
		files := fstest.MapFS{
			"metadata": {Data: []byte(head + c.before + "event { name = \"my:event\"; id = 0; fields := struct { " + c.fields + " }; };\n")},
			"stream":   {Data: c.data},
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := read(t, files)
		runtime.ReadMemStats(&after)
		if got.err != nil {
			t.Errorf("%s: %v", c.name, got.err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 40<<20 {
			t.Errorf("%s: %d MiB allocated", c.name, n>>20)
		}
	}
}
