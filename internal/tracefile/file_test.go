package tracefile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestFile: a file is whole after every write, a stream when it is closed.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.nettrace")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	s := Stream(&b, "standard output")
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
	f, err := Create(path)
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
