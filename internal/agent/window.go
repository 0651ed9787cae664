package agent

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/watch"
)

// span is how long a window receives collections before a new one begins. It is judged
// for as long again.
const span = 5 * time.Minute

// A window holds the evidence of the last five to ten minutes: the older of its
// two is judged. The zero window is empty.
type window struct {
	older, newer *evidence
	dirty        bool // a collection came since the latest judgement
}

// An evidence holds the collections since a time.
type evidence struct {
	findings.Set
	since time.Time
	start time.Time // of the trace
}

func (w *window) add(c *watch.Collection) {
	w.turn(c.Ended, c.Start)
	w.older.Add(c.Collection)
	if w.newer != nil {
		w.newer.Add(c.Collection)
	}
	w.dirty = true
	c.Marks = nil // which rules add up at once, and which a retained collection would hold
}

// turn begins new evidence when it is time.
func (w *window) turn(now, start time.Time) {
	begin := func() *evidence {
		from := findings.Options{From: gc.Some(now.Sub(start))}
		return &evidence{findings.Set{Options: from}, now, start}
	}
	switch {
	case w.older == nil || now.Sub(w.older.since) >= 3*span:
		w.older, w.newer = begin(), nil
	case now.Sub(w.older.since) >= 2*span && w.newer != nil:
		w.older, w.newer = w.newer, begin()
	case now.Sub(w.older.since) >= span && w.newer == nil:
		w.newer = begin()
	}
}

// judge returns the findings on the window at a time. A process that has not
// collected in it has none.
func (w *window) judge(now time.Time) []findings.Finding {
	if w.older == nil || now.Sub(w.older.since) >= 3*span {
		return nil
	}
	for _, r := range w.older.Judge(findings.Trace{Keywords: clr.KeywordGC, Until: gc.Some(now.Sub(w.older.start))}) {
		return r.Findings
	}
	return nil
}

// judge applies the rules to each process with new collections.
func (p *process) judge(now time.Time) {
	if !p.window.dirty && p.window.older != nil && now.Sub(p.window.older.since) < 3*span {
		return
	}
	p.window.dirty = false
	p.gauges.dropAll(found)
	for _, f := range p.window.judge(now) {
		p.gauges.set(found, 1, f.ID, f.Severity.String())
	}
}
