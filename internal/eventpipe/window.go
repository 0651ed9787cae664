package eventpipe

import (
	"errors"
	"io"
	"math/bits"
)

// WindowSizes are the size that a window begins with and the one that it grows to, in
// bytes.
type WindowSizes struct{ Least, Most int }

var (
	// FileWindow has room for several blocks, so that few are in two windows, and
	// is small enough for the processor's cache to have a block still when it is
	// decoded.
	FileWindow = WindowSizes{64 << 10, 512 << 10}
	// LiveWindow is small for an idle process, because there may be many.
	LiveWindow = WindowSizes{4 << 10, 128 << 10}
)

// A window is the part of the input that is in memory. Like a bufio.Reader, it reports an
// error of the input once, and then reads on.
type window struct {
	in   io.Reader
	buf  []byte
	r, w int         // buf[r:w] was read from in, and not taken
	err  error       // of in, to be reported behind buf[r:w]
	size WindowSizes // of buf
	// turn returns the buffer in which a window with n bytes continues, and which begins
	// with rest. It must not change the old buffer while its bytes are in use.
	turn func(rest []byte, n int) ([]byte, error)
}

func newWindow(in io.Reader, size WindowSizes) *window {
	w := &window{in: in, size: size}
	w.turn = w.slide
	return w
}

// slide reuses the buffer, or replaces it by a larger one if it is too small for two
// blocks.
func (w *window) slide(rest []byte, n int) ([]byte, error) {
	buf := w.buf
	if len(buf) < w.size.Most && 2*n > len(buf) {
		buf = make([]byte, min(w.size.Most, max(w.size.Least, 1<<bits.Len(uint(2*n-1)))))
	}
	copy(buf, rest)
	return buf, nil
}

// peek returns the next n bytes, without taking them. If there are fewer, it returns
// these with the reason.
func (w *window) peek(n int) ([]byte, error) {
	for w.w-w.r < n {
		if err := w.fill(n); err != nil {
			return w.buf[w.r:w.w], err
		}
	}
	return w.buf[w.r : w.r+n : w.r+n], nil
}

// look is peek, but it leaves the reason why there are fewer bytes to the next call.
func (w *window) look(n int) []byte {
	b, err := w.peek(n)
	if err != nil {
		w.err = err
	}
	return b
}

// fill reads available input into a buffer with room for n bytes.
func (w *window) fill(n int) error {
	if err := w.err; err != nil {
		w.err = nil
		return err
	}
	if len(w.buf)-w.r < n {
		if err := w.renew(n); err != nil {
			return err
		}
	}
	got, err := read(w.in, w.buf[w.w:])
	w.w += got
	if got == 0 {
		return err
	}
	w.err = err
	return nil
}

// renew continues in another buffer, or at the start of the same.
func (w *window) renew(n int) error {
	rest := w.buf[w.r:w.w]
	buf, err := w.turn(rest, n)
	if err != nil {
		return err
	}
	w.buf, w.r, w.w = buf, 0, len(rest)
	return nil
}

// read reads at least a byte, or fails.
func read(in io.Reader, p []byte) (n int, err error) {
	const tries = 100
	for range tries {
		if n, err = in.Read(p); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// take consumes n peeked bytes.
func (w *window) take(n int) { w.r += n }

// skip takes n bytes, and returns how many there were.
func (w *window) skip(n int) (skipped int, err error) {
	for skipped < n {
		if w.r == w.w {
			if err := w.fill(1); err != nil {
				return skipped, err
			}
		}
		m := min(n-skipped, w.w-w.r)
		w.r += m
		skipped += m
	}
	return skipped, nil
}

// Read takes the bytes in memory, or else reads the input directly, because it is for
// objects larger than the buffer.
func (w *window) Read(p []byte) (int, error) {
	if w.r < w.w {
		n := copy(p, w.buf[w.r:w.w])
		w.r += n
		return n, nil
	}
	if err := w.err; err != nil {
		w.err = nil
		return 0, err
	}
	return read(w.in, p)
}

// ended reports whether an error says that the input ends.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
