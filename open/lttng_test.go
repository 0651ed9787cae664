package open_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zip"

	"github.com/gctrail/gctrail/open"
)

// TestLTTng: an LTTng trace is the same as a folder, as a zip, and as a zip that comes
// through a pipe.
func TestLTTng(t *testing.T) {
	const path = "../testdata/net9-lttng-snapshot.trace.zip"
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err == nil {
		err = os.CopyFS(dir, z)
	}
	if err != nil {
		t.Fatal(err)
	}
	var members []member
	for _, f := range z.File {
		if b, err := fs.ReadFile(z, f.Name); err == nil {
			members = append(members, member{strings.ReplaceAll(f.Name, "/", `\`), b})
		}
	}
	deep, err := filepath.Glob(dir + "/*/*/ust/uid/0/64-bit")
	if err != nil || len(deep) != 1 {
		t.Fatal(deep, err)
	}
	var want digest
	for i, c := range []struct {
		name string
		open func() (*open.Input, error)
	}{
		{path, func() (*open.Input, error) { return open.File(path, open.Options{}) }},
		{"a pipe", func() (*open.Input, error) { return open.Reader(bytes.NewReader(packed), "a pipe", open.Options{}) }},
		{"a zip of Windows", func() (*open.Input, error) {
			return open.Reader(bytes.NewReader(zipped(members...)), "a zip of Windows", open.Options{})
		}},
		{dir, func() (*open.Input, error) { return open.File(dir, open.Options{}) }},
		{deep[0], func() (*open.Input, error) { return open.File(deep[0], open.Options{}) }},
		{"once more", func() (*open.Input, error) {
			in, err := open.File(dir, open.Options{})
			if err != nil {
				return nil, err
			}
			defer in.Close()
			return in.Reopen()
		}},
	} {
		in, err := c.open()
		if err != nil {
			t.Fatal(err)
		}
		got := read(t, in)
		if i == 0 {
			want = got
		}
		if got != want || got.events != 6212 {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
		if in.Size > 0 && in.BytesRead() == 0 {
			t.Errorf("%s: nothing was read of %d bytes", c.name, in.Size)
		}
		if err := in.Close(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestLTTngParts: the error for a part of an LTTng trace names the folder to open; a
// folder without any is refused as before.
func TestLTTngParts(t *testing.T) {
	dir := t.TempDir()
	z, err := zip.OpenReader("../testdata/lttng216-ctf2.trace.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	b, err := fs.Glob(z, "*/ust/uid/0/64-bit/metadata")
	if err != nil || len(b) != 1 {
		t.Fatal(b, err)
	}
	text, err := fs.ReadFile(z, b[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "metadata")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = open.File(path, open.Options{})
	if want := path + ": not supported: the metadata of an LTTng trace (CTF); give its folder instead"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
