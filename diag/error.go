package diag

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

var (
	// ErrProtocol reports an answer that does not follow the diagnostics
	// protocol.
	ErrProtocol = errors.New("the answer is not that of a .NET runtime")
	// ErrNoAnswer reports a runtime that accepted a request and did not answer
	// in time: it is stopped, busy, or blocked by another client.
	ErrNoAnswer = errors.New("timed out waiting for an answer")
	// ErrStopped reports a process that is stopped, by SIGSTOP or a debugger.
	ErrStopped = errors.New("the process is stopped")
	// ErrHungUp reports a connection that closed before the answer was
	// complete.
	ErrHungUp = errors.New("the connection closed before an answer arrived")
	// ErrNoProcess reports a process that does not exist.
	ErrNoProcess = errors.New("no such process")
	// ErrNotDotnet reports a process that does not appear to be a .NET process.
	ErrNotDotnet = errors.New("not a .NET process")
	// ErrForeign reports a socket of a process that is not visible here, to
	// which this process may not connect.
	ErrForeign = errors.New("socket of another user, in another namespace or left behind")
	// ErrNoSocket reports a .NET process whose diagnostic socket was not found.
	ErrNoSocket = errors.New("no diagnostic socket")
	// ErrFramework reports a process of .NET Framework, which can be traced through
	// ETW only.
	ErrFramework = errors.New(".NET Framework has no diagnostic pipe")
	// ErrUnending reports a runtime that continues a trace after it was asked to
	// end it.
	ErrUnending = errors.New("the runtime did not stop the trace on request")
)

// A frameworkError is ErrFramework of a process.
type frameworkError struct{ pid int }

func (e *frameworkError) Error() string { return ErrFramework.Error() }

func (e *frameworkError) Unwrap() error { return ErrFramework }

// A RequestError reports a request that was not sent, because the runtime would
// refuse it or crash.
type RequestError struct {
	Command string // "CollectTracing2"
	Field   string // the fault: "buffer size"
	Reason  string
}

func (e *RequestError) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Reason) }

// A ConnectError reports a failure to connect to an address.
type ConnectError struct {
	Address string
	Err     error
}

func (e *ConnectError) Error() string { return fmt.Sprintf("connect to %s: %v", e.Address, e.Err) }

func (e *ConnectError) Unwrap() error { return e.Err }

// An UntrustedError reports a socket that has the name of a process's socket but
// may belong to someone else. Nothing was sent to it.
type UntrustedError struct {
	Address string
	Err     error // the reason: its type, its owner, or the process that listens on it
}

func (e *UntrustedError) Error() string {
	return fmt.Sprintf("refused to connect to %s: %v", e.Address, e.Err)
}

func (e *UntrustedError) Unwrap() error { return e.Err }

func untrusted(err error) bool {
	_, is := errors.AsType[*UntrustedError](err)
	return is
}

// A ListenError reports an address at which a diagnostic port cannot be
// created.
type ListenError struct {
	Address string
	Err     error
}

func (e *ListenError) Error() string { return fmt.Sprintf("listen at %s: %v", e.Address, e.Err) }

func (e *ListenError) Unwrap() error { return e.Err }

// refused reports whether err means that an address has no listener, as after a
// process was killed.
func refused(err error) bool {
	return errors.Is(err, connectionRefused) || errors.Is(err, fs.ErrNotExist)
}

// overTCP reports whether err is of a port that is reached over TCP.
func overTCP(err error) bool {
	address := ""
	if e, ok := errors.AsType[*ConnectError](err); ok {
		address = e.Address
	}
	if e, ok := errors.AsType[*ListenError](err); ok {
		address = e.Address
	}
	_, is := parseTCP(address)
	return is
}

// A RuntimeError reports that a runtime refused a command.
type RuntimeError struct {
	Command string
	Code    HRESULT
}

func (e *RuntimeError) Error() string {
	return fmt.Sprintf("%s: the runtime answers %v", e.Command, e.Code)
}

func (e *RuntimeError) Unwrap() error { return e.Code }

