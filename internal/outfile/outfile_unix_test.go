//go:build !windows

package outfile

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestSymlink: root does not follow a link in a folder that others can write to, and does
// in a folder of its own.
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
			if err := f.Commit(); err != nil {
				t.Error(err)
			}
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

// TestLike: the new file has the mode and owner of the earlier one, and links stay.
func TestLike(t *testing.T) {
	dir := t.TempDir()
	target, link, dangling := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	write(t, target, "earlier")
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		uid, gid = 1000, 1001
	}
	if err := errors.Join(os.Chown(target, uid, gid), os.Chmod(target, 0o604), os.Symlink("target", link), os.Symlink("later", dangling)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, dangling} {
		if err := WriteFile(path, []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", path, err)
		}
		if b, err := os.ReadFile(path); string(b) != "new" {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	info, err := os.Stat(target)
	if err != nil {
		t.Fatal(err)
	}
	if stat := info.Sys().(*syscall.Stat_t); info.Mode() != 0o604 || int(stat.Uid) != uid || int(stat.Gid) != gid {
		t.Errorf("mode %o of %d:%d", info.Mode(), stat.Uid, stat.Gid)
	}
}

// TestHardLink: all names of a file get the new content.
func TestHardLink(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	for _, text := range []string{"a text that is longer", "short", "a text that is longer again"} {
		_ = os.Remove(two)
		if err := os.Link(one, two); err != nil {
			write(t, one, "earlier")
			if err := os.Link(one, two); err != nil {
				t.Skip(err)
			}
		}
		f, err := Create(one, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err != nil || f.InPlace() == "" {
			t.Errorf("%v, in place: %q", err, f.InPlace())
		}
		if b, _ := os.ReadFile(two); string(b) != text {
			t.Errorf("%q, want %q", b, text)
		}
	}
	if err := os.Remove(two); err != nil {
		t.Fatal(err)
	}
	alone(t, one)
}

// TestFolder: a writable file in a folder that is not writable is overwritten, once the
// content is complete.
func TestFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t, "TestFolder")
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	write(t, path, "earlier")
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir, 0o700) }()
	if err := WriteFile(filepath.Join(dir, "other"), nil, 0o600); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a new file: %v", err)
	}
	f, err := Create(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "earlier" {
		t.Errorf("while it is written: %q", b)
	}
	if err := f.Commit(); err != nil || f.InPlace() == "" {
		t.Errorf("%v, in place: %q", err, f.InPlace())
	}
	if b, _ := os.ReadFile(path); string(b) != "new" {
		t.Errorf("%q", b)
	}
	alone(t, path)
}

// asNobody runs a test again as a user without rights.
func asNobody(t *testing.T, name string) {
	t.Helper()
	tmp, err := os.MkdirTemp("/tmp", "outfile-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(tmp)
	binary := filepath.Join(tmp, "test")
	data, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = errors.Join(os.WriteFile(binary, data, 0o755), os.Chown(tmp, 65534, 65534))
	}
	if err != nil {
		t.Skip(err)
	}
	c := exec.Command(binary, "-test.run=^"+name+"$")
	c.Dir, c.Env = tmp, append(os.Environ(), "TMPDIR="+tmp)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestOtherOwner: the content of another user's file that this user can write to is
// replaced; its owner stays.
func TestOtherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("is for root, which makes the file of another user")
	}
	t.Setenv("OUTFILE_OTHER", filepath.Join(t.TempDir(), "out"))
	path := os.Getenv("OUTFILE_OTHER")
	write(t, path, "earlier")
	for folder := filepath.Dir(path); folder != "/" && folder != os.TempDir(); folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	asNobody(t, "TestAsOther")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "new" || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("%q of %d", b, info.Sys().(*syscall.Stat_t).Uid)
	}
	alone(t, path)
}

// TestAsOther is the other user's part of TestOtherOwner.
func TestAsOther(t *testing.T) {
	path := os.Getenv("OUTFILE_OTHER")
	if path == "" {
		t.Skip("is run by TestOtherOwner")
	}
	if err := WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Error(err)
	}
}

// TestPipe: a pipe is written to as it is.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		b, _ := os.ReadFile(pipe)
		read <- string(b)
	}()
	f, err := CreateAny(pipe, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("new")); err != nil || !f.Direct() {
		t.Errorf("%v, direct: %t", err, f.Direct())
	}
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
	if got := <-read; got != "new" {
		t.Errorf("%q", got)
	}
	alone(t, pipe)
}
