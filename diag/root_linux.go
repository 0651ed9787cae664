package diag

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A root is the directory that absolute paths start from. Because other users can replace
// the files behind it at any moment, a path is resolved to a descriptor that opens
// nothing (O_PATH). The file is examined and used through that descriptor, never by its
// path again.
type root struct {
	dir    string // "/", or /proc/PID/root
	follow bool   // follow symbolic links to directories; other users' may lead anywhere
}

// hostRoot resolves paths as every program does. It is for paths that come from
// the user of this process.
var hostRoot = root{dir: "/", follow: true}

// errSymlink reports a symbolic link to a directory, in the path of another user.
var errSymlink = errors.New("its path contains a symbolic link")

const examine = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC

// folder opens the directory at a path.
func (r root) folder(path string) (*os.File, error) {
	return r.open(path, "/.", examine|unix.O_DIRECTORY)
}

// file opens the file at a path; if the path ends in a symbolic link, that link.
func (r root) file(path string) (*os.File, error) { return r.open(path, "", examine) }

func (r root) open(path, suffix string, flags uint64) (*os.File, error) {
	name := filepath.Join(r.dir, path)
	fd, err := r.resolve("."+filepath.Join("/", path)+suffix, flags)
	if errors.Is(err, unix.ELOOP) && !r.follow {
		err = errSymlink
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// resolve opens a path relative to the root.
func (r root) resolve(path string, flags uint64) (int, error) {
	dir, err := unix.Open(r.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(dir)
	if r == hostRoot {
		return unix.Openat(dir, path, int(flags), 0)
	}
	how := unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_IN_ROOT}
	if !r.follow {
		how.Resolve |= unix.RESOLVE_NO_SYMLINKS
	}
	for try := 0; ; try++ {
		fd, err := openat2(dir, path, &how)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN) && try < maxRenames:
			continue
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // Linux before 5.6, or a sandbox that forbids it
			return r.walk(dir, path, int(flags))
		}
		return fd, err
	}
}

// openat2 is the system call; tests replace it.
var openat2 = unix.Openat2

// maxRenames is how often a path is resolved again because a part of it was
// renamed meanwhile.
const maxRenames = 16

// walk is resolve for systems without openat2. Links may lead out of the root, because the ones
// that it may follow come from this process's user.
func (r root) walk(dir int, path string, flags int) (int, error) {
	if r.follow {
		return unix.Openat(dir, path, flags, 0)
	}
	at, err := unix.Openat(dir, ".", examine|unix.O_DIRECTORY, 0)
	parents, last := filepath.Split(path)
	for name := range strings.SplitSeq(strings.TrimSuffix(parents, "/"), "/") {
		if err == nil && name != "" {
			at, err = step(at, name, examine)
		}
		var st unix.Stat_t
		if err == nil && unix.Fstat(at, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			unix.Close(at)
			err = unix.ELOOP
		}
	}
	if err != nil {
		return -1, err
	}
	return step(at, last, flags)
}

// step opens a name in a directory, which it closes.
func step(dir int, name string, flags int) (int, error) {
	defer unix.Close(dir)
	return unix.Openat(dir, name, flags, 0)
}

// shortcut returns a short path of the file that f is open for. No rename makes it lead
// elsewhere.
func shortcut(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

var (
	errNotRegular = errors.New("it is not a regular file")
	errTooLarge   = errors.New("it is too large")
)

// read reads a regular file of at most so many bytes. Nothing else is opened for
// reading: a named pipe would block, and a device may do anything.
func (r root) read(path string, most int64) ([]byte, error) {
	at, err := r.file(path)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	info, err := at.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	} else if err == nil && info.Size() > most {
		err = errTooLarge
	}
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: at.Name(), Err: err}
	}
	f, err := os.OpenFile(shortcut(at), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}
