package diag

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The structures of Apple's headers (xnu-11417.101.15) are compared at compile time:
// another size or offset would index an array out of its bounds.
var (
	// bsd/sys/sysctl.h, bsd/sys/proc.h
	_ = [1]struct{}{}[unsafe.Sizeof(unix.KinfoProc{})-sizeKinfoProc]
	_ = [1]struct{}{}[unsafe.Offsetof(unix.KinfoProc{}.Proc)+unsafe.Offsetof(unix.ExternProc{}.P_starttime)+unsafe.Offsetof(unix.Timeval{}.Sec)-offStartTime]
	_ = [1]struct{}{}[unsafe.Sizeof(unix.Timeval{}.Sec)-8]
	// bsd/sys/un.h: the last byte of sun_path is 0.
	_ = [1]struct{}{}[unsafe.Offsetof(syscall.RawSockaddrUnix{}.Path)-2]
	_ = [1]struct{}{}[len(syscall.RawSockaddrUnix{}.Path)-1-maxSocketPath]
	// bsd/sys/poll.h
	_ = [1]struct{}{}[unsafe.Sizeof(unix.PollFd{})-8]
	_ = [1]struct{}{}[unsafe.Offsetof(unix.PollFd{}.Events)-4]
	_ = [1]struct{}{}[unsafe.Offsetof(unix.PollFd{}.Revents)-6]
	_ = [1]struct{}{}[unix.POLLOUT-0x4]
	_ = [1]struct{}{}[unix.POLLHUP-0x10]
)
