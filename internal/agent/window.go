package agent

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/watch"
)

// span is how long a window receives collections. Then its findings are served for as
// long again, together with the next window's.
const span = 5 * time.Minute

// A window holds the evidence of the last five minutes, and the findings on the five
// minutes before. It takes some 25 kB, however many collections there are. The zero
// window is empty.
type window struct {
	current *evidence
	before  []findings.Finding // at current.since; their IDs and severities
	dirty   bool               // a collection came since the latest judgement
	latest  reading            // of the processors
}

// An evidence holds the collections since a time.
type evidence struct {
	findings.Set
	since     time.Time
	start     time.Time   // of the trace
	process   *gc.Process // of the latest collection
	processor gc.ProcessorTime
	limits    *gc.Limits // nil if unknown
}

func (w *window) add(c *watch.Collection) {
	w.turn(c.Ended, c.Start)
	w.current.Add(c.Collection)
	w.current.process = c.Collection.Process
	for i := range c.Pauses {
		w.current.processor.Paused(c.Pauses[i].Start, c.Pauses[i].End())
	}
	w.dirty = true
	c.Marks = nil // which rules add up at once, and which a retained collection would hold
}

// turn begins new evidence when it is time.
func (w *window) turn(now, start time.Time) {
	switch {
	case w.current == nil:
	case w.over(now):
		w.before = nil
	case now.Sub(w.current.since) >= span:
		w.before = w.current.judge(now)
		for i, f := range w.before {
			w.before[i] = findings.Finding{ID: f.ID, Severity: f.Severity}
		}
	default:
		return
	}
	w.current = &evidence{Set: findings.Set{Options: findings.Options{SumsOnly: true, From: gc.Some(now.Sub(start))}}, since: now, start: start}
	if now.Sub(w.latest.at) <= recent {
		w.current.read(&w.latest)
	}
}

// read adds a reading of the processors. Sums count from the last reading before the
// window.
func (w *window) read(r *reading) {
	w.latest = *r
	if w.current != nil {
		w.current.read(r)
	}
}

func (e *evidence) read(r *reading) {
	e.limits = r.limits
	for _, event := range r.events {
		e.processor.Read(r.at.Sub(e.start), event)
	}
}

// over reports whether the evidence is too old for findings. A process that goes on
// collecting begins new evidence before.
func (w *window) over(now time.Time) bool { return now.Sub(w.current.since) >= 2*span }

func (e *evidence) judge(now time.Time) []findings.Finding {
	e.process.Processor, e.process.Limits = e.processor, e.limits
	for _, r := range e.Judge(findings.Trace{Keywords: clr.KeywordGC, Until: gc.Some(now.Sub(e.start))}) {
		return r.Findings
	}
	return nil
}

// judge returns the findings on the window at a time. A process without a collection in
// it has none.
func (w *window) judge(now time.Time) []findings.Finding {
	if w.current == nil || w.over(now) {
		w.current, w.before = nil, nil
		return nil
	}
	found := w.current.judge(now)
	if now.Sub(w.current.since) < span {
		for _, f := range w.before {
			if !slices.ContainsFunc(found, func(o findings.Finding) bool { return o.ID == f.ID }) {
				found = append(found, f)
			}
		}
	}
	return found
}

// judge applies the rules to each process with new collections, and drops findings
// whose time is over.
func (p *process) judge(now time.Time) {
	w := &p.window
	if !w.dirty && (w.current == nil || now.Sub(w.current.since) < span) {
		return
	}
	w.dirty = false
	p.gauges.dropAll(found)
	for _, f := range w.judge(now) {
		p.gauges.set(found, 1, f.ID, f.Severity.String())
	}
}
