package diag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// An endpoint is the socket that a process should listen on. Every connection is checked before
// anything is sent, because any user can create a file with its name in /tmp: the file is a
// socket, it belongs to the process's user, and the process itself listens on it.
type endpoint struct {
	finder *finder
	root   root
	folder string // behind root
	name   string
	router bool // it belongs to a router, and the process is on a device

	pid   int // 0 if the process is not known
	inner int
	start string

	behind atomic.Int64 // PID of an unknown process, once it was connected to
}

// reachBy has p's client connect through d.
func (p *Process) reachBy(d *endpoint) {
	p.Address = d.address()
	p.client = &Client{connect: d.connect}
	p.listener = func() int { return int(d.behind.Load()) }
}

func (d *endpoint) address() string { return filepath.Join(d.root.dir, d.folder, d.name) }

// examine checks the file of the socket and returns its identity.
func (d *endpoint) examine(who *identity) (stamp, error) {
	at, info, err := d.open()
	if err != nil {
		return stamp{}, err
	}
	at.Close()
	return stampOf(info), d.belongs(info, who)
}

// open opens the socket's file, not the socket.
func (d *endpoint) open() (*os.File, fs.FileInfo, error) {
	at, err := d.root.file(filepath.Join(d.folder, d.name))
	if errors.Is(err, errSymlink) {
		return nil, nil, d.refuse(errSymlink)
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := at.Stat()
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		err = d.refuse(fmt.Errorf("it is %s, not a socket", cmp.Or(fileKinds[info.Mode().Type()], "a device")))
	}
	if err != nil {
		at.Close()
		return nil, nil, err
	}
	return at, info, nil
}

var fileKinds = map[fs.FileMode]string{
	0: "a regular file", fs.ModeDir: "a directory", fs.ModeNamedPipe: "a named pipe", fs.ModeSymlink: "a symbolic link",
}

// belongs refuses a socket of another user than the process's. A socket of root is
// accepted, because the process may have given up being root since it created it.
func (d *endpoint) belongs(info fs.FileInfo, who *identity) error {
	if owner := ownerOf(info); owner != 0 && !who.is(owner) {
		return d.refuse(fmt.Errorf("it belongs to user %d, but the process runs as user %s", owner, who.user()))
	}
	return nil
}

func ownerOf(info fs.FileInfo) uint32 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Uid
	}
	return ^uint32(0)
}

func (d *endpoint) refuse(reason error) error { return &UntrustedError{d.address(), reason} }

// connect connects to the process.
func (d *endpoint) connect(ctx context.Context) (conn, error) {
	at, info, err := d.open()
	if err != nil {
		return nil, d.failed(err)
	}
	defer at.Close()
	who, err := d.identity()
	if err == nil && who != nil {
		err = d.belongs(info, who)
	}
	if err != nil {
		return nil, d.failed(err)
	}
	c, err := dial(ctx, shortcut(at))
	if err != nil {
		return nil, d.failed(err)
	}
	if err := d.verify(c, info); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// failed returns the error of a connection that was not made.
func (d *endpoint) failed(err error) error {
	if untrusted(err) {
		return err
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return &ConnectError{d.address(), err}
}

// identity returns the process's identity, or ErrNoProcess if it has ended, because its
// PID may be another's by now.
func (d *endpoint) identity() (*identity, error) {
	if d.pid == 0 {
		return nil, nil
	}
	who := d.finder.identify(d.pid)
	if who == nil || who.start != d.start {
		return nil, ErrNoProcess
	}
	return who, nil
}

// identify returns who a process is; nil if there is none.
func (f *finder) identify(pid int) *identity {
	folder := filepath.Join(f.proc, strconv.Itoa(pid))
	st, ok := readStat(folder)
	if !ok {
		return nil
	}
	return readIdentity(folder, pid, st)
}

// verify makes sure of who listens at the other end of c.
func (d *endpoint) verify(c conn, info fs.FileInfo) error {
	listener, err := d.finder.listener(c)
	if err != nil {
		return d.refuse(fmt.Errorf("cannot determine which process listens on it: %w", err))
	}
	pid := int(listener.Pid)
	switch {
	case d.pid != 0 && pid == d.pid:
		return nil
	case d.pid != 0 && pid == 0:
		return d.refuse(errors.New("a process of another PID namespace listens on it"))
	case d.pid != 0:
		return d.refuse(fmt.Errorf("process %d listens on it", pid))
	case pid == 0:
		return d.verifyHidden(listener, info)
	}
	who := d.finder.identify(pid)
	if who == nil || who.inner != d.inner {
		return d.refuse(fmt.Errorf("process %d listens on it", pid))
	}
	if err := d.belongs(info, who); err != nil {
		return err
	}
	if !d.router {
		d.behind.Store(int64(pid))
	}
	return nil
}

// verifyHidden checks a process in another PID namespace. It must belong to the calling
// process's user, because nothing else is known about it.
func (d *endpoint) verifyHidden(listener *unix.Ucred, info fs.FileInfo) error {
	user, owner := uint32(os.Geteuid()), ownerOf(info)
	if owner != user || listener.Uid != user {
		return d.refuse(fmt.Errorf("it belongs to user %d, and its process is in another PID namespace", owner))
	}
	return nil
}

// user returns the effective user of the process.
func (who *identity) user() string {
	if len(who.users) < 2 {
		return "unknown"
	}
	return strconv.FormatUint(uint64(who.users[1]), 10)
}

// listenerOf asks the system who listens at the other end of a connection.
func listenerOf(c conn) (*unix.Ucred, error) {
	var cred *unix.Ucred
	var err error
	ctlErr := onDescriptor(c, func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	return cred, errors.Join(err, ctlErr)
}

// longestSocketPath is the length of the longest path that a socket can have on Linux.
const longestSocketPath = 107

// socketBase returns the name of a process's socket in a folder, truncated because the
// runtime truncates a path that is too long.
func socketBase(folder string, who *identity) string {
	name := fmt.Sprintf("dotnet-diagnostic-%d-%s-socket", who.inner, who.start)
	room := longestSocketPath - len(folder)
	if folder[len(folder)-1] != '/' {
		room--
	}
	return name[:min(len(name), max(room, 0))]
}
