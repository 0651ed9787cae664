package diag

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// startKey returns the start time of this process in its socket's name: in
// seconds since 1970.
func startKey() string {
	kinfo, err := unix.SysctlRaw("kern.proc.pid", os.Getpid())
	if err != nil {
		return "0" // as the runtime does
	}
	seconds, _ := startSeconds(kinfo)
	return strconv.FormatInt(seconds, 10)
}