// An HRESULT is an error code of the runtime's corerror.h or ds-ipc-protocol.
type HRESULT uint32

const (
	BadEncoding           HRESULT = 0x80131384
	UnknownCommand        HRESULT = 0x80131385
	UnknownMagic          HRESULT = 0x80131386
	UnknownError          HRESULT = 0x80131387
	NotSupported          HRESULT = 0x80131515
	Fail                  HRESULT = 0x80004005
	NotYetAvailable       HRESULT = 0x8013135b
	RuntimeUninitialized  HRESULT = 0x80131371
	InvalidArgument       HRESULT = 0x80070057
	InsufficientBuffer    HRESULT = 0x8007007a
	EnvironmentNotFound   HRESULT = 0x800000cb
	ProfilerAlreadyActive HRESULT = 0x8013136a
)

var hresults = map[HRESULT]struct{ name, hint string }{
	BadEncoding:           {"bad encoding", "the runtime is too old for this command"},
	UnknownCommand:        {"unknown command", "the runtime is too old for it"},
	UnknownMagic:          {"unknown magic", ""},
	UnknownError:          {"unknown error", ""},
	NotSupported:          {"not supported", "this kind of runtime does not support it"},
	Fail:                  {"unspecified failure", "a runtime allows at most 64 sessions: end another one"},
	NotYetAvailable:       {"not yet available", "the runtime is still starting: try again"},
	RuntimeUninitialized:  {"runtime not initialized", "resume it first"},
	InvalidArgument:       {"invalid argument", "it may need a runtime that is suspended at its start"},
	InsufficientBuffer:    {"insufficient buffer", ""},
	EnvironmentNotFound:   {"no such environment variable", ""},
	ProfilerAlreadyActive: {"a profiler is already active", ""},
}

func (h HRESULT) Error() string {
	if r, ok := hresults[h]; ok {
		return fmt.Sprintf("%s (%#x)", r.name, uint32(h))
	}
	return fmt.Sprintf("error %#x", uint32(h))
}

// Remedy returns advice for a process that cannot be reached, or refuses a command; it is
// empty if there is none.
func Remedy(err error) string {
	if code, ok := errors.AsType[HRESULT](err); ok {
		return hresults[code].hint
	}
	if e, ok := errors.AsType[*frameworkError](err); ok {
		return fmt.Sprintf("record it through ETW: gctrail collect --etw -p %d", e.pid)
	}
	_, listening := errors.AsType[*ListenError](err)
	remote, inUse := overTCP(err), errors.Is(err, addressInUse)
	switch {
	case listening && remote && inUse:
		return "another program is listening there: choose another port"
	case listening && remote:
		return "give an address of this machine, such as 127.0.0.1:9000, with a port above 1023"
	case remote:
		return "is the program, adb forward or dotnet-dsrouter running? A program that connects itself is for gctrail collect, without ,connect"
	case listening && inUse:
		return "it is a file, or another program is listening on it: choose another path"
	case listening:
		return "choose another path"
	case untrusted(err):
		return "check who created it; to connect anyway, use its path as a diagnostic port: --diagnostic-port PATH,connect"
	case errors.Is(err, fs.ErrPermission) && os.Geteuid() == 0:
		return "root in a container needs the capability SYS_PTRACE, as in docker run --cap-add SYS_PTRACE"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, ErrForeign):
		return "run gctrail as the user of that process, or as root"
	case errors.Is(err, ErrNoSocket):
		return "diagnostics are disabled (DOTNET_EnableDiagnostics=0), its temporary folder is not writable, or it sets TMPDIR itself"
	case errors.Is(err, ErrFramework):
		return "record it through ETW: gctrail collect --etw"
	case errors.Is(err, ErrStopped):
		return "resume it with kill -CONT, or in its debugger"
	case errors.Is(err, ErrNoAnswer):
		return "it is stopped or busy, or another tool holds its socket: try again"
	case errors.Is(err, ErrHungUp), refused(err):
		return "it has just exited, or is still starting: try again"
	default:
		return ""
	}
}

// timedOut reports whether an operation ended by its time limit.
func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
