package proc

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"sync"
	"syscall"

	"github.com/gctrail/gctrail/gc"
)

// A Buffer holds the beginning of a file.
type Buffer [4 << 10]byte

// buffers holds the buffers of all readers, because few read at a time.
var buffers = sync.Pool{New: func() any { return new(Buffer) }}

// Borrow returns a buffer, which its caller gives back.
func Borrow() *Buffer { return buffers.Get().(*Buffer) }

// GiveBack ends the use of a buffer.
func (b *Buffer) GiveBack() { buffers.Put(b) }

// Read returns the beginning of a file, until the next call. It makes as few system
// calls as possible: an os.File makes twice as many.
func (b *Buffer) Read(name string) ([]byte, error) {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	return b.fill(fd)
}

func (b *Buffer) fill(fd int) ([]byte, error) {
	for {
		n, err := syscall.Read(fd, b[:])
		if !errors.Is(err, syscall.EINTR) {
			return b[:max(n, 0)], err
		}
	}
}

// Number reads a file with one number.
func (b *Buffer) Number(name string) gc.Opt[int64] {
	text, err := b.Read(name)
	if err != nil {
		return gc.Opt[int64]{}
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return gc.SomeIf(n, err == nil)
}

// Fields reads lines of a name, a separator and a number, in a unit. It leaves out
// numbers that are negative or too large.
func Fields(text []byte, separator string, unit int64, wanted map[string]*gc.Opt[int64]) {
	for line := range bytes.Lines(text) {
		name, value, found := bytes.Cut(line, []byte(separator))
		to := wanted[string(name)]
		if !found || to == nil {
			continue
		}
		digits, _, _ := bytes.Cut(bytes.TrimSpace(value), []byte(" "))
		if n, err := strconv.ParseInt(string(digits), 10, 64); err == nil && n >= 0 && n < math.MaxInt64/unit {
			*to = gc.Some(n * unit)
		}
	}
}
