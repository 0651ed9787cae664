package trace

import (
	"errors"
	"fmt"

	"github.com/gctrail/gctrail/internal/binread"
)

// Errors of readers and writers of traces, for errors.Is. A reader returns a
// *FormatError, or the error of reading its input.
var (
	// ErrNotTrace reports input that is not a trace of the reader's format.
	ErrNotTrace = errors.New("not a trace")
	// ErrUnsupported reports a trace of a kind that cannot be read.
	ErrUnsupported = errors.New("not supported")
	// ErrUnsupportedVersion is the ErrUnsupported for a version that is too old
	// or too new.
	ErrUnsupportedVersion = fmt.Errorf("version %w", ErrUnsupported)
	// ErrMalformed reports bytes that the format does not allow.
	ErrMalformed = binread.ErrMalformed
	// ErrTruncated reports a part of a trace that is shorter than its contents.
	// Input that ends early gives io.ErrUnexpectedEOF.
	ErrTruncated = binread.ErrTruncated
	// ErrTooLarge reports a size that exceeds the bounds of a reader or writer.
	ErrTooLarge = errors.New("too large")
	// ErrLate reports an event that is older than events already written.
	ErrLate = errors.New("event is too late")
	// ErrUsed reports a second range over the events of a Source.
	ErrUsed = errors.New("the events were read already")
	// ErrNoCommonTime reports sources that cannot be merged by time, because
	// the clock of one of them is not tied to the time of day.
	ErrNoCommonTime = errors.New("the clocks of the traces have no time in common")
)

// A FormatError describes where in a trace something could not be read.
type FormatError struct {
	Format  string // "nettrace", "etl" or "ctf"
	File    string // in a trace of several files; empty if there is only one
	Off     int64  // in the uncompressed file
	Section string // "event block", "metadata", "packet", …
	Err     error  // wraps one of the errors above, or io.ErrUnexpectedEOF
}

func (e *FormatError) Error() string {
	if e.File != "" {
		return fmt.Sprintf("%s: %s: %s at %#x: %v", e.Format, e.File, e.Section, e.Off, e.Err)
	}
	return fmt.Sprintf("%s: %s at %#x: %v", e.Format, e.Section, e.Off, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }
