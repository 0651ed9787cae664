package outfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
)

var (
	// ErrInput reports an output that is one of the inputs.
	ErrInput = errors.New("it is an input")
	// ErrIrregular reports an output that exists and is not a regular file.
	ErrIrregular = errors.New("it is not a regular file")
	// ErrSymlink reports a symbolic link that another user may have made.
	ErrSymlink = errors.New("it is a symbolic link in a folder that other users can write to, which is not followed as root")
)

// Regular returns an error if a path exists and is not a regular file. It accepts the
// null device.
func Regular(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() || path == os.DevNull {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: ErrIrregular}
}

// Open opens a file to write, or makes it; flag is added to the flags of os.OpenFile. As
// root it does not follow a symbolic link that another user may have made, because the
// link could lead to any file.
func Open(path string, perm fs.FileMode, flag int) (*os.File, error) {
	return open(path, perm, flag|os.O_WRONLY|os.O_CREATE)
}

func open(path string, perm fs.FileMode, flag int) (*os.File, error) {
	if err := refuseLink(path); err != nil {
		return nil, err
	}
	if guarded(path) {
		flag |= noFollow
	}
	return os.OpenFile(path, flag, perm)
}

// refuseLink returns an error for a symbolic link that another user can have made for
// root to follow.
func refuseLink(path string) error {
	if !guarded(path) {
		return nil
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return &fs.PathError{Op: "open", Path: path, Err: ErrSymlink}
	}
	return nil
}

// guarded reports whether a path must not be a symbolic link.
func guarded(path string) bool { return asRoot() && shared(filepath.Dir(path)) }

// refuseInput returns an error if an output is one of the inputs, or the file that
// standard input is.
func refuseInput(path string, there fs.FileInfo, inputs []string) error {
	same := func(in fs.FileInfo, err error) bool { return err == nil && os.SameFile(there, in) }
	if same(os.Stdin.Stat()) || slices.ContainsFunc(inputs, func(input string) bool { return same(os.Stat(input)) }) {
		return &fs.PathError{Op: "open", Path: path, Err: ErrInput}
	}
	return nil
}

// IsFull reports whether something could not be written because there is no room.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		runtime.GOOS == "windows" && errors.Is(err, errorDiskFull)
}

// errorDiskFull is Windows's ERROR_DISK_FULL.
const errorDiskFull = syscall.Errno(112)
