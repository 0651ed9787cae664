package cli

import (
	"errors"
	"io"
	"os"
)

// A traceOutput is where a trace goes that is being collected. A regular file is
// a whole trace after every write: its end mark is overwritten by the next one.
type traceOutput struct {
	name   string
	w      io.Writer
	closer io.Closer // nil for standard output
	file   traceFile // nil if it cannot be overwritten: a pipe, or standard output
	size   int64     // of the whole objects in it
	end    []byte    // mark that ends them
}

// A traceFile is a file that can be overwritten.
type traceFile interface {
	io.WriterAt
	io.Seeker
	Truncate(size int64) error
}

// createTrace opens the output path; "-" is standard output.
func (std *stdio) createTrace(path string) (*traceOutput, error) {
	if path == "-" {
		return &traceOutput{name: "standard output", w: std.out}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, &outputError{path, err}
	}
	o := &traceOutput{name: path, w: f, closer: f}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		o.file = f
	}
	return o, nil
}

// write adds whole objects, behind which end belongs. When it fails, a regular
// file is what it was before, and room is for how much of the objects, and an end
// mark, there would have been room in it.
func (o *traceOutput) write(objects, end []byte) (room int, err error) {
	if o.file == nil {
		_, err = o.w.Write(objects)
	} else if err = o.writeAt(objects, end); err != nil {
		room = o.written(len(objects))
		// The end mark has its place: it was there before.
		err = errors.Join(err, o.file.Truncate(o.size), o.mark(o.size, o.end))
	}
	if err == nil {
		o.size += int64(len(objects))
		o.end = end
	}
	return room, outputFailed(o.name, err)
}

func (o *traceOutput) writeAt(objects, end []byte) error {
	if _, err := o.file.WriteAt(objects, o.size); err != nil {
		return err
	}
	return o.mark(o.size+int64(len(objects)), end)
}

// written is how much was written of size bytes, but for a mark's room. The file
// tells: os.File.WriteAt does not count the part that found room.
func (o *traceOutput) written(size int) int {
	end, err := o.file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0
	}
	return int(min(int64(size), max(0, end-o.size-maxMark)))
}

// maxMark is the size of the longest end mark, that of V6.
const maxMark = 4

func (o *traceOutput) mark(at int64, end []byte) error {
	if len(end) == 0 {
		return nil
	}
	_, err := o.file.WriteAt(end, at)
	return err
}

// close ends the output. A file into which nothing was written is removed.
func (o *traceOutput) close() error {
	var err error
	if o.file == nil && len(o.end) > 0 {
		_, err = o.w.Write(o.end)
	}
	if o.closer != nil {
		err = errors.Join(err, o.closer.Close())
	}
	if o.file != nil && o.size == 0 {
		err = errors.Join(err, os.Remove(o.name))
	}
	return outputFailed(o.name, err)
}
