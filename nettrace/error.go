package nettrace

import (
	"errors"
	"fmt"
)

var (
	// ErrNotNettrace reports input that is no EventPipe trace at all.
	ErrNotNettrace = errors.New("not an EventPipe trace")
	// ErrUnsupportedVersion reports a format version that is too old or too new.
	ErrUnsupportedVersion = errors.New("unsupported version")
	// ErrFormat reports bytes that the format does not allow.
	ErrFormat = errors.New("malformed")
)

// A FormatError says where in a trace something could not be read.
type FormatError struct {
	Off     int64  // in the uncompressed input
	Section string // "event block", "metadata", …
	Err     error  // wraps a sentinel of this package or of binread, or io.ErrUnexpectedEOF
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("nettrace: %s at %#x: %v", e.Section, e.Off, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

// malformed is an ErrFormat with the particulars.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}
