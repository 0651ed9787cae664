package collect

import (
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/etw"
	"github.com/gctrail/gctrail/trace"
)

// A Notice is something that happens while traces are collected: one of the types below.
type Notice interface{ notice() }

type (
	// Started reports that a trace has begun.
	Started struct {
		Process *diag.Process
		Path    string
		Plan    *Plan
		First   bool // of all traces
	}
	// Dumped reports that the nth heap snapshot of a process was taken, how long that took,
	// and with how many sessions.
	Dumped struct {
		Process  *diag.Process
		Nth      int
		Took     time.Duration
		Sessions int
	}
	// Retaken reports that the heap snapshot of a process has holes, and is taken for the
	// nth time of at most so many.
	Retaken struct {
		Process   *diag.Process
		Nth, Most int
	}
	// Snapshot reports the file of a heap snapshot that was taken beside a trace.
	Snapshot struct{ *Result }
	// Recording reports that a session of the system's tracer has begun.
	Recording struct {
		Tracer    string          // "ETW" or "LTTng"
		Relay     string          // where the events come from; empty if from this machine
		Processes []*diag.Process // nil means all
		Path      string
		Plan      *Plan
		Unnamed   error // why the processes have no names in it; nil if they do
	}
	// Listening reports that a diagnostic port waits for programs that are started
	// with its variable in their environment.
	Listening struct {
		Variable, Path string
		Port           diag.Port
	}
	// NotAsked reports that a command has run for some time without asking to be traced.
	NotAsked struct {
		Command string
		For     time.Duration
	}
	// Orphaned reports processes that a command left behind. They may start programs,
	// which would wait for a port that is gone.
	Orphaned struct {
		Command  string
		PIDs     []string
		Variable string
	}
	// Untraced reports a process that continues untraced, because its name does not
	// match, or there is only one file.
	Untraced struct {
		Process *diag.Process
		NoRoom  bool
	}
	// NotResumed reports a process that could not be resumed.
	NotResumed struct {
		Process *diag.Process
		Err     error
	}
	// Triggered reports the trigger of a trace.
	Triggered struct {
		Process *diag.Process
		Trigger *Trigger
		Path    string
		Plan    *Plan
	}
	// Ending reports that a process takes long to end its trace, and when gctrail will
	// give up.
	Ending struct {
		Process *diag.Process
		Limit   time.Duration
	}
	// Unmatchable reports a stopping event that can never occur.
	Unmatchable struct {
		Event *StoppingEvent
		Err   error
	}
	// Shortened reports that a full disk shortens what is kept.
	Shortened struct{ Text string }
	// InPieces reports segments of a trace that could not be joined.
	InPieces struct{ Paths []string }
	// Failed reports an error that does not end the other traces.
	Failed struct{ Err error }
	// Ended reports a trace that has ended.
	Ended struct{ *Result }
)

func (Started) notice()     {}
func (Dumped) notice()      {}
func (Retaken) notice()     {}
func (Snapshot) notice()    {}
func (Recording) notice()   {}
func (Listening) notice()   {}
func (NotAsked) notice()    {}
func (Orphaned) notice()    {}
func (Untraced) notice()    {}
func (NotResumed) notice()  {}
func (Triggered) notice()   {}
func (Ending) notice()      {}
func (Unmatchable) notice() {}
func (Shortened) notice()   {}
func (InPieces) notice()    {}
func (Failed) notice()      {}
func (Ended) notice()       {}

// A Trigger is the collection, the request or the event that met the stop condition. One of
// these is set.
type Trigger struct {
	From, To   time.Duration // of the trace
	Collection *gc.Collection
	Request    *request.Span
	Event      *StoppingEvent
	PID        uint64 // of the process with the request, or that raised the event
}

// A Result is a trace that was written.
type Result struct {
	Path    string
	Size    int64
	Regular bool // the file is one, and can be read
	Plan    *Plan
	Config  *diag.Config

	Triggered bool
	Joined    bool // of a ring's segments
	RingCut   bool // the ring had no room for the whole retained time

	Failed    error // of writing, after which nothing was written any more
	Stopped   error // why the runtime did not end the trace though it was asked to
	Broken    error // why no more of it could be read
	Displaced bool  // the process continues though the trace has ended
	Exited    bool  // the process ended, and with it the trace

	LTTng  bool      // LTTng has written the trace
	ETW    *etw.Loss // losses of the ETW session; nil if the runtime sent the trace
	Kernel etw.Loss  // losses of the session with the names of processes

	Trace       trace.Source // which was read to its end
	Found       []findings.Result
	Collections int64
	Followed    int64 // collections of the whole session, of which a ring keeps the last
}

// A Status is the progress of collecting.
type Status struct {
	Elapsed  time.Duration // since the first trace began
	Captures []CaptureStatus
}

// A CaptureStatus is the progress of one trace.
type CaptureStatus struct {
	Process     *diag.Process
	Plan        *Plan
	Bytes       int64
	Collections int64
	Longest     time.Duration // pause
	Ends        time.Time     // after its trigger; zero before
}
