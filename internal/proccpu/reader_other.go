//go:build !linux

package proccpu

// A Reader reads the processor time of one process on Linux; here it reads nothing.
type Reader struct{}

// NewReader returns a Reader of the process with a PID.
func NewReader(int) *Reader { return new(Reader) }

// Limits returns no limits.
func (*Reader) Limits() Limits { return Limits{} }

// Read returns ErrUnsupported.
func (*Reader) Read(*Scan) (Sample, error) { return Sample{}, ErrUnsupported }

// A Scan is empty.
type Scan struct{}
