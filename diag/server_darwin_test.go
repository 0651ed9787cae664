package diag

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Structures of Apple's headers, which are compared when this is compiled: another
// size or place is an index that the array does not have.
var (
	// struct kinfo_proc of sys/sysctl.h begins with struct extern_proc of sys/proc.h, and
	// that with the start time.
	_ = [1]struct{}{}[unsafe.Sizeof(unix.KinfoProc{})-648]
	_ = [1]struct{}{}[unsafe.Offsetof(unix.KinfoProc{}.Proc)]
	_ = [1]struct{}{}[unsafe.Offsetof(unix.ExternProc{}.P_starttime)]
	_ = [1]struct{}{}[unsafe.Offsetof(unix.Timeval{}.Sec)]
	// sun_path of sys/un.h, whose last byte is 0.
	_ = [1]struct{}{}[len(syscall.RawSockaddrUnix{}.Path)-1-maxSocketPath]
)
