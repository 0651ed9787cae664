package diag

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// startKey returns the start time of this process in its socket's name: in
// seconds since 1970.
func startKey() string {
	started := startTime(os.Getpid())
	if started.IsZero() {
		return "0" // as the runtime does
	}
	return strconv.FormatInt(started.Unix(), 10)
}

// startTime returns the time when a process was started, to the second; zero if unknown.
func startTime(pid int) time.Time {
	kinfo, err := unix.SysctlRaw("kern.proc.pid", pid)
	if err != nil {
		return time.Time{}
	}
	seconds, ok := startSeconds(kinfo)
	if !ok {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
