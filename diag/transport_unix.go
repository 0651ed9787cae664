//go:build !windows

package diag

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// maxSocketPath is how long the path of a socket can be, on the system that has
// the shortest.
const maxSocketPath = 103

// dialLocal connects to the Unix socket at path.
func dialLocal(ctx context.Context, path string) (conn, error) {
	var d net.Dialer
	if len(path) <= maxSocketPath {
		return connOf(d.DialContext(ctx, "unix", path))
	}
	// The socket of a process in another container can be behind a path that is too long.
	// The descriptor of its folder has a short one, on Linux only.
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	short := "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + filepath.Base(path)
	return connOf(d.DialContext(ctx, "unix", short))
}

// onDescriptor calls f with the descriptor of a connection. It fails if the connection has none.
func onDescriptor(c any, f func(fd uintptr)) error {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return syscall.ENOTSUP
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(f)
}

// reset reports whether the other side of a connection is gone.
func reset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Errors of sockets.
const (
	connectionRefused = syscall.ECONNREFUSED
	addressInUse      = syscall.EADDRINUSE
)

// listenLocal creates a socket at path that only its owner can ever connect to. A stale
// socket is replaced.
func listenLocal(path string) (acceptor, error) {
	if most := len(syscall.RawSockaddrUnix{}.Path) - 1; len(path) > most {
		return nil, fmt.Errorf("the path takes %d bytes, and a socket's at most %d: choose a shorter one", len(path), most)
	}
	if runtime.GOOS != "linux" { // there, the process's mask limits the mode
		defer syscall.Umask(syscall.Umask(0o177))
	}
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			_ = syscall.Fchmod(int(fd), 0o600) // the mode that bind gives, on Linux
		})
	}}
	ctx := context.Background()
	l, err := config.Listen(ctx, "unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && abandoned(path) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		l, err = config.Listen(ctx, "unix", path)
	}
	if err != nil {
		return nil, cause(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return netAcceptor{l}, nil
}

// abandoned reports whether path is a socket without a listener.
func abandoned(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != os.ModeSocket {
		return false
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
