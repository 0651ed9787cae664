package open

import (
	"errors"
	"fmt"
	"time"
)

// ErrOnce reports that an input cannot be read a second time.
var ErrOnce = errors.New("can be read only once")

// An UnknownError describes an input that is not a trace gctrail reads.
type UnknownError struct {
	Name     string // the name of the input
	Detected string // a description: "a Windows ETW trace (.etl)"
	Hint     string // advice
	Err      error  // trace.ErrNotTrace or trace.ErrUnsupported

	Traces []FolderTrace // of a folder that holds several, the newest first
}

// A FolderTrace is a file in a folder that File can open.
type FolderTrace struct {
	Name     string // relative to the folder, with slashes
	Size     int64  // bytes
	Modified time.Time
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s: %v: %s; %s", e.Name, e.Err, e.Detected, e.Hint)
}

func (e *UnknownError) Unwrap() error { return e.Err }
