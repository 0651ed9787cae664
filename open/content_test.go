package open_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
)

// count reads a trace to its end, and returns how many events it has.
func count(t *testing.T, in *open.Input) int {
	t.Helper()
	n := 0
	for _, err := range in.Source.Events() {
		if err != nil {
			t.Fatalf("%s: %v", in.Name, err)
		}
		n++
	}
	return n
}

// contentOf returns a file of testdata as a Content.
func contentOf(t *testing.T, path string) open.Content {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return open.Content{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Name: path}
}

// TestContents: contents have the events of the same files, and make no files where Memory
// is given.
func TestContents(t *testing.T) {
	paths, err := filepath.Glob("../testdata/*.[net]*z*")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d traces, %v", len(paths), err)
	}
	want := map[string]int{}
	for _, path := range paths {
		in, err := open.File(path, open.Options{})
		if err != nil {
			continue // a heap snapshot
		}
		want[path] = count(t, in)
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("TMPDIR", none)
	t.Setenv("TMP", none)
	for path, n := range want {
		in, err := open.Contents([]open.Content{contentOf(t, path)}, open.Options{Scratch: open.Memory(64 << 20)})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got := count(t, in); got != n || in.BytesRead() == 0 {
			t.Errorf("%s: %d events of %d bytes, want %d", path, got, in.BytesRead(), n)
		}
		again, err := in.Reopen()
		if err != nil {
			t.Fatal(err)
		}
		if got := count(t, again); got != n {
			t.Errorf("%s: %d events when it is read again, want %d", path, got, n)
		}
		if err := errors.Join(again.Close(), in.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestNothing: a trace of no files and of no contents has no events.
func TestNothing(t *testing.T) {
	for _, open := range []func() (*open.Input, error){
		func() (*open.Input, error) { return open.Files(nil, open.Options{}) },
		func() (*open.Input, error) { return open.Contents(nil, open.Options{}) },
	} {
		in, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if n := count(t, in); n != 0 {
			t.Errorf("%d events", n)
		}
		in.Close()
	}
}

// TestContentsMerged: several contents are on one time line, as several files are.
func TestContentsMerged(t *testing.T) {
	paths := []string{"../testdata/net10-wks-web-collect.nettrace.gz", "../testdata/net8-win-x64-gcevents.etl.zip"}
	in, err := open.Files(paths, open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	want := count(t, in)
	both, err := open.Contents([]open.Content{contentOf(t, paths[0]), contentOf(t, paths[1])}, open.Options{Scratch: open.Memory(64 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	if got := count(t, both); got != want || both.Name != strings.Join(paths, " + ") {
		t.Errorf("%s: %d events, want %d", both.Name, got, want)
	}
}

// TestMemory writes to a scratch in pieces, and reads it in places.
func TestMemory(t *testing.T) {
	data := make([]byte, 3<<20+17)
	for i := range data {
		data[i] = byte(i >> 8 * (i >> 13))
	}
	scratch := open.Memory(1 << 20)
	s, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range [][]byte{data[:1], data[1:200_000], data[200_000:]} {
		if n, err := s.Write(piece); n != len(piece) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	step := 997
	if !extent.All() {
		step = 99_991
	}
	for off := 0; off < len(data); off += step {
		p := make([]byte, min(300_000, len(data)-off))
		if n, err := s.ReadAt(p, int64(off)); n != len(p) || err != nil || !bytes.Equal(p, data[off:off+len(p)]) {
			t.Fatalf("at %d: %d bytes, %v", off, n, err)
		}
	}
	if n, err := s.ReadAt(make([]byte, 10), int64(len(data)-3)); n != 3 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestMemoryLimit: memory beyond the limit is refused, and can be used again once it is given back.
func TestMemoryLimit(t *testing.T) {
	noise, x := make([]byte, 400<<10), uint32(1)
	for i := range noise {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	scratch := open.Memory(1 << 20)
	first, _ := scratch()
	second, _ := scratch()
	if _, err := first.Write(append(noise, noise...)); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Write(append(noise, noise...)); err == nil || !strings.Contains(err.Error(), "more than 1 MiB") {
		t.Errorf("more than the limit: %v", err)
	}
	if err := errors.Join(first.Close(), second.Close()); err != nil {
		t.Error(err)
	}
	third, _ := scratch()
	if _, err := third.Write(append(noise, noise...)); err != nil {
		t.Errorf("what was given back: %v", err)
	}
}
