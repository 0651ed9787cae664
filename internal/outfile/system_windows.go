package outfile

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

const (
	noFollow    = 0
	errReadOnly = windows.ERROR_WRITE_PROTECT
)

func asRoot() bool { return false }

func shared(string) bool { return false }

// openPart makes a new file that can be renamed while it is open.
func openPart(path string, _ fs.FileMode) (*os.File, error) {
	return openShared(path, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.CREATE_NEW)
}

// moved returns a file that was renamed to a path. It is opened again, because a handle
// from before may lack the identity of the file, and lets others remove it.
func moved(f *os.File, path string) (*os.File, error) {
	now, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return f, err
	}
	_, err = now.Seek(0, io.SeekEnd)
	return now, errors.Join(err, f.Close())
}

// openLeft opens a file that a dead writer may have left.
func openLeft(path string) (*os.File, error) {
	return openShared(path, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.OPEN_EXISTING)
}

func openShared(path string, access, disposition uint32) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, access, share, nil, disposition, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// lock locks a file until its process ends. It locks a byte far behind the content, so
// that the content can be read and written meanwhile.
func lock(f *os.File) (held, known bool) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	behind := windows.Overlapped{OffsetHigh: 1 << 30}
	switch err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &behind); {
	case err == nil:
		return true, true
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, true
	default:
		return false, false
	}
}

// isOwn returns true, because others could not have opened the file to write.
func isOwn(fs.FileInfo) bool { return true }

// hasHardLinks returns false, because Windows does not report that here.
func hasHardLinks(fs.FileInfo) bool { return false }

// setOwnerAndMode returns true, because a part inherits its rights from the folder, like
// the file that it replaces.
func setOwnerAndMode(*os.File, fs.FileInfo) bool { return true }

// isDescriptor reports that a symbolic link is no descriptor of a process.
func isDescriptor(string) bool { return false }

// FreeSpace returns how many bytes this user can still write to the disk of a folder.
func FreeSpace(folder string) (int64, bool) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, false
	}
	return int64(min(free, math.MaxInt64)), true
}
