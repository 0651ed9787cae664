package collect

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/gctrail/gctrail/internal/outfile"
)

// A File is the destination of a trace. A regular file is a complete trace after every
// write: the next write overwrites its end mark. The first write puts it in the place of
// an earlier file. A destination that cannot be overwritten, such as a pipe, gets the
// mark only when it is closed.
//
// It can be read at any time, so that nothing is lost if the writer is killed. Errors of writing
// come from package os, with the path.
type File struct {
	name   string
	disk   Disk      // nil for a stream
	behind publisher // disk, until it is at its path; nil if it is there
	hold   bool      // writes leave it where it is until Release
	stream io.Writer // nil for a regular file
	closer io.Closer // of the stream; nil if that is not closed
	size   int64     // of the whole objects in it
	end    []byte    // end mark after them
	seen   time.Time // when the file was last found at its path
}

// ErrGone reports a file that was removed, renamed or replaced while it was
// written.
var ErrGone = errors.New("the file was removed, renamed or replaced while it was being written")

// seenInterval is how often a file is checked to be still at its path.
const seenInterval = time.Second

// A Disk is a file that can be overwritten.
type Disk interface {
	io.WriterAt
	io.Seeker
	io.Closer
	Truncate(size int64) error
}

// mode is the file mode of traces, which are private because they reveal what a
// program does.
const mode = 0o600

// A publisher is a Disk that appears at its path with Publish. If it is closed before, it
// removes itself.
type publisher interface {
	Publish() error
}

// CreateFile creates a file. It leaves an existing one until the first write.
func CreateFile(path string) (*File, error) {
	f, err := outfile.CreateAny(path, mode)
	if err != nil {
		return nil, err
	}
	if f.Direct() {
		return &File{name: path, stream: f, closer: f}, nil
	}
	return FileOn(f, path), nil
}

// openSegment opens a segment of a ring.
func openSegment(path string, flag int) (*File, error) {
	f, err := outfile.Open(path, mode, flag)
	if err != nil {
		return nil, err
	}
	return FileOn(f, path), nil
}

// FileOn returns a File that writes to a Disk, and closes it. If nothing was
// written, it removes the file at the path; if the Disk can be published, an earlier
// file there stays until the first write.
func FileOn(d Disk, path string) *File {
	f := &File{name: path, disk: d}
	f.behind, _ = d.(publisher)
	return f
}

// StreamTo returns a File that writes to w, which it does not close.
func StreamTo(w io.Writer, name string) *File { return &File{name: name, stream: w} }

// Name returns the file's path, or the name of a stream.
func (f *File) Name() string { return f.name }

// Size returns how many bytes were written, without the end mark.
func (f *File) Size() int64 { return f.size }

// Regular reports whether the trace can be read from the path that is the file's
// name.
func (f *File) Regular() bool { return f.stream == nil }

// Write adds complete objects, followed by the mark end. If it fails, a regular
// file is unchanged, and room is the size of the objects that would have fit,
// with an end mark.
func (f *File) Write(objects, end []byte) (room int, err error) {
	if now := time.Now(); now.Sub(f.seen) >= seenInterval {
		f.seen = now
		if err := f.present(); err != nil {
			return 0, err
		}
	}
	if f.stream != nil {
		_, err = f.stream.Write(objects)
	} else if err = f.writeAt(objects, end); err != nil {
		room = f.written(len(objects))
		// There is room for the end mark, because it was there before.
		err = errors.Join(err, f.disk.Truncate(f.size), f.mark(f.size, f.end))
	}
	if err != nil {
		return room, err
	}
	f.size += int64(len(objects))
	f.end = end
	if !f.hold {
		err = f.publish()
	}
	return 0, err
}

// Hold keeps an earlier file in place until Release, whatever is written.
func (f *File) Hold() { f.hold = true }

// Release replaces an earlier file by a held one that is not empty.
func (f *File) Release() error {
	f.hold = false
	if f.size == 0 {
		return nil
	}
	return f.publish()
}

// Held reports whether closing the file would remove it, because nothing has put it in its
// place.
func (f *File) Held() bool { return f.hold && f.behind != nil }

// publish puts the file in the place of an earlier one.
func (f *File) publish() error {
	if f.behind == nil {
		return nil
	}
	err := f.behind.Publish()
	if err == nil {
		f.behind = nil
	}
	return err
}

// Replace replaces the content of a regular file with fewer objects, without
// needing more room.
func (f *File) Replace(objects, end []byte) error {
	f.size, f.end = 0, end
	if err := f.writeAt(objects, end); err != nil {
		return err
	}
	f.size = int64(len(objects))
	return f.disk.Truncate(f.size + int64(len(end)))
}

func (f *File) writeAt(objects, end []byte) error {
	if _, err := f.disk.WriteAt(objects, f.size); err != nil {
		return err
	}
	return f.mark(f.size+int64(len(objects)), end)
}

// written returns how much of size bytes was written, less the room for a mark.
// It asks the disk, because os.File.WriteAt does not count a partial write.
func (f *File) written(size int) int {
	end, err := f.disk.Seek(0, io.SeekEnd)
	if err != nil {
		return 0
	}
	return int(min(int64(size), max(0, end-f.size-maxMark)))
}

// maxMark is the size of the longest end mark, that of V6.
const maxMark = 4

func (f *File) mark(at int64, end []byte) error {
	if len(end) == 0 {
		return nil
	}
	_, err := f.disk.WriteAt(end, at)
	return err
}

// present returns an error if the file is no longer at its path.
func (f *File) present() error {
	if f.behind != nil {
		return nil
	}
	disk, ok := f.disk.(interface{ Stat() (os.FileInfo, error) })
	if !ok {
		return nil
	}
	written, err := disk.Stat()
	if err != nil {
		return err
	}
	found, err := os.Stat(f.name)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(written, found) {
		return &os.PathError{Op: "write", Path: f.name, Err: ErrGone}
	}
	return nil // or it is unknown
}

// Close ends the trace. A regular file into which nothing was written is removed.
func (f *File) Close() error {
	if f.stream != nil {
		return f.closeStream()
	}
	gone := f.present()
	err := errors.Join(gone, f.disk.Close())
	if f.size == 0 && gone == nil && f.behind == nil {
		err = errors.Join(err, os.Remove(f.name))
	}
	return err
}

func (f *File) closeStream() error {
	var err error
	if len(f.end) > 0 {
		_, err = f.stream.Write(f.end)
	}
	if f.closer != nil {
		err = errors.Join(err, f.closer.Close())
	}
	return err
}
