package report

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/program"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/trace"
)

// CollectSelf returns the command that has a program write a trace itself, for
// PowerShell on Windows and for other systems' shells.
func CollectSelf(windows bool) string {
	assign, program := "%s=%s ", "YOUR-PROGRAM"
	if windows {
		assign, program = "$env:%s='%s'; ", `.\YOUR-PROGRAM.exe`
	}
	var b strings.Builder
	for _, v := range [...][2]string{
		{"DOTNET_EnableEventPipe", "1"},
		{"DOTNET_EventPipeOutputPath", "app.nettrace"},
		{"DOTNET_EventPipeConfig", selection.SpellProvider(clr.RuntimeProvider, clr.KeywordGC, clr.LevelInformational)},
	} {
		fmt.Fprintf(&b, assign, v[0], v[1])
	}
	return b.String() + program
}

// windows reports whether the trace is of Windows; if that is unknown, whether this
// system is.
func (rep *Report) windows() bool {
	switch trace.TracerOf(rep.info.Format) {
	case trace.ETW:
		return true
	case trace.LTTng:
		return false
	}
	for _, p := range rep.others {
		if p.OS != "" {
			return p.OS == "Windows"
		}
	}
	return runtime.GOOS == "windows"
}

// A Recording selects the required contents of a new trace.
type Recording = findings.Recording

// The recordings that commands ask for.
const (
	RecordCollections  = findings.Collections
	RecordVerbose      = findings.Verbose
	RecordAllocations  = findings.Allocations
	RecordHandleStacks = findings.HandleStacks
	RecordFinalizers   = findings.Finalizers
	RecordPhases       = findings.Phases
)

// A recording is how gctrail collect records what a new trace must contain.
type recording struct {
	flags    string
	lttng    bool   // LTTng records it too: its events have no stacks, and its traces no rundown
	provider string // without events of which, with these keywords and at this level, a trace lacks it
	keywords uint64
	level    uint8
}

const (
	informational = 4
	verbose       = 5
)

var recordings = [...]recording{
	findings.Collections:  {"--profile " + selection.GCCollect, true, clr.RuntimeProvider, clr.KeywordGC, informational},
	findings.Verbose:      {"--profile " + selection.GCVerbose, true, clr.RuntimeProvider, clr.KeywordGC, verbose},
	findings.Allocations:  {"--profile " + selection.GCAlloc, false, clr.RuntimeProvider, clr.KeywordGC, verbose},
	findings.Triggers:     {"--rundown true --clrevents " + selection.SpellKeywords(clr.KeywordGC|clr.KeywordStack), false, clr.RuntimeProvider, clr.KeywordGC, informational},
	findings.HandleStacks: {"--rundown true --clrevents " + selection.SpellKeywords(clr.KeywordGC|clr.KeywordGCHandle|clr.KeywordStack), false, clr.RuntimeProvider, clr.KeywordGC | clr.KeywordGCHandle, informational},
	findings.Finalizers:   {"--clrevents " + selection.SpellKeywords(clr.KeywordGC|clr.KeywordType|clr.KeywordGCHeapAndTypeNames) + " --clreventlevel verbose", true, clr.RuntimeProvider, clr.KeywordGC | clr.KeywordType, verbose},
	findings.Phases:       {"--profile " + selection.GCCollect, false, clr.PrivateProvider, clr.KeywordGCPrivate, informational},
	findings.Longer:       {"--profile " + selection.GCCollect + " --duration 60s", true, clr.RuntimeProvider, clr.KeywordGC, informational},
	findings.LargeBuffer:  {"--profile " + selection.GCCollect + " --buffersize 1024", true, clr.RuntimeProvider, clr.KeywordGC, informational},

	findings.LockStacks:      withStacks(clr.KeywordContention, informational),
	findings.PoolStacks:      withStacks(clr.KeywordThreading|clr.KeywordContention|clr.KeywordWaitHandle, verbose),
	findings.Compilation:     withStacks(clr.KeywordJit, verbose),
	findings.ExceptionStacks: withStacks(clr.KeywordException, informational),
	findings.TypeLoads:       withStacks(clr.KeywordJit|clr.KeywordTypeDiagnostic, verbose),
}

