package agent

import (
	"strconv"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/watch"
)

// A process is a process whose collections are counted.
type process struct {
	*diag.Process
	id       int // of its watching
	identity identity
	group    *group
	ends     *group // in which its end is counted
	gauges   gauges
	window   window
	memory   *memory
	captured map[int]time.Time // when each rule was last met

	processor processor

	seen          int    // collections
	first, latest uint32 // their numbers
}

// Words for unknown values.
const (
	unknown = "unknown"
	other   = "other"
)

// knownReasons bounds the reasons that have a series; the runtime has 18.
const knownReasons = 32

func generationOf(c *gc.Collection) string {
	if g, known := c.Generation.Get(); known && 0 <= g && g <= 2 {
		return "gen" + strconv.Itoa(g)
	}
	return unknown
}

func reasonOf(c *gc.Collection) string {
	reason, known := c.Reason.Get()
	switch {
	case !known:
		return unknown
	case reason >= knownReasons:
		return other
	}
	return reason.String()
}

// longestPaused returns a request that the longest pause of a collection stopped, nil if none is
// known.
func longestPaused(n *watch.News) *request.Span {
	var longest time.Duration
	var found *request.Span
	for i, s := range n.Paused {
		if d := n.Collection.Pauses[i].Duration; s != nil && d >= longest {
			longest, found = d, s
		}
	}
	return found
}

// take counts a collection. requests has one for each pause, or nil, if requests are followed.
func (p *process) take(c *watch.Collection, requests []*request.Span) {
	generation, kind, reason := generationOf(c.Collection), c.Kind.String(), reasonOf(c.Collection)
	g := p.group
	g.count(collections, 1, generation)
	var paused time.Duration
	for i := range c.Pauses {
		d := max(0, c.Pauses[i].Duration)
		paused += d
		e := exemplar{gc: c.Number, at: c.Ended.UnixNano()}
		if i < len(requests) && requests[i] != nil {
			e.trace, e.span = requests[i].TraceID, requests[i].ID
		}
		g.observe(pauseDuration, d, e, generation, kind, reason)
	}
	g.count(pauseTime, paused.Seconds())
	if d, known := c.Suspend().Get(); known {
		g.observe(suspendDuration, d, exemplar{gc: c.Number, at: c.Ended.UnixNano()})
	}
	if n, known := c.Allocated.Get(); known && n > 0 {
		g.count(allocated, float64(n))
		if since := c.SinceLast.Or(0); since > 0 {
			p.gauges.set(allocationRate, float64(n)/since.Seconds())
		}
	}
	if n, known := c.Promoted.Get(); known && n > 0 {
		g.count(promoted, float64(n))
	}
	p.measure(c.Collection)
	p.number(c.Number)
	p.window.add(c)
	p.memory.collected(c)
}

// measure records the sizes that a collection measured.
func (p *process) measure(c *gc.Collection) {
	for i := range c.Generations {
		generation := &c.Generations[i]
		p.setBytes(heapSize, generation.After, generation.Name)
		p.setBytes(fragmentation, generation.Fragmentation, generation.Name)
		p.gauges.set(budget, float64(generation.Budget), generation.Name)
	}
	p.setBytes(committed, c.CommittedAfter)
	p.setBytes(pinned, c.PinnedObjects)
	p.setBytes(handles, c.Handles)
	if load, known := c.MemoryLoad.Get(); known {
		p.gauges.set(memoryLoad, float64(load)/100)
	}
}

func (p *process) setBytes(m *metric, v gc.Opt[int64], values ...string) {
	if n, known := v.Get(); known {
		p.gauges.set(m, float64(n), values...)
	}
}

// number checks the runtime's number of a collection. Numbers begin at one, so that a gap
// means missed collections.
func (p *process) number(n uint32) {
	if p.seen == 0 || n < p.first {
		p.first = n
	}
	p.latest = max(p.latest, n)
	p.seen++
	p.gauges.set(collectionsBefore, float64(max(1, p.first)-1))
	p.gauges.set(collectionsMissing, max(0, float64(p.latest-p.first)+1-float64(p.seen)))
}
