package diag

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const pipeFolder = `\\.\pipe\`

// pipeName returns the full name of a pipe.
func pipeName(name string) string {
	if strings.HasPrefix(name, `\\`) {
		return name
	}
	return pipeFolder + name
}

// dialLocal opens the named pipe. A pipe whose instances are all taken is tried again
// until ctx ends.
func dialLocal(ctx context.Context, name string) (conn, error) {
	for {
		f, err := os.OpenFile(pipeName(name), os.O_RDWR|windows.FILE_FLAG_OVERLAPPED, 0)
		if !errors.Is(err, windows.ERROR_PIPE_BUSY) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// reset reports whether the other side of a pipe or of a connection is gone.
func reset(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA) ||
		errors.Is(err, windows.ERROR_PIPE_NOT_CONNECTED) ||
		errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNABORTED)
}

// Errors of sockets.
const (
	connectionRefused = windows.WSAECONNREFUSED
	addressInUse      = windows.WSAEADDRINUSE
)

// A pipeAcceptor accepts connections to a named pipe. Each is an instance of the
// pipe; there is always one that waits.
type pipeAcceptor struct {
	name    *uint16
	private *windows.SecurityAttributes
	mu      sync.Mutex
	waiting windows.Handle
	closed  bool
}

// pipeBuffer is the size that the runtime gives its own pipes.
const pipeBuffer = 16 << 10

// listenLocal creates a named pipe that only this user can open.
func listenLocal(name string) (acceptor, error) {
	p, err := windows.UTF16PtrFromString(pipeName(name))
	if err != nil {
		return nil, err
	}
	private, err := onlyThisUser()
	if err != nil {
		return nil, err
	}
	a := &pipeAcceptor{name: p, private: private}
	if a.waiting, err = a.instance(windows.FILE_FLAG_FIRST_PIPE_INSTANCE); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *pipeAcceptor) instance(flags uint32) (windows.Handle, error) {
	return windows.CreateNamedPipe(a.name, windows.PIPE_ACCESS_DUPLEX|windows.FILE_FLAG_OVERLAPPED|flags,
		windows.PIPE_TYPE_BYTE|windows.PIPE_REJECT_REMOTE_CLIENTS, windows.PIPE_UNLIMITED_INSTANCES, pipeBuffer, pipeBuffer, 0, a.private)
}

// onlyThisUser grants access only to the user of this process, because by default
// everybody may read from a pipe.
func onlyThisUser() (*windows.SecurityAttributes, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	sd, err := windows.SecurityDescriptorFromString("D:P(A;;GA;;;" + user.User.Sid.String() + ")")
	if err != nil {
		return nil, err
	}
	return &windows.SecurityAttributes{Length: uint32(unsafe.Sizeof(windows.SecurityAttributes{})), SecurityDescriptor: sd}, nil
}

func (a *pipeAcceptor) accept() (conn, error) {
	a.mu.Lock()
	h, closed := a.waiting, a.closed
	a.mu.Unlock()
	if closed {
		return nil, net.ErrClosed
	}
	if err := awaitClient(h); err != nil {
		return nil, err
	}
	next, err := a.instance(0)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		windows.CloseHandle(next)
		return nil, net.ErrClosed
	}
	a.waiting = next
	return os.NewFile(uintptr(h), "pipe"), nil
}

// awaitClient waits until a client has opened the instance.
func awaitClient(h windows.Handle) error {
	event, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(event)
	o := windows.Overlapped{HEvent: event}
	err = windows.ConnectNamedPipe(h, &o)
	if errors.Is(err, windows.ERROR_IO_PENDING) {
		var n uint32
		err = windows.GetOverlappedResult(h, &o, &n, true)
	}
	switch {
	case errors.Is(err, windows.ERROR_PIPE_CONNECTED), errors.Is(err, windows.ERROR_NO_DATA): // it may have gone again
		return nil
	case errors.Is(err, windows.ERROR_OPERATION_ABORTED):
		return net.ErrClosed
	default:
		return err
	}
}

func (a *pipeAcceptor) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.closed = true
	_ = windows.CancelIoEx(a.waiting, nil) // nothing may wait
	return windows.CloseHandle(a.waiting)
}
