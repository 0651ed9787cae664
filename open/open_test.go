package open_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"

	"github.com/gctrail/gctrail/open"
)

const web = "../testdata/net10-wks-web-collect.nettrace.gz"

// A digest identifies a trace by every event's kind, time, thread and payload.
type digest struct {
	events int
	sum    uint64
	damage int
	cut    bool
}

func read(t *testing.T, in *open.Input) digest {
	t.Helper()
	var d digest
	h := fnv.New64a()
	for ev, err := range in.Source.Events() {
		if err != nil {
			t.Fatalf("%s: event %d: %v", in.Name, d.events, err)
		}
		d.events++
		io.WriteString(h, ev.Desc.Provider)
		h.Write([]byte{byte(ev.Desc.ID), byte(ev.Desc.Version), byte(ev.Ticks), byte(ev.Ticks >> 8), byte(ev.TID)})
		h.Write(ev.Payload)
	}
	d.sum = h.Sum64()
	d.damage, d.cut = in.Source.Loss().Damaged, in.Source.Loss().Truncated
	return d
}

// plain returns the trace in web without its wrapping.
func plain(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(web)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	b, err = io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func gzipped(b []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	z.Write(b)
	z.Close()
	return buf.Bytes()
}

func zstded(b []byte, opts ...zstd.EOption) []byte {
	var buf bytes.Buffer
	z, err := zstd.NewWriter(&buf, opts...)
	if err != nil {
		panic(err)
	}
	z.Write(b)
	z.Close()
	return buf.Bytes()
}

// A member is an entry of an archive.
type member struct {
	name string
	data []byte
}

func zipped(members ...member) []byte { return zippedBy(zip.Deflate, members...) }

func zippedBy(method uint16, members ...member) []byte {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	z.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
	for _, m := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: method})
		if err != nil {
			panic(err)
		}
		w.Write(m.data)
	}
	z.Close()
	return buf.Bytes()
}

func tarred(name string, b []byte) []byte {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	w.WriteHeader(&tar.Header{Name: name, Size: int64(len(b)), Mode: 0o644})
	w.Write(b)
	w.Close()
	return buf.Bytes()
}

