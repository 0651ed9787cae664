package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, path := range []string{in, out} {
		if err := os.WriteFile(path, []byte("longer than nothing"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hard := filepath.Join(dir, "hard")
	if err := os.Link(in, hard); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]error{in: ErrInput, hard: ErrInput, out: nil, filepath.Join(dir, "new"): nil, os.DevNull: nil} {
		f, err := Create(path, 0o600, []string{in, filepath.Join(dir, "missing")})
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if f != nil {
			f.Close()
		}
	}
	if b, err := os.ReadFile(in); err != nil || len(b) == 0 {
		t.Errorf("the input was emptied: %v", err)
	}
	if b, err := os.ReadFile(out); err != nil || len(b) != 0 {
		t.Errorf("%q, %v", b, err)
	}
}
