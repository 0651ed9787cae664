package ctf

import (
	"bytes"
	"errors"
	"io"
)

// grain is what the windows of a packet begin at a multiple of, so that all
// alignments hold within them. It is MaxAlign in bytes.
const grain = 4096

// A window is the part of a file that is in memory.
type window struct {
	r   io.Reader
	off int64 // of buf in the file
	buf []byte
	err error // why there is no more, io.EOF at the end
}

// fill makes n bytes available, or as many as there are. It reads as much as
// the buffer can hold.
func (w *window) fill(n int) bool {
	if len(w.buf) < n && cap(w.buf) < n {
		w.buf = append(make([]byte, 0, n), w.buf...)
	}
	for len(w.buf) < n && w.err == nil {
		var got int
		got, w.err = w.r.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+got]
	}
	return len(w.buf) >= n
}

// discard passes over n bytes. Past the end of the file is its end.
func (w *window) discard(n int64) {
	if n <= int64(len(w.buf)) {
		rest := copy(w.buf, w.buf[n:])
		w.buf = w.buf[:rest]
		w.off += n
		return
	}
	n -= int64(len(w.buf))
	w.off += int64(len(w.buf))
	w.buf = w.buf[:0]
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

// failed is the error of reading, nil at the end of the file.
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
