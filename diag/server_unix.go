//go:build !windows

package diag

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ownAddress returns the path of this process's socket. It truncates a path that is too
// long, as .NET 10 does, if clients still recognize the rest.
func ownAddress(folder string) (string, error) {
	folder = strings.TrimSuffix(cmp.Or(folder, os.TempDir()), "/")
	path := fmt.Sprintf("%s/dotnet-diagnostic-%d-%s-socket", folder, os.Getpid(), startKey())
	most := len(syscall.RawSockaddrUnix{}.Path) - 1
	if len(path) <= most {
		return path, nil
	}
	cut := path[:most]
	if len(cut) <= len(folder) || !socketName.MatchString(filepath.Base(cut)) {
		return "", &ListenError{path, fmt.Errorf("the folder's path takes %d bytes, too many for a socket: set TMPDIR to a shorter one", len(folder))}
	}
	return cut, nil
}

// hangupInterval is how often the server checks a client that said it sends no more.
const hangupInterval = 100 * time.Millisecond

// awaitHangup waits until the other side has closed a connection that was read to its
// end, or until over is closed. The end alone is not enough, because the client may only
// have shut down its sending side. It polls for writing, because macOS reports a hangup
// only with another event (poll_nocancel of bsd/kern/sys_generic.c), and for reading also
// if the other side sends no more.
func awaitHangup(c conn, over <-chan struct{}) {
	tick := time.NewTicker(hangupInterval)
	defer tick.Stop()
	for {
		hung := false
		err := onDescriptor(c, func(fd uintptr) {
			poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
			_, err := unix.Poll(poll, 0)
			hung = err == nil && poll[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
		})
		if err != nil || hung {
			return
		}
		select {
		case <-tick.C:
		case <-over:
			return
		}
	}
}
