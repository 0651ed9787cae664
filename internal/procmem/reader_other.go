//go:build !linux

package procmem

import "github.com/gctrail/gctrail/gc"

// A Reader reads the memory of one process on Linux; here it reads nothing.
type Reader struct{}

// NewReader returns a Reader of the process with a PID.
func NewReader(int) *Reader { return new(Reader) }

// Read returns ErrUnsupported.
func (*Reader) Read(bool) (Sample, error) { return Sample{}, ErrUnsupported }

// ReadShares does nothing.
func (*Reader) ReadShares() {}

// KillsSince returns an unknown number.
func (*Reader) KillsSince() gc.Opt[int64] { return gc.Opt[int64]{} }

// FindHeap finds nothing.
func (*Reader) FindHeap(...int64) bool { return false }

// ReadHeap returns unknown sizes.
func (*Reader) ReadHeap() Heap { return Heap{} }

// Available knows nothing.
func Available() gc.Opt[int64] { return gc.Opt[int64]{} }

// Total knows nothing.
func Total() gc.Opt[int64] { return gc.Opt[int64]{} }
