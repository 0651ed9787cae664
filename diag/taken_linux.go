package diag

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// taken reports whether the other side has read everything written to c. It is true if
// the system does not know.
func taken(c conn) bool {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	unread := 0
	err = raw.Control(func(fd uintptr) {
		if n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err == nil {
			unread = n
		}
	})
	return err != nil || unread == 0
}
