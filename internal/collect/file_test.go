package collect

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestFile: a file is whole after every write, a stream when it is closed.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.nettrace")
	f, err := CreateFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	s := StreamTo(&b, "standard output")
	for _, step := range []struct{ objects, end, file, stream string }{
		{"one", "", "one", "one"},
		{" two", ".", "one two.", "one two"},
		{" three", ".", "one two three.", "one two three"},
	} {
		for _, out := range []*File{f, s} {
			if _, err := out.Write([]byte(step.objects), []byte(step.end)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); string(got) != step.file || b.String() != step.stream {
			t.Errorf("the file has %q, %v; the stream %q", got, err, b.String())
		}
	}
	if err := s.Close(); err != nil || b.String() != "one two three." || s.Regular() {
		t.Errorf("the stream has %q, %v", b.String(), err)
	}
	if err := f.Close(); err != nil || f.Size() != 13 || f.Name() != path || !f.Regular() {
		t.Errorf("%s has %d bytes, %v", f.Name(), f.Size(), err)
	}
}

// TestFileEmpty: a file into which nothing was written does not stay.
func TestFileEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.nettrace")
	f, err := CreateFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// TestEarlier: an earlier file stays until the first write, which makes the new one
// complete, and stays for good without one.
func TestEarlier(t *testing.T) {
	for _, written := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "a.nettrace")
		if err := os.WriteFile(path, []byte("earlier"), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := CreateFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); string(b) != "earlier" {
			t.Errorf("before a write: %q, %v", b, err)
		}
		want := "earlier"
		if written {
			want = "one."
			if _, err := f.Write([]byte("one"), []byte(".")); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(path); string(b) != want {
				t.Errorf("after a write: %q, %v", b, err)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(path); string(b) != want {
			t.Errorf("closed: %q, %v", b, err)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Errorf("%v, %v", left, err)
		}
	}
}

// TestFileGone: a file that is no longer at its path gives an error, at the latest when
// it is closed; another file there is left alone.
func TestFileGone(t *testing.T) {
	for _, test := range []struct {
		name string
		lose func(path string) error
	}{
		{"removed", os.Remove},
		{"folder removed", func(path string) error { return os.RemoveAll(filepath.Dir(path)) }},
		{"renamed", func(path string) error { return os.Rename(path, path+".old") }},
		{"replaced", func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("other"), 0o600))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("a file that is open cannot be removed there")
			}
			path := filepath.Join(t.TempDir(), "folder", "a.nettrace")
			os.Mkdir(filepath.Dir(path), 0o700)
			f, err := CreateFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte("one"), []byte(".")); err != nil {
				t.Fatal(err)
			}
			if err := test.lose(path); err != nil {
				t.Fatal(err)
			}
			f.seen = time.Time{}
			if _, err := f.Write([]byte("two"), []byte(".")); !errors.Is(err, ErrGone) {
				t.Errorf("written: %v", err)
			}
			if err := f.Close(); !errors.Is(err, ErrGone) {
				t.Errorf("closed: %v", err)
			}
			if b, err := os.ReadFile(path); err == nil && string(b) != "other" {
				t.Errorf("%q", b)
			} else if err != nil && test.name == "replaced" {
				t.Error(err)
			}
		})
	}
}
