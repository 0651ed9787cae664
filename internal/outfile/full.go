package outfile

import (
	"errors"
	"runtime"
	"syscall"
)

// IsFull reports whether something could not be written because there is no room.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		runtime.GOOS == "windows" && errors.Is(err, errorDiskFull)
}

// errorDiskFull is Windows's ERROR_DISK_FULL.
const errorDiskFull = syscall.Errno(112)
