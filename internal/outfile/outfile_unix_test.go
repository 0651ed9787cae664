//go:build !windows

package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestSymlink: as root, a link in a folder that others write to leads nowhere; in
// a folder of root's own, it is followed.
func TestSymlink(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("is for root")
	}
	for _, tt := range []struct {
		mode os.FileMode
		uid  int
		want error
	}{{0o1777, 0, ErrSymlink}, {0o775, 0, ErrSymlink}, {0o755, 1000, ErrSymlink}, {0o755, 0, nil}} {
		dir := t.TempDir()
		target, link := filepath.Join(t.TempDir(), "shadow"), filepath.Join(dir, "out")
		if err := errors.Join(os.WriteFile(target, []byte("root"), 0o600), os.Symlink(target, link), os.Chmod(dir, tt.mode|modeOf(tt.mode)), os.Chown(dir, tt.uid, -1)); err != nil {
			t.Fatal(err)
		}
		f, err := Create(link, 0o600, nil)
		if f != nil {
			f.Close()
		}
		b, _ := os.ReadFile(target)
		if !errors.Is(err, tt.want) || tt.want == nil && err != nil || (len(b) == 0) != (tt.want == nil) {
			t.Errorf("mode %o of %d: %v, %q", tt.mode, tt.uid, err, b)
		}
	}
}

// modeOf returns the sticky bit as package os has it.
func modeOf(mode os.FileMode) os.FileMode {
	if mode&0o1000 != 0 {
		return os.ModeSticky
	}
	return 0
}

func TestIrregular(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir} {
		if f, err := Create(path, 0o600, nil); err == nil {
			f.Close()
			t.Errorf("%s was made", path)
		}
	}
}
