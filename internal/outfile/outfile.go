// Package outfile opens files to write, and none that somebody else would have us
// overwrite.
package outfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

var (
	// ErrInput reports an output that is one of the inputs.
	ErrInput = errors.New("it is an input")
	// ErrIrregular reports an output that is there and is not a regular file.
	ErrIrregular = errors.New("it is not a regular file")
	// ErrSymlink reports a symbolic link that another user can have made.
	ErrSymlink = errors.New("it is a symbolic link in a folder that other users can write to, which is not followed as root")
)

// Create makes a file for output, or empties an existing file, unless it is
// one of the inputs or no regular file.
func Create(path string, perm fs.FileMode, inputs []string) (*os.File, error) {
	if err := Regular(path); err != nil {
		return nil, err // before it is opened: a pipe would wait for who reads it
	}
	f, err := Open(path, perm, 0)
	if err != nil {
		return nil, err
	}
	if err := empty(f, path, inputs); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func empty(f *os.File, path string, inputs []string) error {
	there, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !there.Mode().IsRegular():
		return Regular(path) // the null device has nothing to empty
	}
	for _, input := range inputs {
		if in, err := os.Stat(input); err == nil && os.SameFile(there, in) {
			return &fs.PathError{Op: "open", Path: path, Err: ErrInput}
		}
	}
	if in, err := os.Stdin.Stat(); err == nil && os.SameFile(there, in) {
		return &fs.PathError{Op: "open", Path: path, Err: ErrInput}
	}
	return f.Truncate(0)
}

// Regular returns an error if what is at a path is there and no regular file; the
// null device is as good as one.
func Regular(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() || path == os.DevNull {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: ErrIrregular}
}

// Open opens a file to write, or makes it; flag is added to those of os.OpenFile.
// As root it does not follow a symbolic link that another user can have made.
func Open(path string, perm fs.FileMode, flag int) (*os.File, error) {
	flag |= os.O_WRONLY | os.O_CREATE
	if asRoot() && shared(filepath.Dir(path)) {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, &fs.PathError{Op: "open", Path: path, Err: ErrSymlink}
		}
		flag |= noFollow
	}
	return os.OpenFile(path, flag, perm)
}
