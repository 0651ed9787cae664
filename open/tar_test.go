package open_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// tarOf returns the files of a zip as a tar archive, behind entries that do not belong to
// a trace.
func tarOf(t *testing.T, from string) []byte {
	t.Helper()
	z, err := zip.OpenReader(from)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	put := func(h *tar.Header, data []byte) {
		h.Size, h.Mode = int64(len(data)), 0o600
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	put(&tar.Header{Name: "../outside/metadata", Typeflag: tar.TypeReg}, []byte("x"))
	put(&tar.Header{Name: "/etc/metadata", Typeflag: tar.TypeReg}, []byte("x"))
	put(&tar.Header{Name: "link/metadata", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}, nil)
	put(&tar.Header{Name: "hard/metadata", Linkname: "/etc/passwd", Typeflag: tar.TypeLink}, nil)
	put(&tar.Header{Name: "pipe", Typeflag: tar.TypeFifo}, nil)
	slices.SortStableFunc(z.File, func(a, b *zip.File) int { // metadata first
		return strings.Compare(path.Base(b.Name), path.Base(a.Name))
	})
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if f.FileInfo().IsDir() {
			put(&tar.Header{Name: "./" + f.Name, Typeflag: tar.TypeDir}, nil)
			continue
		}
		put(&tar.Header{Name: "./" + f.Name, Typeflag: tar.TypeReg}, data)
		put(&tar.Header{Name: f.Name + "/metadata", Typeflag: tar.TypeReg}, []byte("in a file"))
		put(&tar.Header{Name: f.Name, Typeflag: tar.TypeReg}, []byte("again"))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestTar reads an LTTng folder from tar archives like the zip that they were made of.
func TestTar(t *testing.T) {
	const path = "../testdata/net9-lttng-snapshot.trace.zip"
	plain := tarOf(t, path)
	var zipped, packed, xzed bytes.Buffer
	g := gzip.NewWriter(&zipped)
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	x, err := xz.NewWriter(&xzed)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, z, x} {
		if _, err := w.Write(plain); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := summary(t, func() (*open.Input, error) { return open.File(path, open.Options{}) })
	for name, data := range map[string][]byte{"tar": plain, "tar.gz": zipped.Bytes(), "tar.zst": packed.Bytes(), "tar.xz": xzed.Bytes()} {
		got := summary(t, func() (*open.Input, error) { return open.Reader(bytes.NewReader(data), name, open.Options{}) })
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for n := 0; n < len(plain); n += extent.Pick(1<<13, 1<<10, 1<<10) { // no panic, whatever is left
		in, err := open.Reader(bytes.NewReader(plain[:n]), "cut", open.Options{})
		if err != nil {
			continue
		}
		for range in.Source.Events() {
			continue
		}
		in.Close()
	}
}

// TestTruncatedTar reads truncated tar archives as far as they go. They are reported as
// truncated.
func TestTruncatedTar(t *testing.T) {
	plain := tarOf(t, "../testdata/net9-lttng-snapshot.trace.zip")
	packed := gzipped(plain)
	opened := 0
	for i := range 16 {
		n := len(packed) * i / 16
		in, err := open.Reader(bytes.NewReader(packed[:n]), "truncated", open.Options{})
		if err != nil {
			continue // the metadata is missing
		}
		opened++
		for _, err := range in.Source.Events() {
			if err != nil {
				t.Fatal(err)
			}
		}
		if l := in.Source.Loss(); !l.Truncated && l.Damaged == 0 || l.Exactness == trace.Exact {
			t.Errorf("%d of %d bytes: %v, %d damaged", n, len(packed), l.Exactness, l.Damaged)
		}
		in.Close()
	}
	if opened == 0 {
		t.Error("nothing was read")
	}
}

// summary returns a short description of a trace.
func summary(t *testing.T, opened func() (*open.Input, error)) string {
	t.Helper()
	in, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	n, ticks := 0, int64(0)
	for ev, err := range in.Source.Events() {
		if err != nil {
			t.Fatal(err)
		}
		n++
		ticks += ev.Ticks
	}
	l := in.Source.Loss()
	return fmt.Sprint(n, " events ", ticks, l.Exactness, l.Damaged, l.Truncated, len(l.Ranges()))
}
