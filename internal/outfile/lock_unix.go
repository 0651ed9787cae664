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
