package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/etw"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// waitsFor returns the end condition of the trace, empty if there is none.
func waitsFor(p *collect.Plan) string {
	switch {
	case p.Until != nil && p.Event != nil:
		return p.Until.String() + " or " + p.Event.String()
	case p.Until != nil:
		return p.Until.String()
	case p.Event != nil:
		return p.Event.String()
	}
	return ""
}

// keeps returns how much is kept.
func keeps(p *collect.Plan) string {
	if p.Before > 0 {
		return "the last " + spanText(p.Before)
	}
	return "the last " + units.Bytes(p.Keep.Size)
}

// around returns how much is retained around a trigger.
func around(p *collect.Plan) string {
	before := spanText(p.Before)
	if p.Before == 0 {
		before = "what fits in " + units.Bytes(p.Keep.Size)
	}
	return before + " before it and " + spanText(p.After) + " after it"
}

// aim returns the purpose of a trace to a path.
func aim(p *collect.Plan, path string) string {
	switch waits := waitsFor(p); {
	case p.Ring && waits != "":
		return " until " + waits + ", to keep " + around(p) + " in " + path
	case p.Ring:
		return ", to keep " + keeps(p) + " in " + path
	case waits != "":
		return " to " + path + " until " + waits
	}
	return " to " + path
}

// spanText writes a time as a person gives it: 90s is 1m30s, 60s is 1m.
func spanText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// triggerText describes the trigger of a trace.
func triggerText(t *collect.Trigger) string {
	if t.Event != nil {
		return "the event " + t.Event.String()
	}
	if t.Request != nil {
		return requestText(t.Request)
	}
	c := t.Collection
	var parts []string
	if c.Generation.Known() {
		parts = append(parts, "gen "+strconv.Itoa(c.Generation.Or(0)))
	}
	if c.Kind != gc.KindUnknown {
		parts = append(parts, c.Kind.String())
	}
	if c.Reason.Known() {
		parts = append(parts, c.Reason.Or(0).String())
	}
	if pause := c.Pause(); pause.Known() {
		parts = append(parts, "paused "+units.Duration(pause.Or(0)))
	}
	return fmt.Sprintf("collection %d (%s)", c.Number, strings.Join(parts, ", "))
}

// requestText describes a request that was awaited.
func requestText(s *request.Span) string {
	took := s.Duration.Or(0)
	said := fmt.Sprintf("request %s (%s, %s of it paused", text.Quoted(s.Label()), units.Duration(took), units.Percent(100*float64(s.Paused)/float64(max(1, took))))
	if id := s.TraceID.String(); id != "" {
		said += ", trace " + id
	}
	return said + ")"
}

const noDotnet = "it is not a .NET 5 or later program, or DOTNET_EnableDiagnostics=0 is set"

