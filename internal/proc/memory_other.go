//go:build !linux

package proc

import "github.com/gctrail/gctrail/gc"

// A MemoryReader reads the memory of one process on Linux; here it reads nothing.
type MemoryReader struct{}

// NewMemoryReader returns a MemoryReader of the process with a PID.
func NewMemoryReader(int) *MemoryReader { return new(MemoryReader) }

// Read returns ErrUnsupported.
func (*MemoryReader) Read(bool) (MemorySample, error) { return MemorySample{}, ErrUnsupported }

// RSS returns an unknown size.
func (*MemoryReader) RSS() gc.Opt[int64] { return gc.Opt[int64]{} }

// Peak returns nothing.
func (*MemoryReader) Peak() gc.Opt[int64] { return gc.Opt[int64]{} }

// ReadShares does nothing.
func (*MemoryReader) ReadShares() {}

// KillsSince returns an unknown number.
func (*MemoryReader) KillsSince() gc.Opt[int64] { return gc.Opt[int64]{} }

// FindHeap finds nothing.
func (*MemoryReader) FindHeap(...int64) bool { return false }

// ReadHeap returns unknown sizes.
func (*MemoryReader) ReadHeap() Heap { return Heap{} }

// Available knows nothing.
func Available() gc.Opt[int64] { return gc.Opt[int64]{} }

// Total knows nothing.
func Total() gc.Opt[int64] { return gc.Opt[int64]{} }
