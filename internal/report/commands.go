package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/provider"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/trace"
)

// CollectSelf has a program write a trace itself.
var CollectSelf = "DOTNET_EnableEventPipe=1 DOTNET_EventPipeOutputPath=app.nettrace DOTNET_EventPipeConfig=" +
	provider.Runtime(clr.KeywordGC).Spell() + " YOUR-PROGRAM"

// recordings are the flags of gctrail collect for what a new trace has to hold.
var recordings = [...]string{
	findings.Collections:  "--profile " + provider.GCCollect,
	findings.Verbose:      "--profile " + provider.GCVerbose,
	findings.Allocations:  "--profile " + provider.GCAlloc,
	findings.Triggers:     "--rundown true --providers " + provider.Runtime(clr.KeywordGC|clr.KeywordStack).Spell(),
	findings.HandleStacks: "--rundown true --providers " + provider.Runtime(clr.KeywordGC|clr.KeywordGCHandle|clr.KeywordStack).Spell(),
	findings.Phases:       "--profile " + provider.GCCollect,
	findings.LargeBuffer:  "--profile " + provider.GCCollect + " --buffersize 1024",
}

// record returns the command for a new trace of a process, or of any where it is
// nil; empty if there is none.
func record(c *Case, r findings.Recording) string {
	if int(r) >= len(recordings) {
		return ""
	}
	if c != nil && strings.HasPrefix(c.Summary.Process.Runtime, ".NET Framework") { // only ETW records it
		return "gctrail collect --etw " + target(c) + " " + recordings[r]
	}
	return "gctrail collect " + target(c) + " " + recordings[r]
}

// target returns the flag that selects the program to record: by its name, because
// the process may have ended, and its id may belong to another one.
func target(c *Case) string {
	if c == nil || c.Summary.Process.Name == "" {
		return "-p PID"
	}
	return "-n " + text.Quoted(c.Summary.Process.Name)
}

// commands returns the commands for the next steps of a finding, each with its
// purpose. A step that the trace has no events for has none.
func (rep *Report) commands(c *Case, f *findings.Finding) []step {
	var steps []step
	for i := range f.Next {
		s := &f.Next[i]
		if command := rep.command(c, s); command != "" {
			steps = append(steps, step{s.Purpose, command})
		}
	}
	return steps
}

// allocationEvents are the events that gctrail allocs counts.
var allocationEvents = []string{"GCAllocationTick", "AllocationSampled", "GCSampledObjectAllocationHigh", "GCSampledObjectAllocationLow"}

// listings are the commands that list what events of their own tell.
var listings = map[findings.Action][]string{
	findings.ListPins:       {"pins"},
	findings.ListHandles:    {"handles", "--by", "kind,stack"},
	findings.ListFinalizers: {"finalizers"},
	findings.ListJoins:      {"joins"},
}

// A step is a command with what it shows.
type step struct{ purpose, command string }

// Command returns the command for a step about the process that paused longest,
// empty if the trace has no events for it.
func (rep *Report) Command(s *findings.Step) string {
	if len(rep.cases) == 0 {
		return ""
	}
	return rep.command(&rep.cases[0], s)
}

func (rep *Report) command(c *Case, s *findings.Step) string {
	words := []string{"gctrail"}
	add := func(flag, value string) { words = append(words, flag, value) }
	switch s.Action {
	case findings.Record:
		return record(c, s.Recording)
	case findings.ListEvents:
		if !rep.holds(s.Events) {
			return ""
		}
		words = append(words, "events")
		add("--name", strings.Join(s.Events, ","))
	case findings.ListAllocations:
		words = append(words, "allocs")
		add("--by", "type,stack")
	case findings.ListPins, findings.ListHandles, findings.ListFinalizers, findings.ListJoins:
		if !rep.holds(s.Events) {
			return ""
		}
		words = append(words, listings[s.Action]...)
	case findings.Report:
		words = append(words, "report")
	case findings.ListCollections:
		words = append(words, "gcs")
		if s.Generation.Known() {
			add("--gen", fmt.Sprint(s.Generation.Or(0)))
		}
		if s.Kind != gc.KindUnknown {
			add("--kind", s.Kind.String())
		}
		if s.MinPause > 0 {
			add("--min-pause", s.MinPause.String())
		}
		if len(s.Figures) > 0 {
			add("--columns", strings.Join(s.Figures, ","))
		}
	}
	if s.From.Known() {
		add("--from", s.From.Or(0).Round(time.Millisecond).String())
	}
	if s.To.Known() {
		add("--to", s.To.Or(0).Round(time.Millisecond).String())
	}
	if pid := c.Summary.Process.PID; len(rep.cases) > 1 && pid != trace.UnknownID {
		add("--pid", fmt.Sprint(pid))
	}
	return strings.Join(append(words, rep.arguments()), " ")
}

// holds reports whether the trace has events of one of the names.
func (rep *Report) holds(names []string) bool {
	for k, n := range rep.counts {
		for _, name := range names {
			if n > 0 && k.String() == name {
				return true
			}
		}
	}
	return false
}

// next returns the commands to run next.
func (rep *Report) next() []string {
	if len(rep.cases) == 0 {
		if rep.provider(clr.RuntimeProvider).Keywords&clr.KeywordGC != 0 {
			return []string{"gctrail events --limit 20 " + rep.arguments()}
		}
		return []string{record(nil, findings.Collections), CollectSelf}
	}
	c := &rep.cases[0]
	list := "gctrail gcs " + rep.arguments()
	if longest := c.Summary.Longest; len(longest) > 0 {
		shortest := longest[len(longest)-1].Pause().Or(0)
		list = fmt.Sprintf("gctrail gcs --min-pause %v %s", shortest.Truncate(truncation(shortest)), rep.arguments())
	}
	next := []string{list, "gctrail report --format json " + rep.arguments()}
	allocs := "gctrail allocs --by type,stack " + rep.arguments()
	switch {
	case c.namesStacks(): // the lines that allocate are what to change
		next = slices.Insert(next, 0, allocs)
	case rep.holds(allocationEvents):
		next = append(next, allocs)
	default:
		next = append(next, record(c, findings.Allocations))
	}
	if c.Code == findings.NoVerdict && rep.loss.Events > 0 { // nothing here can be relied on
		next = slices.Insert(next, 0, record(c, findings.LargeBuffer))
	}
	return append(next, "gctrail report --explain pause")
}

// namesStacks reports whether allocations have stacks with names of methods.
func (c *Case) namesStacks() bool {
	return slices.ContainsFunc(c.Details.Types, func(t findings.AllocatedType) bool { return t.From != "" })
}

// truncation leaves three digits of d, or four.
func truncation(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 10_000 {
		unit *= 10
	}
	return unit
}

func (rep *Report) writeNext(p *text.Page) {
	p.Section("Next")
	for _, command := range rep.next() {
		p.Command("  ", command)
	}
}

// arguments returns the report's files, for a command.
func (rep *Report) arguments() string {
	var b strings.Builder
	if len(rep.paths) > 1 {
		b.WriteString("--merge ")
	}
	for i, path := range rep.paths {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text.Quoted(path))
	}
	return b.String()
}
