package open

import (
	"errors"
	"fmt"
)

var (
	// ErrNotTrace reports input that holds no trace of any kind.
	ErrNotTrace = errors.New("not a trace")
	// ErrUnsupported reports input that is known for what it is, and that this
	// version does not read.
	ErrUnsupported = errors.New("not supported")
	// ErrOnce reports that an input cannot be read a second time.
	ErrOnce = errors.New("can be read only once")
)

// An UnknownError says what an input looks like that is not read.
type UnknownError struct {
	Name  string // as the input was named
	Looks string // what it is: "a Windows ETW trace (.etl)"
	Hint  string // what to do instead
	Err   error  // ErrNotTrace or ErrUnsupported
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s: %v: %s; %s", e.Name, e.Err, e.Looks, e.Hint)
}

func (e *UnknownError) Unwrap() error { return e.Err }
