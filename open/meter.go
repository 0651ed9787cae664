package open

import (
	"io"
	"sync/atomic"
)

// A meter counts the bytes read from a file.
type meter struct {
	r  io.Reader
	at io.ReaderAt   // nil if there is only a stream
	n  *atomic.Int64 // of the files that count together
}

func newMeter(r io.Reader, at io.ReaderAt) *meter { return &meter{r: r, at: at, n: new(atomic.Int64)} }

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.n.Add(int64(n))
	return n, err
}

func (m *meter) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.at.ReadAt(p, off)
	m.n.Add(int64(n))
	return n, err
}

// beside returns another file whose bytes count for m.
func (m *meter) beside(f io.ReaderAt) io.ReaderAt { return &meter{at: f, n: m.n} }

// A bounded is a ReaderAt that gives no more than left bytes. Several goroutines may use it.
type bounded struct {
	io.ReaderAt
	left atomic.Int64
	err  error // when they are used up
}

func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	if b.left.Add(-int64(len(p))) < 0 {
		return 0, b.err
	}
	return b.ReaderAt.ReadAt(p, off)
}
