package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/trace"
)

// record returns the command for a new trace of a process, or of any where it is
// nil; empty if there is none.
func (rep *Report) record(c *Case, r findings.Recording) string {
	switch {
	case rep.provider(clr.MonoProfilerProvider).Events == 0:
	case r == findings.Collections:
		return recordMono
	default:
		return "" // Mono raises nothing else that gctrail reads
	}
	if c == nil {
		return Record(nil, rep.info.Format, r)
	}
	return Record(c.Summary.Process, rep.info.Format, r)
}

// commands returns the commands for the next steps of a finding, each with its
// purpose. A step that the trace has no events for has none.
func (rep *Report) commands(c *Case, f *findings.Finding) []Step {
	var steps []Step
	for i := range f.Next {
		s := &f.Next[i]
		if command := rep.command(c, s); command != "" {
			steps = append(steps, Step{s.Purpose, command})
		}
	}
	return steps
}

// allocationEvents are the events that gctrail allocs counts.
var allocationEvents = []string{"GCAllocationTick", "AllocationSampled", "GCSampledObjectAllocationHigh", "GCSampledObjectAllocationLow"}

// Command returns the command for a step about the process that paused longest,
// empty if the trace has no events for it.
func (rep *Report) Command(s *findings.Step) string {
	if len(rep.cases) == 0 {
		return ""
	}
	return rep.command(&rep.cases[0], s)
}

func (rep *Report) command(c *Case, s *findings.Step) string {
	var words []string
	add := func(flag, value string) { words = append(words, flag, value) }
	switch s.Action {
	case findings.Record:
		return rep.record(c, s.Recording)
	case findings.TakeSnapshots:
		if p := c.Summary.Process; throughPort(p, rep.info.Format) {
			return "gctrail dump " + target(p) + " --repeat 3 --every 60s"
		}
		return ""
	case findings.ListEvents:
		if !rep.holds(s.Events) {
			return ""
		}
		words = []string{"events", "--name", strings.Join(s.Events, ",")}
	case findings.Report:
		words = []string{"report"}
	case findings.ListCollections:
		words = []string{"gcs"}
		if s.Generation.Known() {
			add("--gen", fmt.Sprint(s.Generation.Or(0)))
		}
		if s.Kind != gc.KindUnknown {
			add("--kind", s.Kind.String())
		}
		if s.MinPause > 0 {
			add("--min-pause", spell(s.MinPause))
		}
		if len(s.Figures) > 0 {
			add("--columns", strings.Join(s.Figures, ","))
		}
	default:
		if words = c.listing(s.Action); words == nil {
			return ""
		}
	}
	return rep.reads(c, s.From, s.To, words...)
}

// listing returns the command that lists details of a process, nil if there are none of
// the kind.
func (c *Case) listing(a findings.Action) []string {
	d := &c.Details
	for _, l := range [...]struct {
		action findings.Action
		known  bool
		words  []string
	}{
		{findings.ListTypes, len(d.Types) > 0, []string{"allocs"}},
		{findings.ListAllocations, d.NamesAllocators(), []string{"allocs", "--by", "type,stack"}},
		{findings.ListPins, len(d.Pins) > 0, []string{"pins"}},
		{findings.ListHandles, d.NamesHandleCreators(), []string{"handles", "--by", "kind,stack"}},
		{findings.ListHandles, len(d.Handles) > 0, []string{"handles"}},
		{findings.ListFinalizers, d.NamesFinalized(), []string{"finalizers"}},
		{findings.ListJoins, d.Joins != nil, []string{"joins"}},
		{findings.ListObjects, d.Snapshots.Last != nil, []string{"objects"}},
		{findings.ListRequests, d.Requests != nil, []string{"requests"}},
	} {
		if l.action == a && l.known {
			return l.words
		}
	}
	return nil
}

