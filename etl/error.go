package etl

import (
	"errors"
	"fmt"
)

var (
	// ErrNotETL reports input that is no ETW trace file at all.
	ErrNotETL = errors.New("not an ETW trace")
	// ErrUnsupported reports a file of a kind that this package does not read.
	ErrUnsupported = errors.New("unsupported")
	// ErrFormat reports bytes that the format does not allow.
	ErrFormat = errors.New("malformed")
	// ErrUsed reports a second range over the events of a reader.
	ErrUsed = errors.New("etl: the events were read already")
)

// A FormatError says where in a file something could not be read.
type FormatError struct {
	File    string // empty where a reader has only one
	Off     int64  // of the buffer, or of what else it is about, in the file
	Section string // "file header", "buffer", "event", …
	Err     error  // wraps a sentinel of this package, io.ErrUnexpectedEOF or the error of reading
}

func (e *FormatError) Error() string {
	if e.File != "" {
		return fmt.Sprintf("etl: %s: %s at %#x: %v", e.File, e.Section, e.Off, e.Err)
	}
	return fmt.Sprintf("etl: %s at %#x: %v", e.Section, e.Off, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

// malformed is an ErrFormat with the particulars.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}
