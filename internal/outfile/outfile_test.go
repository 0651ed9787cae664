package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
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
			if err := f.Commit(); err != nil {
				t.Error(err)
			}
		}
	}
	if b, err := os.ReadFile(in); err != nil || len(b) == 0 {
		t.Errorf("the input was emptied: %v", err)
	}
	if b, err := os.ReadFile(out); err != nil || len(b) != 0 {
		t.Errorf("%q, %v", b, err)
	}
}

// TestEarlier: an earlier file is whole until it is replaced, and nothing stays beside it.
func TestEarlier(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(f *File) error
		want string
	}{
		{"closed", (*File).Close, "earlier"},
		{"committed", (*File).Commit, "new"},
		{"published", func(f *File) error {
			if err := f.Publish(); err != nil {
				return err
			}
			_, err := f.WriteAt([]byte("er"), 3)
			return errors.Join(err, f.Publish(), f.Close())
		}, "newer"},
	} {
		for _, before := range []string{"", "earlier"} {
			path := filepath.Join(t.TempDir(), "out")
			if before != "" {
				write(t, path, before)
			}
			f, err := Create(path, 0o640, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte("new")); err != nil {
				t.Fatal(err)
			}
			if b, _ := os.ReadFile(path); string(b) != before {
				t.Errorf("%s: while it is written: %q", tt.name, b)
			}
			if err := errors.Join(tt.end(f), f.Close()); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			want := tt.want
			if want == "earlier" {
				want = before
			}
			if b, _ := os.ReadFile(path); string(b) != want {
				t.Errorf("%s: %q, want %q", tt.name, b, want)
			}
			alone(t, path)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// alone fails if there is any other file in the folder of a file, which need not exist.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// TestLeft: the next output in a folder removes the parts of dead writers, and not the
// parts of living ones.
func TestLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	alive, err := Create(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	dead, err := Create(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.File.Close(); err != nil { // as the system does for a killed process
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dead.part); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the part of a dead writer: %v", err)
	}
	if _, err := os.Lstat(alive.part); err != nil {
		t.Errorf("the part of a living writer: %v", err)
	}
	if err := alive.Close(); err != nil {
		t.Error(err)
	}
	alone(t, path)
}

// TestLongName: a part's name fits if the file's name does.
func TestLongName(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("é", 120))
	if err := WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Error(err)
	}
	alone(t, path)
}
