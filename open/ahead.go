package open

import (
	"io"
	"io/fs"
	"runtime"
)

// An aheadReader reads its input in a goroutine of its own, so that reading and
// unpacking a file continue while its events are decoded.
type aheadReader struct {
	full chan chunk
	free chan []byte
	stop chan struct{}
	done chan struct{}

	chunk chunk // the rest of what is being emitted
	whole []byte
}

// A chunk is what one read gave.
type chunk struct {
	data []byte
	err  error
}

const (
	// aheadSize is large because to pass on a chunk takes some microseconds: with
	// what gzip gives at a time, reading ahead was slower than not to.
	aheadSize   = 512 << 10
	aheadChunks = 4
)

// ahead returns a reader that is at most aheadChunks chunks before its caller, and
// what stops it. Where there is one processor only, it is r itself.
func ahead(r io.Reader) (io.Reader, func() error) {
	if runtime.GOMAXPROCS(0) == 1 {
		return r, func() error { return nil }
	}
	a := &aheadReader{
		full: make(chan chunk, aheadChunks),
		free: make(chan []byte, aheadChunks),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	for range aheadChunks {
		a.free <- nil // made when needed: most traces are small
	}
	go a.run(r)
	return a, a.close
}

func (a *aheadReader) run(r io.Reader) {
	defer close(a.done)
	defer close(a.full)
	for {
		var buf []byte
		select {
		case buf = <-a.free:
		case <-a.stop:
			return
		}
		if buf == nil {
			buf = make([]byte, aheadSize)
		}
		c := fill(r, buf)
		a.full <- c // has room for all that there are
		if c.err != nil {
			return
		}
	}
}

// fill reads until buf is full, or reading fails.
func fill(r io.Reader, buf []byte) chunk {
	var n int
	var err error
	for n < len(buf) && err == nil {
		var m int
		m, err = r.Read(buf[n:])
		n += m
	}
	return chunk{buf[:n], err}
}

// Read emits what was read.
func (a *aheadReader) Read(p []byte) (int, error) {
	for len(a.chunk.data) == 0 {
		if a.chunk.err != nil {
			return 0, a.chunk.err
		}
		if a.whole != nil {
			a.free <- a.whole
		}
		var open bool
		if a.chunk, open = <-a.full; !open {
			return 0, fs.ErrClosed
		}
		a.whole = a.chunk.data[:cap(a.chunk.data)]
	}
	n := copy(p, a.chunk.data)
	a.chunk.data = a.chunk.data[n:]
	return n, nil
}

func (a *aheadReader) close() error {
	close(a.stop)
	<-a.done
	return nil
}
