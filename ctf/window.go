package ctf

import (
	"bytes"
	"errors"
	"io"
)

// grain is the multiple at which the windows of a packet begin, so that all alignments
// hold within them. It is MaxAlign in bytes.
const grain = 4096

// headroom is the part of a window's memory that is free for the end of the window before it.
const headroom = 2 * grain

// A window is the part of a file that is in memory. What follows is read by another
// goroutine meanwhile, if there is memory for it.
type window struct {
	r   io.Reader
	off int64  // of buf in the file
	mem []byte // buf is a part of it
	buf []byte
	err error // why there is no more, io.EOF at the end

	next    []byte // what follows is read into it, if it is as large as mem
	reading bool   // into next
	sparse  bool   // bytes in front of the window were left out
	ahead   chan chunk
	slots   chan struct{} // bounds how many files are read at once
	rest    chunk         // was read, and is not in buf yet
}

// A chunk is a part of a file that was read ahead.
type chunk struct {
	data []byte
	err  error
}

// newWindow returns a window in mem. It reads nothing ahead.
func newWindow(r io.Reader, mem []byte) window { return window{r: r, mem: mem, buf: mem[:0]} }

// open begins with another file. The window has size bytes, and as many to read ahead
// unless there are no slots for that.
func (w *window) open(r io.Reader, size int, slots chan struct{}) {
	if len(w.mem) != size {
		w.mem = make([]byte, size)
	}
	if w.next == nil && slots != nil {
		w.next, w.ahead, w.slots = make([]byte, size), make(chan chunk, 1), slots
	}
	w.r, w.off, w.buf, w.err, w.rest = r, 0, w.mem[:0], nil, chunk{}
}

// close waits until the file is no longer read.
func (w *window) close() {
	if w.reading {
		<-w.ahead
		w.reading = false
	}
}

// fill makes n bytes available, or as many as there are. It reads as much as
// there is room for.
func (w *window) fill(n int) bool {
	if len(w.buf) >= n {
		return true
	}
	w.advance()
	if len(w.buf) < n && (cap(w.buf) < n || cap(w.buf) < len(w.mem)/2) {
		w.resize(max(n, len(w.mem)))
	}
	for len(w.buf) < n && w.err == nil {
		w.read()
	}
	if w.sparse {
		w.sparse = false // more is left out behind it, probably
	} else {
		w.readAhead()
	}
	return len(w.buf) >= n
}

// more adds bytes: those that were read ahead, or else as many as there is room for. It returns
// false at the end of the file.
func (w *window) more() bool {
	had, want := len(w.buf), len(w.mem)
	if w.reading {
		want = had + 1
	}
	w.fill(want)
	return len(w.buf) > had
}

// read appends at most as many bytes as there is room for.
func (w *window) read() {
	room := w.buf[len(w.buf):cap(w.buf)]
	var got int
	if len(w.rest.data) > 0 {
		got = copy(room, w.rest.data)
		w.rest.data = w.rest.data[got:]
		w.err = w.rest.end()
	} else {
		got, w.err = w.r.Read(room)
	}
	w.buf = w.buf[:len(w.buf)+got]
}

// end returns the error of reading once all bytes of the chunk are used.
func (c *chunk) end() error {
	if len(c.data) > 0 {
		return nil
	}
	return c.err
}

// readAhead begins to read what follows.
func (w *window) readAhead() {
	if w.err != nil || len(w.rest.data) > 0 || len(w.next) != len(w.mem) {
		return
	}
	w.reading = true
	go func(r io.Reader, into []byte, ahead chan<- chunk, slots chan struct{}) {
		slots <- struct{}{}
		n := 0
		var err error
		for n < len(into) && err == nil {
			var got int
			got, err = r.Read(into[n:])
			n += got
		}
		<-slots
		ahead <- chunk{into[:n], err}
	}(w.r, w.next[headroom:], w.ahead, w.slots)
}

// advance waits for the bytes that were read ahead, copies the unread end of the window in front
// of them, and exchanges the two memories. If that end is longer than headroom, the bytes become
// the rest, which read copies when there is room.
func (w *window) advance() {
	if !w.reading {
		return
	}
	w.rest, w.reading = <-w.ahead, false
	left := len(w.buf)
	if left > headroom || len(w.next) != len(w.mem) {
		w.err = w.rest.end()
		return
	}
	joined := w.next[headroom-left : headroom+len(w.rest.data)]
	copy(joined, w.buf)
	w.mem, w.next, w.buf, w.err, w.rest = w.next, w.mem, joined, w.rest.err, chunk{}
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
	for n > int64(len(w.buf)) && (w.reading || len(w.rest.data) > 0) {
		n -= int64(len(w.buf))
		w.off += int64(len(w.buf))
		w.buf = w.mem[:0]
		w.advance()
		if len(w.rest.data) > 0 {
			w.read()
		}
	}
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
				w.off, w.sparse = to, true
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
