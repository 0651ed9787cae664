//go:build !linux && !windows

package proc

import "github.com/gctrail/gctrail/clr"

// A ProcessorReader reads the processor time of one process on Linux and Windows; here it reads nothing.
type ProcessorReader struct{}

// NewProcessorReader returns a ProcessorReader of the process with a PID.
func NewProcessorReader(int) *ProcessorReader { return new(ProcessorReader) }

// Limits returns no limits.
func (*ProcessorReader) Limits() clr.ProcessLimits { return clr.ProcessLimits{} }

// Read returns ErrUnsupported.
func (*ProcessorReader) Read(*Scan) (ProcessorSample, error) {
	return ProcessorSample{}, ErrUnsupported
}

// A Scan is empty.
type Scan struct{}
