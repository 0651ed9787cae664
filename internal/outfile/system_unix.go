//go:build !windows

package outfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const errReadOnly = syscall.EROFS

func asRoot() bool { return os.Geteuid() == 0 }

// shared reports whether a user other than root can write to a folder.
func shared(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Uid != 0 || info.Mode()&0o022 != 0
}

// openPart makes a file that is not there.
func openPart(path string, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, perm)
}

// moved returns a file that was renamed to a path.
func moved(f *os.File, _ string) (*os.File, error) { return f, nil }

// openLeft opens a file that a dead writer may have left. It does not block on a pipe.
func openLeft(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|noFollow|nonBlock, 0)
}

// isOwn reports whether a file is this user's.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// hasHardLinks reports whether a file has several hard links.
func hasHardLinks(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}

// setOwnerAndMode gives a part the owner and mode of the file that it replaces. It reports whether
// that succeeded.
func setOwnerAndMode(part *os.File, there fs.FileInfo) bool {
	want, ok := there.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	info, err := part.Stat()
	if err != nil {
		return false
	}
	has, ok := info.Sys().(*syscall.Stat_t)
	if !ok || (has.Uid != want.Uid || has.Gid != want.Gid) && part.Chown(int(want.Uid), int(want.Gid)) != nil {
		return false
	}
	return part.Chmod(there.Mode()&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)) == nil
}

// isDescriptor reports whether a symbolic link is a descriptor of a process.
func isDescriptor(link string) bool {
	return strings.HasPrefix(filepath.Clean(link), "/proc/") || filepath.Dir(link) == "/dev/fd"
}
