//go:build linux || darwin

package outfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock locks a file until its process ends. If the file system has no locks, held is
// unknown.
func lock(f *os.File) (held, known bool) {
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case err == nil:
		return true, true
	case errors.Is(err, unix.EWOULDBLOCK):
		return false, true
	default:
		return false, false
	}
}

// FreeSpace returns how many bytes this user can still write to the disk of a folder.
func FreeSpace(folder string) (int64, bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail * uint64(st.Bsize)), true
}
