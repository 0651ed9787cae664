package report

import (
	"slices"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/html"
)

// records returns the commands that the page shows where the trace lacks something. They are
// as in the section about gaps in the trace.
func (p *Paged) records(rep *Report, c *Case) html.Record {
	r := html.Record{
		Collections: rep.record(c, findings.Collections), Phases: rep.record(c, findings.Phases),
		Others: slices.DeleteFunc(p.unshown(rep, c), func(u html.Unrecorded) bool { return u.Command == "" }),
	}
	if !namesNothing(&c.Details) {
		r.Stacks = rep.record(c, findings.Allocations)
	}
	return r
}

// handleEvents are the events that gctrail handles counts.
var handleEvents = []string{"SetGCHandle", "DestroyGCHandle"}

// unshown returns the parts of a page for which the trace has no events of a process, each with
// the command that records them, which is empty if gctrail cannot record that runtime.
func (p *Paged) unshown(rep *Report, c *Case) []html.Unrecorded {
	all := []html.Unrecorded{}
	of := c.Summary.Process
	if c.Details.Requests == nil && p.details.requests.LeftOut() == 0 {
		all = append(all, html.Unrecorded{Name: "requests", What: "Requests, and how long the GC paused each.", Command: RecordRequests(of, rep.info.Format)})
	}
	if !rep.holds(handleEvents) && rep.provider(clr.RuntimeProvider).Keywords&clr.KeywordGCHandle == 0 {
		all = append(all, html.Unrecorded{Name: "GC handles", What: "Which GC handles are allocated and not freed, and by which code.", Command: rep.record(c, findings.HandleStacks)})
	}
	if c.Details.Snapshots.Count == 0 && throughPort(of, rep.info.Format) {
		all = append(all, html.Unrecorded{Name: "heap snapshots", What: "Which objects are on the heap, and what holds them.", Command: "gctrail dump " + target(of)})
	}
	return all
}

// RecordRequests returns the command for a new trace of a process with its requests, as Record
// does for other recordings.
func RecordRequests(p *gc.Process, format string) string {
	if !throughPort(p, format) {
		return ""
	}
	words := []string{"gctrail collect", target(p), "--requests"}
	if started(p, format) {
		if start := Start(p); start != "" {
			words = []string{"gctrail collect --requests", start}
		}
	}
	return strings.Join(words, " ")
}