// reads returns a command that reads the report's files, of one process and for what the
// report is about. The times from and to, if known, are within that.
func (rep *Report) reads(c *Case, from, to gc.Opt[time.Duration], words ...string) string {
	selected := rep.selected
	if from.Known() {
		selected.From.Given, selected.To.Given = false, false
		words = append(words, "--from", spell(from.Or(0).Round(time.Millisecond)), "--to", spell(to.Or(0).Round(time.Millisecond)))
	}
	if len(rep.cases) > 1 && c != nil && c.Summary.Process.PID != trace.UnknownID {
		selected.PIDs, selected.Process = selection.PIDs{c.Summary.Process.PID}, ""
	}
	words = append(words, selected.Flags()...)
	if budget := new(Budget); words[0] == "report" && rep.budget != *budget {
		words = append(words, "--budget", rep.budget.String())
	}
	if takesPerfMap := words[0] == "report" || words[0] == "allocs" || words[0] == "handles"; takesPerfMap && rep.PerfMap != "" {
		words = append(words, "--perf-map", rep.PerfMap)
	}
	if len(rep.paths) > 1 {
		words = append(words, "--merge")
	}
	for _, path := range rep.paths {
		switch {
		case path == "-": // was read, and cannot be read again
			path = "FILE"
		case strings.HasPrefix(path, "-"):
			path = "./" + path
		}
		words = append(words, path)
	}
	return "gctrail " + text.QuotedWords(words)
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
	var none gc.Opt[time.Duration]
	if len(rep.cases) == 0 {
		if rep.provider(clr.MonoProfilerProvider).Events > 0 {
			return []string{rep.reads(nil, none, none, "events", "--provider", clr.MonoProfilerProvider)}
		}
		if rep.Mono() {
			return []string{recordMono}
		}
		if rep.provider(clr.RuntimeProvider).Keywords&clr.KeywordGC != 0 {
			whole := *rep
			if rep.skipped > 0 || rep.outside != "" { // the selected part has nothing to show
				whole.selected = selection.Selection{}
			}
			if rep.skipped > 0 {
				return []string{whole.reads(nil, none, none, "report")}
			}
			return []string{whole.reads(nil, none, none, "events", "--limit", "20")}
		}
		return filledOf(rep.record(nil, findings.Collections), CollectSelf(rep.windows()))
	}
	c := &rep.cases[0]
	list := []string{"gcs"}
	if longest := c.Summary.Longest; len(longest) > 0 {
		shortest := longest[len(longest)-1].Pause().Or(0)
		list = append(list, "--min-pause", spell(shortest.Truncate(truncation(shortest))))
	}
	next := []string{rep.reads(c, none, none, list...), rep.reads(nil, none, none, "report", "--format", "json")}
	if words := c.listing(findings.ListAllocations); words != nil { // the code to change allocates
		next = slices.Insert(next, 0, rep.reads(c, none, none, words...))
	} else {
		if words := c.listing(findings.ListTypes); words != nil {
			next = append(next, rep.reads(c, none, none, words...))
		}
		if !namesNothing(&c.Details) {
			next = append(next, rep.record(c, findings.Allocations))
		}
	}
	for _, asked := range [...]findings.Action{findings.ListObjects, findings.ListRequests} {
		if words := c.listing(asked); words != nil { // somebody paid for them
			next = slices.Insert(next, 0, rep.reads(c, none, none, words...))
		}
	}
	if c.Code == findings.NoVerdict && rep.loss.Dropped() > 0 { // nothing here can be relied on
		next = slices.Insert(next, 0, rep.record(c, findings.LargeBuffer))
	}
	return filledOf(append(next, rep.try(c), "gctrail report --explain pause")...)
}

// maxTried bounds the settings in the command of try.
const maxTried = 3

// try returns the command that tries the settings that findings advise on the program; empty if
// none do, or the program cannot be started as it was.
func (rep *Report) try(c *Case) string {
	var sets []string
	for i := range c.Findings {
		for _, s := range c.Findings[i].Settings {
			_, name, _ := strings.Cut(s.Variable, "_")
			if !slices.ContainsFunc(sets, func(have string) bool { return strings.HasPrefix(have, name+"=") }) {
				sets = append(sets, name+"="+s.Value)
			}
		}
	}
	if len(sets) == 0 {
		return ""
	}
	return Try(c.Summary.Process, rep.info.Format, c.Details.Requests, sets[:min(len(sets), maxTried)])
}

// Try returns the command that tries settings on a program, its own proposals if there are none;
// empty if the program cannot be started as it was. With requests, it compares them, and if
// they are a web server's, has a load to be adapted.
func Try(p *gc.Process, format string, requests *request.Summary, sets []string) string {
	if p == nil || !throughPort(p, format) || Start(p) == "" {
		return ""
	}
	words := []string{"gctrail try"}
	for _, set := range sets {
		words = append(words, "--set", set)
	}
	if requests != nil {
		words = append(words, "--requests")
		if requests.Path != "" {
			words = append(words, "--load", text.Quoted("hey -z 10s http://localhost:5000"+requests.Path))
		}
	}
	return strings.Join(append(words, Start(p)), " ")
}

// filledOf returns the commands that are not empty.
func filledOf(commands ...string) []string {
	return slices.DeleteFunc(commands, func(c string) bool { return c == "" })
}

// spell writes a duration as a flag takes it, with the letters that keyboards have.
func spell(d time.Duration) string { return strings.Replace(d.String(), "µ", "u", 1) }

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
	steps := rep.next()
	for _, command := range steps {
		p.Command("  ", command)
	}
	if byName(steps) == "" {
		return
	}
	if started := rep.nextIfEnded(); started != "" {
		p.Prose("", "collect -n records a program that is running. If this one has ended, start it:")
		p.Command("  ", started)
		return
	}
	says := "collect -n records a program that is running."
	if len(rep.cases) > 0 && throughPort(rep.cases[0].Summary.Process, rep.info.Format) {
		says += " To start one, use -- COMMAND in place of -n NAME."
	}
	p.Prose("", says)
}

// byName returns the last of the commands that selects a running process by its name;
// empty if none does.
func byName(commands []string) string {
	for _, command := range slices.Backward(commands) {
		if strings.Contains(command, " -n ") {
			return command
		}
	}
	return ""
}

// nextIfEnded returns the command of next that selects the running process by its name as
// one that starts the program; empty if there is none, the command line is not known, or
// gctrail cannot record the program so.
func (rep *Report) nextIfEnded() string {
	if len(rep.cases) == 0 {
		return ""
	}
	process := rep.cases[0].Summary.Process
	command, start, selects := byName(rep.next()), Start(process), " "+target(process)
	if start == "" || !throughPort(process, rep.info.Format) || !strings.Contains(command, selects) {
		return ""
	}
	return strings.Replace(command, selects, "", 1) + " " + start
}
