package ctf

import (
	"bytes"
	"errors"
	"io"
)

// grain is the multiple at which the windows of a packet begin, so that all alignments
// hold within them. It is MaxAlign in bytes.
const grain = 4096

// A window is the part of a file that is in memory.
type window struct {
	r   io.Reader
	off int64  // of buf in the file
	mem []byte // buf is a part of it
	buf []byte
	err error // why there is no more, io.EOF at the end
}

// newWindow returns a window of size bytes that has mem, if that is large
// enough.
func newWindow(r io.Reader, mem []byte, size int) window {
	if len(mem) != size {
		mem = make([]byte, size)
	}
	return window{r: r, mem: mem, buf: mem[:0]}
}

// fill makes n bytes available, or as many as there are. It reads as much as
// there is room for.
func (w *window) fill(n int) bool {
	if len(w.buf) >= n {
		return true
	}
	if cap(w.buf) < n || cap(w.buf) < len(w.mem)/2 {
		w.resize(max(n, len(w.mem)))
	}
	for len(w.buf) < n && w.err == nil {
		var got int
		got, w.err = w.r.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+got]
	}
	return len(w.buf) >= n
}

// resize moves the content to the start of a memory of n bytes.
func (w *window) resize(n int) {
	mem := w.mem
	if len(mem) != n {
		mem = make([]byte, n)
	}
	had := copy(mem, w.buf)
	w.mem, w.buf = mem, mem[:had]
}

// discard skips n bytes. Past the end of the file is its end.
func (w *window) discard(n int64) {
	if n <= int64(len(w.buf)) {
		w.buf = w.buf[n:]
		w.off += n
		return
	}
	n -= int64(len(w.buf))
	w.off += int64(len(w.buf))
	w.buf = w.mem[:0]
	if w.err != nil {
		return
	}
	if s, ok := w.r.(io.Seeker); ok && n > int64(cap(w.buf)) {
		if size, err := s.Seek(0, io.SeekEnd); err == nil {
			to := min(size, w.off+n)
			if _, err := s.Seek(to, io.SeekStart); err == nil {
				w.off = to
				return
			}
		}
	}
	for n > 0 && w.err == nil {
		var got int
		got, w.err = w.r.Read(w.buf[:min(n, int64(cap(w.buf)))])
		n -= int64(got)
		w.off += int64(got)
	}
}

// failed returns the error of reading, nil at the end of the file.
func (w *window) failed() error {
	if w.err == nil || errors.Is(w.err, io.EOF) {
		return nil
	}
	return w.err
}

// seek discards bytes up to the next place with the pattern, from the byte at
// from on.
func (w *window) seek(pattern []byte, from int64) bool {
	w.discard(from)
	for w.fill(len(pattern)) {
		if i := bytes.Index(w.buf, pattern); i >= 0 {
			w.discard(int64(i))
			return true
		}
		w.discard(int64(len(w.buf) - len(pattern) + 1))
		w.fill(cap(w.buf))
	}
	return false
}
