package open

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
)

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	s, n, err := spool(strings.NewReader("some bytes"), 10, "it")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(s, 0, n))
	if string(got) != "some bytes" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}

	_, _, err = spool(strings.NewReader(strings.Repeat("x", 2<<20)), 1<<20, "a zip")
	want := "a zip takes more than the 1 MiB that are set aside for it: unpack it and give the file"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if left != nil || err != nil {
		t.Errorf("%v stays behind, %v", left, err)
	}
}