// write puts data into a file of its own, called name, and returns its path.
func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWrappings(t *testing.T) {
	bare := plain(t)
	in, err := open.Reader(bytes.NewReader(bare), "bare", open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, in)
	if want.events != 7100 || want.damage != 0 || want.cut {
		t.Fatalf("bare: %+v", want)
	}

	text := member{"app/notes.txt", []byte("measured on the second of May")}
	for _, c := range []struct {
		name, compression string
		data              []byte
	}{
		{"bare", "", bare},
		{"gzip", "gzip", gzipped(bare)},
		{"gzip in two members", "gzip", append(gzipped(bare[:100_000]), gzipped(bare[100_000:])...)},
		{"zstd", "zstd", zstded(bare)},
		{"zstd after a skippable frame", "zstd", append([]byte("\x50\x2a\x4d\x18\x02\x00\x00\x00ab"), zstded(bare)...)},
		{"zip", "zip:a.nettrace", zipped(member{"a.nettrace", bare})},
		{"zip, stored", "zip:a.nettrace", zippedBy(zip.Store, member{"a.nettrace", bare})},
		{"zip, by zstd", "zip:a.nettrace", zippedBy(zstd.ZipMethodWinZip, member{"a.nettrace", bare})},
		{"zip with other things", "zip:app/trace", zipped(member{"app/", nil}, text, member{"app/trace", bare})},
		{"gzip in zip", "zip:a.gz+gzip", zipped(text, member{"a.gz", gzipped(bare)})},
		{"zip in gzip", "gzip+zip:a", gzipped(zipped(member{"a", bare}))},
		{"gzip in zstd", "zstd+gzip", zstded(gzipped(bare))},
	} {
		t.Run(c.name, func(t *testing.T) {
			open1 := func() (*open.Input, error) { return open.File(write(t, "misnamed.txt", c.data), open.Options{}) }
			open2 := func() (*open.Input, error) {
				return open.Reader(io.MultiReader(bytes.NewReader(c.data)), "stream", open.Options{})
			}
			for i, f := range []func() (*open.Input, error){open1, open2} {
				in, err := f()
				if err != nil {
					t.Fatal(err)
				}
				if got := read(t, in); got != want {
					t.Errorf("%s: %+v, want %+v", in.Name, got, want)
				}
				if in.Compression != c.compression {
					t.Errorf("%s: compression %q, want %q", in.Name, in.Compression, c.compression)
				}
				if size := []int64{int64(len(c.data)), 0}[i]; in.Size != size {
					t.Errorf("%s: size %d, want %d", in.Name, in.Size, size)
				}
				if n := in.BytesRead(); n == 0 || n > int64(len(c.data)) || n < int64(len(c.data))*3/4 {
					t.Errorf("%s: %d of %d bytes read", in.Name, n, len(c.data))
				}
				if err := in.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestNetperf(t *testing.T) {
	in, err := open.File("../testdata/net21-win-x86-objver3.netperf.gz", open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if d := read(t, in); d.events == 0 {
		t.Error("no events")
	}
	if got := in.Source.Info().Format; got != "netperf V3" {
		t.Errorf("format %q", got)
	}
}

func TestReopen(t *testing.T) {
	in, err := open.File(web, open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first := read(t, in)
	again, err := in.Reopen()
	if err != nil {
		t.Fatal(err)
	}
	if second := read(t, again); second != first {
		t.Errorf("%+v, then %+v", first, second)
	}
	if err := errors.Join(in.Close(), again.Close()); err != nil {
		t.Error(err)
	}

	in, err = open.Reader(bytes.NewReader(plain(t)), "standard input", open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Reopen(); !errors.Is(err, open.ErrOnce) || err.Error() != "standard input can be read only once" {
		t.Errorf("reopen of a stream: %v", err)
	}
}

// TestDamagedStream: a compressed stream that is truncated or damaged is a trace that
// ends early.
func TestDamagedStream(t *testing.T) {
	bare := plain(t)
	for name, data := range map[string][]byte{"gzip": gzipped(bare), "zstd": zstded(bare), "zip": zipped(member{"a", bare})} {
		for _, at := range []int{len(data) / 4, len(data) / 2} {
			flipped := bytes.Clone(data)
			for i := range 64 {
				flipped[at+i] ^= 0x55
			}
			broken := map[string][]byte{"flipped": flipped}
			if name != "zip" { // whose directory is at its end
				broken["cut"] = data[:at]
			}
			for how, b := range broken {
				in, err := open.Reader(bytes.NewReader(b), name+" "+how, open.Options{})
				if err != nil {
					t.Errorf("%s, %s at %d: %v", name, how, at, err)
					continue
				}
				if d := read(t, in); d.events == 0 && d.damage == 0 || !d.cut {
					t.Errorf("%s, %s at %d: %+v", name, how, at, d)
				}
				in.Close()
			}
		}
	}
}

func TestNoSuchFile(t *testing.T) {
	_, err := open.File("no/such/file", open.Options{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestFailingReader(t *testing.T) {
	broken := errors.New("line went dead")
	_, err := open.Reader(io.MultiReader(errReader{broken}), "standard input", open.Options{})
	if !errors.Is(err, broken) || err.Error() != "open standard input: line went dead" {
		t.Error(err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// FuzzReader accepts only an error that names the input, or a trace that can be read to
// its end, whatever the bytes.
func FuzzReader(f *testing.F) {
	head := plain(f)[:4096]
	for _, b := range [][]byte{
		head, gzipped(head), zstded(head), zipped(member{"a", head}, member{"b", []byte("text")}),
		gzipped(zipped(member{"a", zstded(head)})), tarred("a", head), []byte("text"),
		{},
		[]byte(etl()),
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := open.Reader(bytes.NewReader(b), "fuzz", open.Options{})
		if err != nil {
			if in != nil || !strings.HasPrefix(strings.TrimPrefix(err.Error(), "open "), "fuzz: ") {
				t.Errorf("%v: %v", in, err)
			}
			return
		}
		for ev, err := range in.Source.Events() {
			if (ev == nil) != (err != nil) {
				t.Fatalf("event %v with error %v", ev, err)
			}
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
}
