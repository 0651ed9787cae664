package gc

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/program"
	"github.com/gctrail/gctrail/internal/units"
)

// MonoRuntime begins the name of the runtime Mono, as in "Mono (.NET 9.0.4)". Its provider of the
// runtime's events raises none of collections; its profiler does.
const MonoRuntime = "Mono"

// A Process is a traced process. Its fields are filled in as its events are
// read.
type Process struct {
	PID         uint64 // trace.UnknownID if unknown
	Name        string // of its file without folder and .exe, or of the assembly that the dotnet host runs; empty if unknown
	CommandLine string // empty if unknown
	OS, Arch    string // as the runtime names them; empty if unknown

	Runtime  string // ".NET 10.0.12"; empty if unknown
	Server   Opt[bool]
	Settings *clr.GCSettingsRundown // nil if the trace has none

	// Started and Stopped delimit the time in which the process was watched:
	// from the start of its runtime, or of the trace if that is earlier, to the
	// rundown at the end of the trace, or to the trace's last event.
	Started, Stopped time.Duration
	StartSeen        bool // Started is the start of the runtime

	// Suspensions are the suspensions that belong to no collection, by reason and kind.
	Suspensions []SuspensionTotal
	// Outside lists, in order, the ones since the last collection began.
	Outside []Outside

	// Concurrent reports whether background GC is on.
	Concurrent Opt[bool]
	// Finalizing is the current run of the finalizer thread; unknown if none is known to
	// run.
	Finalizing Opt[Finalizing]

	// Missing counts the collections that are not in the trace, although the numbers of
	// later ones show that they ran.
	Missing int

	NoGC      NoGC
	Limits    *Limits // nil if the trace has none
	Processor ProcessorTime
	// Kernel is the processor time by events of the kernel, once the trace has ended; known
	// if the trace has them and Model.Processors was asked for.
	Kernel Opt[KernelTime]

	Pressure   Pressure
	AllocWaits AllocWaits
	// OutOfMemory counts the OutOfMemoryExceptions thrown; 0 if the trace does not record
	// exceptions.
	OutOfMemory int
	Adaptation  Adaptation

	id          *byte  // shared by its snapshots; nil if no Model made the process
	pointerSize int    // of its events; 0 if unknown
	major       uint16 // version of the runtime; 0 if unknown
	runtimes    []*runtime
	tail        Tail          // of a snapshot
	last        time.Duration // of the process's events that are about collections
	unfinalized int64         // objects found for the finalizer thread since it ended a run
	text        int           // bytes that its names may take
	heaps       int           // the most that its collections show
	partial     bool          // a pause began before the trace
}

// An Identity distinguishes processes, for example as the key of a map. A process and
// its snapshots have the same Identity; no two processes of a Model do.
type Identity struct{ of any }

// Identity returns the identity of the process.
func (p *Process) Identity() Identity {
	if p.id == nil {
		return Identity{p}
	}
	return Identity{p.id}
}

// Snapshot returns a copy of the process as known now. Unlike the process, the
// copy does not change while events are read, and may be passed to another
// goroutine.
func (p *Process) Snapshot() *Process {
	c := *p
	c.Suspensions = slices.Clone(p.Suspensions)
	c.Outside = slices.Clone(p.Outside)
	c.tail, c.runtimes = p.Tail(), nil
	return &c
}

// A SuspensionTotal sums up the suspensions of one reason and kind that belong
// to no collection.
type SuspensionTotal struct {
	Reason clr.SuspendReason
	Kind   PauseKind // PauseHeapWalk or PauseOther
	Count  int
	Total  time.Duration
	Max    time.Duration
}

// learn copies the description of the process from another reading of the trace.
func (p *Process) learn(o *Process) {
	p.Name, p.CommandLine, p.OS, p.Arch = o.Name, o.CommandLine, o.OS, o.Arch
	p.Runtime, p.major, p.Settings, p.Concurrent = o.Runtime, o.major, o.Settings, o.Concurrent
	if o.Server.Known() {
		p.Server = o.Server
	}
}

// addSuspension notes a suspension that belongs to no collection. If there are more
// kinds than a runtime has, the last one counts all further ones.
func (p *Process) addSuspension(reason clr.SuspendReason, kind PauseKind, d time.Duration) {
	i := slices.IndexFunc(p.Suspensions, func(t SuspensionTotal) bool { return t.Reason == reason && t.Kind == kind })
	if i < 0 && len(p.Suspensions) == maxSorts {
		i = maxSorts - 1
	} else if i < 0 {
		i = len(p.Suspensions)
		p.Suspensions = append(p.Suspensions, SuspensionTotal{Reason: reason, Kind: kind})
	}
	t := &p.Suspensions[i]
	t.Count++
	t.Total = units.AddCapped(t.Total, max(0, d))
	t.Max = max(t.Max, d)
}

