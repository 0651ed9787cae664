package proc

import (
	"bytes"
	"io"
	"math"
	"os"
	"strconv"
	"sync"

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

// maxFile bounds reads of a file, because a process may control its size.
const maxFile = 1 << 20

// ReadSome returns the beginning of a file: more than a Buffer holds. After an error, it is what
// could be read.
func ReadSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// number reads a file with one number.
func number(path string) gc.Opt[int64] {
	b := Borrow()
	defer b.GiveBack()
	text, err := b.Read(path)
	if err != nil {
		return gc.Opt[int64]{}
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return gc.SomeIf(n, err == nil)
}

// readFields reads the lines of a file, as fields does. Without the file, nothing is known.
func readFields(path, separator string, unit int64, wanted map[string]*gc.Opt[int64]) error {
	b := Borrow()
	defer b.GiveBack()
	text, err := b.Read(path)
	if err == nil {
		fields(text, separator, unit, wanted)
	}
	return err
}

// fields reads lines of a name, a separator and a number, in a unit. It leaves out
// numbers that are negative or too large.
func fields(text []byte, separator string, unit int64, wanted map[string]*gc.Opt[int64]) {
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
