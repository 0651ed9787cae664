package tsdl

import (
	"errors"
	"fmt"
)

var (
	// ErrNotMetadata reports input that is no metadata of a trace at all.
	ErrNotMetadata = errors.New("not the metadata of a trace")
	// ErrUnsupportedVersion reports another version of CTF than 1.8 and 2.
	ErrUnsupportedVersion = errors.New("unsupported version")
	// ErrFormat reports what the format does not allow.
	ErrFormat = errors.New("malformed")
	// ErrTooLarge reports metadata beyond the bounds of this package.
	ErrTooLarge = errors.New("too large")
)

// A SyntaxError says where in the metadata something could not be read.
type SyntaxError struct {
	Line int // of the text without packets, from 1; CTF 2: of the fragment, from 1
	Err  error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("metadata: %d: %v", e.Line, e.Err) }

func (e *SyntaxError) Unwrap() error { return e.Err }

// malformed is an ErrFormat with the particulars.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}