// runtimeInformation names the runtime (events 187 of the runtime and of its
// rundown).
func (m *Model) runtimeInformation(e *event) {
	v, ok := decode[clr.RuntimeInformationStart](m, e) // the rundown event has the same fields
	if !ok {
		return
	}
	p := e.process
	p.Runtime, p.major = runtimeName(v), v.BclMajorVersion
	if v.StartupFlags&clr.StartupFlagsServerGC != 0 {
		p.Server = Some(true)
	} else if !p.Server.Known() {
		p.Server = Some(false)
	}
	// Without the settings, its absence proves nothing: .NET Core 3.1 writes no flags
	// for LTTng.
	if v.StartupFlags&clr.StartupFlagsConcurrentGC != 0 && !p.Concurrent.Known() {
		p.Concurrent = Some(true)
	}
	if line := v.CommandLine.String(); m.reserveText(e, len(line)) {
		p.setName(line)
	}
	switch {
	case e.Desc.Provider == clr.RundownProvider:
		p.Stopped = e.Time
	case p.last == 0: // else another runtime of the process starts, or another process with its id
		p.Started, p.StartSeen = e.Time, e.TID != 0 // a part of a trace has it as of no thread
	}
}

// processInfo gives the command line (event 1 of the EventPipe provider).
func (m *Model) processInfo(e *event) {
	v, ok := decode[clr.ProcessInfo](m, e)
	if !ok {
		return
	}
	p := e.process
	line, os, arch := v.CommandLine.String(), v.OSInformation.String(), v.ArchInformation.String()
	if m.reserveText(e, len(line)+len(os)+len(arch)) {
		p.setName(line)
		p.OS, p.Arch = os, arch
	}
}

func (m *Model) settings(e *event) {
	if v, ok := decode[clr.GCSettingsRundown](m, e); ok {
		settings := *v
		e.process.Settings = &settings
		e.process.Concurrent = Some(v.BitSettings&clr.GCSettingsBitsConcurrent != 0)
	}
}

// outOfMemory is the type of the exception that a failed allocation throws.
const outOfMemory = "System.OutOfMemoryException"

func (m *Model) exceptionThrown(e *event) {
	if v, ok := decode[clr.ExceptionThrown](m, e); ok && len(v.ExceptionType) == 2*len(outOfMemory) && v.ExceptionType.String() == outOfMemory {
		e.process.OutOfMemory++
	}
}

// setName takes the name from a command line.
func (p *Process) setName(commandLine string) {
	if commandLine == "" {
		return
	}
	p.CommandLine = commandLine
	p.Name = program.Name(commandLine)
}

// Names returns the names by which people know the process: its Name, and "dotnet" if that
// host runs it.
func (p *Process) Names() []string {
	if file := program.File(p.CommandLine); file != "" && file != p.Name {
		return []string{p.Name, file}
	}
	return []string{p.Name}
}

// Watched returns how long the process was watched, between from and to if these are
// known.
func (p *Process) Watched(from, to Opt[time.Duration]) time.Duration {
	start, stop := p.Started, p.Stopped
	if at, known := from.Get(); known {
		start = max(start, at)
	}
	if at, known := to.Get(); known {
		stop = min(stop, at)
	}
	return max(0, stop-start)
}

// runtimeName spells a runtime as its own version text does. The .NET Framework has its build
// in the version of the VM. .NET Core up to 3.1 calls itself 4.0.0.0, so that its version is
// the name of the folder that it is installed in, if it is in one.
func runtimeName(v *clr.RuntimeInformationStart) string {
	switch {
	case v.Sku&clr.RuntimeSkuMono != 0:
		return fmt.Sprintf(MonoRuntime+" (.NET %d.%d.%d)", v.BclMajorVersion, v.BclMinorVersion, v.BclBuildNumber)
	case v.Sku&clr.RuntimeSkuCoreClr == 0:
		return fmt.Sprintf(".NET Framework %d.%d.%d.%d", v.VMMajorVersion, v.VMMinorVersion, v.VMBuildNumber, v.VMQfeNumber)
	case v.BclMajorVersion < 5:
		return strings.TrimSpace(".NET Core " + sharedVersion(v.RuntimeDllPath.String()))
	default:
		return fmt.Sprintf(".NET %d.%d.%d", v.BclMajorVersion, v.BclMinorVersion, v.BclBuildNumber)
	}
}

// sharedVersion returns the version in the path of a shared runtime's library, or
// an empty string.
func sharedVersion(path string) string {
	_, rest, ok := strings.Cut(strings.ReplaceAll(path, `\`, "/"), "/Microsoft.NETCore.App/")
	version, _, within := strings.Cut(rest, "/")
	if !ok || !within || len(version) > 40 || strings.Trim(version, "0123456789abcdefghijklmnopqrstuvwxyz.-") != "" {
		return ""
	}
	return version
}
