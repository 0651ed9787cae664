package diag

import "golang.org/x/sys/unix"

// taken reports whether the other side has read everything written to c. It is true if
// the system does not know.
func taken(c conn) bool {
	unread := 0
	err := onDescriptor(c, func(fd uintptr) {
		if n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err == nil {
			unread = n
		}
	})
	return err != nil || unread == 0
}
