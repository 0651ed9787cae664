package eventpipe

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// A filter reads a V4 trace as it arrives, and passes on whole objects to be changed.
type filter struct {
	from   io.Reader
	buf    []byte // received, without the end of an object
	out    []byte // to be returned by read
	failed bool   // everything passes
	err    error  // of from, once everything before it was returned

	in   *ObjectReader
	feed *bytes.Reader // of in
	next int64         // where the next object begins
}

// MaxHeld bounds the bytes of a session that are received without the end of an object.
// The runtime's blocks have at most 100 KiB, but a block of nettrace.Writer may have a
// payload of 4 MiB.
const MaxHeld = 5 << 20

func newFilter(from io.Reader) filter {
	feed := new(bytes.Reader)
	return filter{from: from, feed: feed, in: NewObjectReader(feed)}
}

// read returns the output of pass, which appends to out whatever it makes of whole
// objects. At the end of the input, read returns the rest unchanged.
func (f *filter) read(p []byte, pass func(objects []byte)) (int, error) {
	for len(f.out) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		read, err := f.from.Read(p)
		f.buf = append(f.buf, p[:read]...)
		f.divide(pass)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if len(f.out) == 0 {
				return 0, err
			}
		case err != nil:
			f.out, f.err = append(f.out, f.buf...), err
		}
	}
	size := copy(p, f.out)
	f.out = f.out[:copy(f.out, f.out[size:])]
	return size, nil
}

// divide passes whole objects.
func (f *filter) divide(pass func(objects []byte)) {
	whole := len(f.buf)
	if !f.failed {
		whole = WholeV4(f.buf, f.next)
		f.failed = whole < 0 || len(f.buf)-whole > MaxHeld
	}
	if f.failed {
		whole = len(f.buf)
		f.out = append(f.out, f.buf...)
	} else if whole > 0 {
		pass(f.buf[:whole])
	}
	f.buf = f.buf[:copy(f.buf, f.buf[whole:])]
}

// each calls fn with each object and its bytes, with unknown blocks before it. It returns the
// bytes after the last object: an end tag, unknown blocks or damage.
func (f *filter) each(objects []byte, fn func(o *Object, raw []byte)) (rest []byte) {
	f.feed.Reset(objects)
	o, err := f.in.Next()
	for ; err == nil; o, err = f.in.Next() {
		size := f.in.Offset() + 1 - f.next // with its end tag
		fn(o, objects[:size])
		objects, f.next = objects[size:], f.next+size
	}
	f.failed = !errors.Is(err, io.EOF)
	f.next += int64(len(objects))
	return objects
}
