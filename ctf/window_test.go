package ctf

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

var errDisk = errors.New("the disk fails")

// TestWindow moves windows over files at random and compares their content with the file. The
// readers return few bytes at a time, cannot seek, or fail at the end.
func TestWindow(t *testing.T) {
	const size = 4 * headroom
	rnd := rand.New(rand.NewPCG(1, 2))
	file := make([]byte, 20*size+5)
	for i := range file {
		file[i] = byte(rnd.Uint32())
	}
	failing := func(r io.Reader) io.Reader { return io.MultiReader(r, iotest.ErrReader(errDisk)) }
	for _, c := range []struct {
		name   string
		reader func(io.Reader) io.Reader
		ahead  bool
		err    error
	}{
		{"alone", func(r io.Reader) io.Reader { return r }, false, io.EOF},
		{"ahead", func(r io.Reader) io.Reader { return r }, true, io.EOF},
		{"halves", iotest.HalfReader, true, io.EOF},
		{"error with data", iotest.DataErrReader, true, io.EOF},
		{"failing", failing, true, errDisk},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w window
			for range 20 {
				content := file[:rnd.IntN(len(file))]
				if in := c.reader(bytes.NewReader(content)); c.ahead {
					w.open(in, size, make(chan struct{}, 1))
				} else {
					w = newWindow(in, make([]byte, size))
				}
				roam(t, &w, content, c.err, rnd)
				w.close()
			}
		})
	}
}

// roam moves a window over a file until its end.
func roam(t *testing.T, w *window, content []byte, end error, rnd *rand.Rand) {
	t.Helper()
	for at := 0; at < len(content); {
		switch n := rnd.IntN(3 * len(w.mem) / 2); rnd.IntN(8) {
		case 0:
			w.discard(int64(n))
			at += n
		case 1:
			w.resize(max(len(w.mem)/2, len(w.buf), 1))
		case 2:
			w.resize(max(len(w.next), len(w.buf), 4*headroom))
		case 3:
			n = min(n, len(w.mem))
			if whole := w.fill(n); whole != (n <= len(content)-at) {
				t.Fatalf("%d bytes at %d of %d: %t", n, at, len(content), whole)
			}
		default: // as a decoder moves on
			n = min(max(len(w.buf)-rnd.IntN(2*headroom), 0), len(w.buf))
			w.discard(int64(n))
			w.fill(len(w.buf) + 1)
			at += n
		}
		if at > len(content) {
			break
		}
		if w.off != int64(at) || !bytes.HasPrefix(content[at:], w.buf) {
			t.Fatalf("%d bytes at %d of %d are not those at %d", len(w.buf), w.off, len(content), at)
		}
	}
	if w.fill(len(w.buf) + 1) {
		t.Fatalf("%d bytes behind the end", len(w.buf))
	}
	if !errors.Is(w.err, end) {
		t.Errorf("ends with %v", w.err)
	}
}
