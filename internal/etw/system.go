package etw

import "fmt"

// A System provides the functions of Windows that sessions use. Their errors are a
// Status.
type System interface {
	// StartTrace is StartTraceW.
	StartTrace(session string, properties []byte) (handle uint64, err error)
	// Enable is EnableTraceEx2.
	Enable(handle uint64, e *Enabling) error
	// Control is ControlTraceW, with a session's handle or, if that is 0, its name. It
	// fills the properties.
	Control(handle uint64, session string, properties []byte, code uint32) error
	// SetInformation is TraceSetInformation.
	SetInformation(handle uint64, class uint32, info []byte) error
	// QueryAll is QueryAllTracesW. It fills the properties of as many sessions as there
	// are, and returns their number.
	QueryAll(properties [][]byte) (int, error)
	// Runs reports whether a process runs.
	Runs(pid int) bool
	// Free returns the room on the disk of a folder, and whether it is known.
	Free(folder string) (bytes int64, known bool)
}

// Enabling holds the arguments of EnableTraceEx2 except for the session.
type Enabling struct {
	Provider   [16]byte // a GUID as Windows lays it out
	Code       uint32
	Level      uint8
	Any, All   uint64 // keywords
	Timeout    uint32 // ms; 0 does not wait for the provider
	Parameters Parameters
}

// Codes of EnableTraceEx2 and ControlTrace, and the class of TraceSetInformation
// (evntrace.h).
const (
	codeEnable       = 1
	controlQuery     = 0
	controlStop      = 1
	controlUpdate    = 2
	controlFlush     = 3
	infoSystemEvents = 4 // TraceSystemTraceEnableFlagsInfo
)

// A Status is an error of Windows.
type Status uint32

// Errors of sessions (winerror.h).
const (
	StatusDenied      Status = 5
	StatusBadPath     Status = 161
	StatusExists      Status = 183
	StatusDiskFull    Status = 112
	StatusNoResources Status = 1450
	StatusNoSession   Status = 4201
)

func (s Status) Error() string { return fmt.Sprintf("error %d", uint32(s)) }

// An Error reports a call that failed.
type Error struct {
	Call    string
	Session string
	Err     error
}

func (e *Error) Error() string { return fmt.Sprintf("%s for session %s: %v", e.Call, e.Session, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
