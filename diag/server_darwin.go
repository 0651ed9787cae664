package diag

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// startKey returns the start time of this process in its socket's name: in
// seconds since 1970.
func startKey() string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", os.Getpid())
	if err != nil {
		return "0"
	}
	return strconv.FormatInt(info.Proc.P_starttime.Sec, 10)
}
