package diag

import "encoding/binary"

// Parts of struct kinfo_proc of macOS, which are the same on both of its processors: it
// begins with struct extern_proc, and that with the start time (xnu-11417.101.15,
// bsd/sys/sysctl.h, bsd/sys/proc.h and bsd/sys/_types/_timeval.h).
const (
	sizeKinfoProc = 648
	offStartTime  = 0 // kp_proc.p_starttime.tv_sec
)

// startSeconds returns the start time in a struct kinfo_proc, in seconds since 1970.
func startSeconds(kinfo []byte) (seconds int64, ok bool) {
	if len(kinfo) != sizeKinfoProc {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint64(kinfo[offStartTime:])), true
}
