package ctf

import (
	"errors"
	"fmt"
)

var (
	// ErrNotCTF reports a folder without any trace.
	ErrNotCTF = errors.New("not a CTF trace")
	// ErrFormat reports bytes that the format or the trace's metadata does not
	// allow.
	ErrFormat = errors.New("malformed")
	// ErrTooLarge reports what is beyond the bounds of this package.
	ErrTooLarge = errors.New("too large")
	// ErrUsed reports a second range over the events of a reader.
	ErrUsed = errors.New("ctf: the events were read already")
)

// A FormatError says where in a trace something could not be read.
type FormatError struct {
	File    string // within the folder given to Open
	Off     int64  // in the file
	Section string // "metadata", "packet", "event", …
	Err     error  // wraps a sentinel of this package or of tsdl, or io.ErrUnexpectedEOF
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("ctf: %s: %s at %#x: %v", e.File, e.Section, e.Off, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

// malformed is an ErrFormat with the particulars.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}
