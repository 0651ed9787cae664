package open

import (
	"errors"
	"fmt"
)

// ErrOnce reports that an input cannot be read a second time.
var ErrOnce = errors.New("can be read only once")

// An UnknownError says what an input looks like that is not read.
type UnknownError struct {
	Name  string // as the input was named
	Looks string // what it is: "a Windows ETW trace (.etl)"
	Hint  string // what to do instead
	Err   error  // trace.ErrNotTrace or trace.ErrUnsupported
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s: %v: %s; %s", e.Name, e.Err, e.Looks, e.Hint)
}

func (e *UnknownError) Unwrap() error { return e.Err }
