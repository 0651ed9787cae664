package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// gaps are the gaps of a trace.
type gaps []Gap

func (g *gaps) add(command, format string, args ...any) {
	*g = append(*g, Gap{fmt.Sprintf(format, args...), filled(command)})
}

// gaps returns the gaps of the trace; c may be nil.
func (rep *Report) gaps(c *Case) gaps {
	found := rep.missing(c)
	if words := Unmerged(rep.merged); words != "" {
		found.add("", "How the files relate: %s.", words)
	}
	if rep.info.ProcessesUnknown {
		found.add("lttng add-context --userspace --type=vpid --type=vtid --type=procname",
			"The process of each event: the trace lacks the contexts vpid, vtid and procname, so processes cannot be distinguished.")
	}
	if lacking := rep.undeclared(); lacking != "" {
		found.add(enableEvents, "Figures that need events that were not enabled: %s.", lacking)
	}
	if c == nil {
		if rep.Mono() && rep.provider(clr.MonoProfilerProvider).Events == 0 {
			found.add(recordMono, "GCs: Mono raises events of its own, from .NET 8 on only in programs started with MONO_DIAGNOSTICS=--diagnostic-mono-profiler=enable.")
		}
		return found
	}
	all := c.Summary.All()
	switch {
	case all.Pause.Count() == 0:
		found.add(rep.record(c, findings.Collections), "How long pauses were: the trace lacks the suspensions of %s.",
			text.Counted(all.Count, "GC"))
	case all.Incomplete > 0:
		found.add("", "Some figures of %s: the trace begins or ends during a GC, or lacks events.", text.Counted(all.Incomplete, "GC"))
	}
	if c.Summary.Process.Name == "" {
		found.add("", "Which program it was: the trace does not name it.")
	}
	if !rep.holds(allocationEvents) {
		found.add(rep.record(c, findings.Allocations), "Allocated types and their callers: the trace has no allocation events.")
	} else if namesNothing(&c.Details) {
		found.add("", "Allocated types and their callers: the events of allocations have no names of types. NativeAOT programs send none, nor stacks.")
	} else if len(c.Details.Types) > 0 && !c.Details.NamesAllocators() {
		found.add(rep.record(c, findings.Allocations), "What allocates: the trace has no stacks of allocations, or no names for the methods in them.")
	}
	background := c.Summary.Kind(gc.Background).Pause.Sum()
	if notable := all.Pause.Sum() / 10; background > notable && rep.provider(clr.PrivateProvider).Events == 0 {
		found.add(rep.record(c, findings.Phases), "The phases of background GCs: needs the runtime's private provider.")
	}
	if !c.Summary.Heap.Committed.Known() && all.Count > 0 {
		found.add("", "How much memory was committed: .NET 8 and later record it, with regions.")
	}
	return found
}

// namesNothing reports whether there are events of allocations, but none that names a type, so
// that another recording would have no names either. Types of NativeAOT programs have at most
// a place in the program's file: see clr.BulkTypeValue.NativeName.
func namesNothing(d *findings.Details) bool {
	return d.Source != alloc.SourceUnknown &&
		!slices.ContainsFunc(d.Types, func(t findings.AllocatedType) bool { return !strings.HasPrefix(t.Name, "+0x") })
}

// missing returns the recorded data that are, or may be, missing in the trace; c may be
// nil.
func (rep *Report) missing(c *Case) gaps {
	var found gaps
	affected := ""
	if c != nil && c.Summary.All().Affected > 0 {
		affected = fmt.Sprintf(" This may affect the figures of %s; sums are lower bounds.", text.Counted(c.Summary.All().Affected, "GC"))
	}
	if rep.loss.Dropped() > 0 {
		found.add(rep.record(c, findings.LargeBuffer), "%s%s.%s", text.Sentence(lost(rep.loss, "event", "events")), rep.lostWhen(), affected)
		affected = ""
	}
	if rep.loss.LeftOut > 0 {
		found.add("", "Other processes with GC events: %s.", leftOut(rep.loss))
	}
	if unexplained(rep.loss) {
		found.add("", "Some events%s: they are missing, and nothing shows how many.", rep.lostWhen())
	}
	if len(rep.recorded) == 0 && trace.TracerOf(rep.info.Format) == trace.LTTng {
		found.add("", "Any event: the stream files of this LTTng trace hold none. The session recorded nothing, still runs (lttng stop writes its buffers), or could not write, as to a full disk.")
	}
	if rep.loss.StreamsUnknown {
		found.add("", "The files of other processors, if the machine had any: LTTng writes one for each processor, and the trace does not show how many there were.")
	}
	if c != nil && c.Summary.Process.Missing > 0 {
		found.add("", "%s", text.Plural(int64(c.Summary.Process.Missing),
			"GC is missing: the numbers of later ones show that it ran.", "GCs are missing: the numbers of later ones show that they ran."))
	}
	if silence := rep.info.Silence(); silence > 0 {
		found.add("", "Whether the program ran before %s: no event is from that time. It was idle, or the trace's start time is damaged; shares are of the time since.",
			units.Duration(silence))
	}
	if rep.loss.Truncated {
		found.add("", "What came after %s: the trace is truncated. Its program or collector was stopped, or the copy of the file is incomplete.", units.Duration(rep.info.Last))
	}
	if rep.loss.Damaged > 0 {
		found.add("", "The contents of %s that cannot be read, the first at byte %s: whole GCs may be missing.%s",
			text.Counted(rep.loss.Damaged, "place"), firstDamage(&rep.loss.Damage[0]), affected)
	}
	return found
}