// withStacks records further events of the runtime, with their call stacks and the names that
// these need.
func withStacks(keywords uint64, level uint8) recording {
	flags := "--rundown true --clrevents " + selection.SpellKeywords(clr.KeywordGC|keywords|clr.KeywordStack)
	if level == verbose {
		flags += " --clreventlevel verbose"
	}
	return recording{flags, false, clr.RuntimeProvider, clr.KeywordGC | keywords, level}
}

// Record returns the command for a new trace of a process of a trace in a format, or of
// any process where p is nil. It starts the program if the trace includes its start, and
// otherwise selects the running one by its name. It is empty if gctrail cannot record that runtime.
func Record(p *gc.Process, format string, r Recording) string {
	if int(r) >= len(recordings) {
		return ""
	}
	words := []string{"gctrail collect"}
	if started(p, format) {
		if start := Start(p); start != "" {
			return strings.Join(append(words, recordings[r].flags, start), " ")
		}
	}
	framework := p != nil && strings.HasPrefix(p.Runtime, ".NET Framework")
	if framework || mayLackPort(p, format) {
		switch tracer := trace.TracerOf(format); {
		case framework, tracer == trace.ETW:
			words = append(words, "--etw")
		case tracer == trace.LTTng && recordings[r].lttng:
			words = append(words, "--lttng")
		default:
			return ""
		}
	}
	return strings.Join(append(words, target(p), recordings[r].flags), " ")
}

// RecordLacking is Record for events that a trace, which was read to its end, does not have.
// It is empty if the session recorded such events: none happened.
func RecordLacking(src trace.Source, p *gc.Process, r Recording) string {
	need := &recordings[r]
	for _, has := range findings.RecordedOf(src) {
		if has.Provider == need.provider && has.Keywords&need.keywords == need.keywords && has.Level >= need.level {
			return ""
		}
	}
	return Record(p, src.Info().Format, r)
}

// mayLackPort reports whether a process of a trace may have no diagnostic port, as .NET
// Core up to 2.2. From 3.0 on, EventPipe writes nettrace.
func mayLackPort(p *gc.Process, format string) bool {
	if p == nil || strings.HasPrefix(format, "nettrace") {
		return format == "netperf V3"
	}
	version, core := strings.CutPrefix(p.Runtime, ".NET Core")
	return format == "netperf V3" || core && !strings.HasPrefix(version, " 3.")
}

// started reports whether the trace includes the start of a program that is recorded
// through its diagnostic port. It was started for the trace, and has often ended with it.
// Others may still run, and nobody should start a service twice.
func started(p *gc.Process, format string) bool {
	return p != nil && p.StartSeen && throughPort(p, format)
}

// throughPort reports whether gctrail records a process of a trace, any process where p is
// nil, through its diagnostic port, and so can start it.
func throughPort(p *gc.Process, format string) bool {
	framework := p != nil && strings.HasPrefix(p.Runtime, ".NET Framework")
	return !framework && !mayLackPort(p, format)
}

// Start returns the flags with which collect starts the program of a process again;
// empty if its command line is not known.
func Start(p *gc.Process) string {
	words := program.Command(p.CommandLine)
	if len(words) == 0 {
		return ""
	}
	return "-- " + text.QuotedWords(words)
}

// target returns the flag that selects the program to record: by its name, because
// the process may have ended, and its id may belong to another one.
func target(p *gc.Process) string {
	if p == nil || p.Name == "" {
		return "-p PID"
	}
	// A comma would separate two names, and the others begin patterns.
	pattern := strings.Map(func(r rune) rune {
		if strings.ContainsRune(",*[\\", r) {
			return '?'
		}
		return r
	}, p.Name)
	return "-n " + text.Quoted(pattern)
}
