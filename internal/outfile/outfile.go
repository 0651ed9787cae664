// Package outfile makes output files. An earlier file keeps its content until the new content is
// complete and on disk, so that no failure, kill or full disk leaves half a file. It refuses
// symbolic links by which another user could have it overwrite a file.
package outfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A File is output that is written to a temporary file, its part, next to the final path.
// Publish moves it there. The part is locked while it is written, so that Sweep can
// remove the parts of killed writers.
type File struct {
	*os.File        // the part; the file at the path once that is published, or for a device
	path     string // the path asked for, which errors name
	target   string // path without symbolic links
	part     string // path of the part; empty if it has no name, and once it is published
	done     bool

	mustOverwrite string // why Publish overwrites the file at the path; empty if it replaces it
	overwritten   string // why Publish overwrote it; empty if it did not
}

// Create returns the output for a path, unless that is one of the inputs or no regular
// file. An existing file stays until Publish or Commit. The new file has the mode and
// owner of an earlier one, or else perm. A symbolic link stays, and its target is
// replaced.
//
// A file that cannot be replaced is overwritten by Publish instead, with the complete
// content: a file with several names, with an owner or group that this user cannot give,
// or in a folder that this user cannot write to.
func Create(path string, perm fs.FileMode, inputs []string) (*File, error) {
	if err := errors.Join(Regular(path), refuseLink(path)); err != nil {
		return nil, err
	}
	target, descriptor := follow(path)
	there, err := os.Stat(target)
	if err != nil {
		return create(path, target, perm)
	}
	if there.Mode().IsRegular() {
		if err := refuseInput(path, there, inputs); err != nil {
			return nil, err
		}
	}
	// This also finds out whether the file may be written to.
	f, err := open(path, perm, os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	if descriptor || !there.Mode().IsRegular() {
		if descriptor {
			err = f.Truncate(0)
		}
		return &File{File: f, path: path, target: target}, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return replace(path, target, there)
}

// CreateAny is Create for any kind of file: it writes to a pipe or a device directly.
func CreateAny(path string, perm fs.FileMode) (*File, error) {
	if Regular(path) == nil {
		return Create(path, perm, nil)
	}
	f, err := Open(path, perm, os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	return &File{File: f, path: path, target: path}, nil
}

// WriteFile writes data to the file at a path, as os.WriteFile does.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	f, err := Create(path, perm, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// create returns the output for a path that has no file yet.
func create(path, target string, perm fs.FileMode) (*File, error) {
	f, err := newPart(filepath.Dir(target), filepath.Base(target), perm)
	if err != nil {
		return nil, renamed(err, path)
	}
	return &File{File: f, path: path, target: target, part: f.Name()}, nil
}

// replace returns the output for a path that has a file.
func replace(path, target string, there fs.FileInfo) (*File, error) {
	f, err := newPart(filepath.Dir(target), filepath.Base(target), private)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnly) {
		return elsewhere(path, target)
	}
	if err != nil {
		return nil, renamed(err, path)
	}
	out := &File{File: f, path: path, target: target, part: f.Name()}
	switch {
	case hasHardLinks(there):
		out.mustOverwrite = "it has hard links"
	case !setOwnerAndMode(f, there):
		out.mustOverwrite = "a new file cannot have its owner and mode"
	}
	return out, nil
}

// private is the mode of parts before they get the mode of the file they replace.
const private = 0o600

// elsewhere returns the output for a file in a folder that cannot be written to. Its part
// is in the folder for temporary files, without a name.
func elsewhere(path, target string) (*File, error) {
	f, err := newPart(os.TempDir(), filepath.Base(target), private)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &File{File: f, path: path, target: target, mustOverwrite: "its folder is not writable"}, nil
}

// InPlace returns why Publish has overwritten the earlier file instead of replacing it, so
// that a kill at that moment would have left half a file; empty if it did not.
func (f *File) InPlace() string { return f.overwritten }

// Direct reports whether writes go to the path at once, as to a device.
func (f *File) Direct() bool { return f.part == "" && f.mustOverwrite == "" }

// Commit ends the output: it replaces the file at its path.
func (f *File) Commit() error { return errors.Join(f.Publish(), f.Close()) }

// Close closes the output. Without Publish, the earlier file stays, and the part is
// removed. Closing twice does nothing.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	var err error
	if f.part != "" {
		err = os.Remove(f.part)
	}
	return errors.Join(err, f.File.Close())
}

// Publish moves the part to the path once it is on disk. Further writes, and Close, then
// concern the file there, so that a recording can be published as soon as it can be read.
// Publishing twice does nothing.
func (f *File) Publish() error {
	if f.Direct() {
		return nil
	}
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) { // a file system without it
		return renamed(err, f.path)
	}
	if f.mustOverwrite != "" {
		return renamed(f.overwrite(), f.path)
	}
	err := os.Rename(f.part, f.target)
	if err == nil {
		f.part = ""
		SyncFolder(filepath.Dir(f.target))
		f.File, err = moved(f.File, f.target)
		return renamed(err, f.path)
	}
	// The file may be mounted by a container, or on Windows open elsewhere, so that it
	// cannot be replaced.
	err = &fs.PathError{Op: "rename", Path: f.path, Err: errors.Unwrap(err)}
	if _, gone := os.Stat(f.target); gone != nil {
		return err
	}
	f.mustOverwrite = "it cannot be replaced: " + errors.Unwrap(err).Error()
	return renamed(f.overwrite(), f.path)
}

// overwrite overwrites the file at the path with the part, and continues with that file.
func (f *File) overwrite() error {
	out, err := open(f.path, private, os.O_RDWR)
	if err != nil {
		return err
	}
	if err := fill(out, f.File); err != nil {
		return errors.Join(err, out.Close())
	}
	err = f.File.Close()
	if f.part != "" {
		err = errors.Join(err, os.Remove(f.part))
	}
	f.File, f.part, f.overwritten, f.mustOverwrite = out, "", f.mustOverwrite, ""
	return err
}

// fill copies the content of a part to out. It first writes what makes out longer, so that a
// full disk leaves the earlier content as it was.
func fill(out, part *os.File) error {
	size, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	there, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size > there {
		if _, err := io.Copy(io.NewOffsetWriter(out, there), io.NewSectionReader(part, there, size-there)); err != nil {
			return errors.Join(err, out.Truncate(there))
		}
	}
	if _, err := io.Copy(io.NewOffsetWriter(out, 0), io.NewSectionReader(part, 0, min(size, there))); err != nil {
		return err
	}
	if err := out.Truncate(size); err != nil {
		return err
	}
	_, err = out.Seek(0, io.SeekEnd)
	return errors.Join(err, out.Sync())
}

// Write writes to the end of the output.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, renamed(err, f.path)
}

// WriteAt writes to a place of the output.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, renamed(err, f.path)
}

// Truncate sets the size of the output.
func (f *File) Truncate(size int64) error { return renamed(f.File.Truncate(size), f.path) }

// Name returns the path that the output is for.
func (f *File) Name() string { return f.path }

// renamed returns err with the requested path in place of the part's.
func renamed(err error, path string) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: p.Op, Path: path, Err: p.Err}
	}
	return err
}

// maxLinks bounds the symbolic links that lead to a file.
const maxLinks = 40

// follow returns where the symbolic links at a path lead, and whether it is a descriptor
// of a process, such as /dev/stderr: others that have it open would not see its
// replacement.
func follow(path string) (target string, descriptor bool) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if isDescriptor(path) {
			return path, true
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path, false
}