// lost returns how many events are known to be lost, with the words for one and for several.
func lost(l *trace.Loss, one, several string) string {
	n := text.Plural(int64(min(l.Dropped(), 1<<62)), one, several) + " lost"
	if l.Exactness == trace.Exact {
		return n
	}
	return "at least " + n
}

// lostWhen returns the times between which events were lost.
func (rep *Report) lostWhen() string {
	ranges := rep.loss.Ranges()
	if len(ranges) == 0 {
		return ""
	}
	return fmt.Sprintf(" between %s and %s", units.Duration(max(0, ranges[0].From)), units.Duration(max(0, ranges[len(ranges)-1].To)))
}

func (rep *Report) writeGaps(p *text.Page, c *Case) {
	gaps := rep.gaps(c)
	if len(gaps) == 0 {
		return
	}
	p.Section("What this trace does not show")
	for _, g := range gaps {
		p.Prose("  - ", g.What)
		if command, known := g.Command.Get(); known {
			p.Command("    ", command)
		}
	}
}

// emptyVerdict returns why there are no collections.
func (rep *Report) emptyVerdict() (findings.Code, string) {
	if why := rep.unrecorded(); why != "" {
		return findings.NoVerdict, "No verdict: " + why
	}
	switch {
	case rep.skipped > 0 && rep.outside != "":
		return findings.NoCollections, fmt.Sprintf("None of the trace's %s is selected: %s.", text.Counted(rep.skipped, "GC"), rep.outside)
	case rep.skipped > 0:
		return findings.NoCollections, fmt.Sprintf("None of the trace's %s is selected.", text.Counted(rep.skipped, "GC"))
	case rep.narrowed && !rep.loss.Incomplete():
		return findings.NoCollections, "No GC happened in the selected part of the trace."
	case rep.loss.Incomplete():
		return findings.NoVerdict, "No verdict: the trace has no GC, and events are missing."
	case rep.info.Last < watchedEnough:
		return findings.NoVerdict, fmt.Sprintf("No verdict: no GC happened in %s, which is too short to judge.", units.Duration(rep.info.Last))
	default:
		return findings.NoCollections, fmt.Sprintf("No GC happened in %s, so GC pauses did not slow the program in that time.", units.Duration(rep.info.Last))
	}
}

// recordMono is the command that records Mono's own events of collections. From .NET 8 on, Mono
// has them only if it was started with MONO_DIAGNOSTICS=--diagnostic-mono-profiler=enable.
const recordMono = "gctrail collect -p PID --providers " + clr.MonoProfilerProvider + ":0x1:4"

// Mono reports whether a process without collections ran on Mono, so that their absence says
// nothing.
func (rep *Report) Mono() bool {
	return rep.provider(clr.MonoProfilerProvider).Events > 0 ||
		slices.ContainsFunc(rep.others, func(p *gc.Process) bool { return strings.HasPrefix(p.Runtime, gc.MonoRuntime) })
}

// unrecorded returns why the trace cannot have collections; empty if it can.
func (rep *Report) unrecorded() string {
	runtime := rep.provider(clr.RuntimeProvider)
	switch {
	case rep.provider(clr.MonoProfilerProvider).Keywords&clr.KeywordGC != 0:
		return ""
	case rep.provider(clr.MonoProfilerProvider).Events > 0:
		return "the program ran on Mono, and the keyword gc (0x1) of its profiler was not enabled."
	case rep.Mono():
		return "the program ran on Mono, which raises no GC events of the .NET runtime provider, but its own."
	case len(rep.recorded) == 0:
		return "the trace has no events" + rep.perhapsMissing() + "."
	case runtime.Events == 0:
		return "the trace has no events of the .NET runtime provider, which raises the GC events" + rep.perhapsMissing() + "."
	case runtime.Keywords&clr.KeywordGC == 0 && rep.loss.Incomplete():
		return "the trace has .NET runtime events, but no GC events" + rep.perhapsMissing() + "."
	case runtime.Keywords&clr.KeywordGC == 0:
		return "the trace has .NET runtime events, but no GC events: keyword gc (0x1) was probably not enabled."
	case !clr.Declared(rep.info, clr.KindGCStart):
		return "the event GCStart was not enabled, so GCs were not recorded."
	}
	return ""
}

// perhapsMissing adds that the trace may have lost the missing data.
func (rep *Report) perhapsMissing() string {
	if rep.loss.Incomplete() {
		return ", and is not complete: they may be missing"
	}
	return ""
}

// watchedEnough is the least time without a collection that says something.
const watchedEnough = 10 * time.Second