// noticeText returns a notice in words.
func noticeText(n collect.Notice) string {
	switch n := n.(type) {
	case collect.Started:
		said := "collecting from " + collect.Title(n.Process) + aim(n.Plan, n.Path)
		if n.First {
			said += "; press Ctrl-C to stop"
		}
		return said
	case collect.Dumped:
		by := "one session of the runtime requested and recorded it"
		if n.Sessions > 1 {
			by = "one session of the runtime requested it, another recorded it"
		}
		return fmt.Sprintf("snapshot %d of %s took %s: %s", n.Nth, collect.Title(n.Process), units.Duration(n.Took), by)
	case collect.Retaken:
		return fmt.Sprintf("the snapshot of %s has holes: taking it again (%d of at most %d)", collect.Title(n.Process), n.Nth, n.Most)
	case collect.Recording:
		return recordingText(&n)
	case collect.Listening:
		if n.Port.Exposed() {
			return fmt.Sprintf("waiting at %s for .NET programs of any machine that can reach it, without authentication; press Ctrl-C to stop", n.Path)
		}
		if n.Port.Remote() {
			return fmt.Sprintf("waiting at %s for the .NET program of a phone, an emulator or a router; press Ctrl-C to stop", n.Path)
		}
		return fmt.Sprintf("waiting for .NET programs started with %s=%s; press Ctrl-C to stop", n.Variable, n.Path)
	case collect.NotAsked:
		return fmt.Sprintf("%s has not connected for tracing in %v: %s", n.Command, n.For, noDotnet)
	case collect.Orphaned:
		return fmt.Sprintf("%s left processes running (%s): .NET programs they start from now on wait for a port that no longer exists; "+
			"kill them, or start such programs without %s", n.Command, strings.Join(n.PIDs, ", "), n.Variable)
	case collect.Untraced:
		if n.NoRoom {
			return collect.Title(n.Process) + " runs untraced: -o is a single file; use a folder for several"
		}
		return collect.Title(n.Process) + " runs untraced: its name does not match -n"
	case collect.NotResumed:
		return fmt.Sprintf("%s may still be suspended at startup: %s", collect.Title(n.Process), problemOf(n.Err))
	case collect.Triggered:
		said := fmt.Sprintf("%s of %s met the condition", triggerText(n.Trigger), collect.Title(n.Process))
		switch {
		case n.Plan.Ring:
			said += ": " + around(n.Plan) + " will be in " + n.Path
		case n.Plan.After > 0:
			said += ": the trace ends " + spanText(n.Plan.After) + " later"
		}
		return said
	case collect.Ending:
		return fmt.Sprintf("still waiting for %s to end its trace, for at most %s: a busy machine, or a full buffer, makes it slow",
			collect.Title(n.Process), spanText(n.Limit))
	case collect.Unmatchable:
		return fmt.Sprintf("the stopping event %s can never occur: %v; still collecting", n.Event, n.Err)
	case collect.Shortened:
		return n.Text
	case collect.InPieces:
		return "the remaining segments were not joined; each is a readable trace: " + strings.Join(n.Paths, ", ")
	}
	return ""
}

// recordingText describes the recording of a session of the system's tracer.
func recordingText(n *collect.Recording) string {
	of := "all processes"
	switch {
	case n.Relay != "":
		of = n.Relay
	case n.Processes != nil:
		of = collect.Titles(n.Processes)
	}
	said := "recording " + n.Tracer + " events of " + of + aim(n.Plan, n.Path) + "; press Ctrl-C to stop"
	switch {
	case errors.Is(n.Unnamed, etw.StatusDenied):
		said += "; the trace has no names of processes, which only an administrator may record"
	case n.Unnamed != nil:
		said += "; the trace has no names of processes: " + problemOf(n.Unnamed)
	}
	return said
}

// statusText describes the progress of collecting: at first, what it waits for.
func statusText(s collect.Status, waiting string) string {
	switch len(s.Captures) {
	case 0:
		return waiting
	case 1:
		return captureText(&s.Captures[0], s.Elapsed)
	}
	var size, collections int64
	slowest := &s.Captures[0]
	for i := range s.Captures {
		c := &s.Captures[i]
		size += c.Bytes
		collections += c.Collections
		if c.Longest > slowest.Longest {
			slowest = c
		}
	}
	said := fmt.Sprintf("%s  %d processes, %s", clock(s.Elapsed), len(s.Captures), units.Bytes(size))
	if collections > 0 {
		said += fmt.Sprintf("  %s, longest pause %s in %s", text.Plural(collections, "collection", "collections"),
			units.Duration(slowest.Longest), collect.Title(slowest.Process))
	}
	return said
}

func captureText(c *collect.CaptureStatus, elapsed time.Duration) string {
	said := clock(elapsed)
	if !c.Ends.IsZero() {
		said += "  condition met, ends in " + clock(max(0, time.Until(c.Ends)))
	}
	said += "  " + units.Bytes(c.Bytes)
	if c.Collections > 0 {
		said += fmt.Sprintf("  %s, longest pause %s", text.Plural(c.Collections, "collection", "collections"), units.Duration(c.Longest))
	}
	switch {
	case !c.Ends.IsZero():
	case c.Plan.Waits():
		said += "; waiting for " + waitsFor(c.Plan)
	case c.Plan.Ring:
		said += "; keeping " + keeps(c.Plan)
	}
	return said
}

// clock writes a time as hours, minutes and seconds.
func clock(d time.Duration) string {
	seconds := int(d / time.Second)
	return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}
