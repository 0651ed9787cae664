package live

import (
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/request"
)

// Requests returns the provider of the spans of requests. A process has one filter of them: when
// a second session with one begins, the first gets no more spans.
func Requests() diag.Provider {
	const informational = 4
	return diag.Provider{
		Name: request.Provider, Keywords: request.KeywordEvents, Level: informational,
		Arguments: `FilterAndPayloadSpecs="` + request.Filter + `"`,
	}
}

// maxPaused is how many suspensions a paused keeps. A background GC ends its first pause long
// before it is yielded, and has some hundred others in between at most.
const maxPaused = 256

// A paused keeps a request for each of the latest suspensions.
type paused struct {
	follower request.Follower
	latest   []stopped // oldest first
}

// A stopped request is the longest of a suspension.
type stopped struct {
	from, to time.Duration
	span     *request.Span
}

func newPaused(served func(*request.Span)) *paused {
	p := new(paused)
	if served != nil {
		p.follower.Ended = func(_ uint64, s *request.Span) { served(s) }
	}
	p.follower.Paused = func(_ uint64, from, to time.Duration, s *request.Span) {
		if len(p.latest) == maxPaused {
			p.latest = append(p.latest[:0], p.latest[1:]...)
		}
		of := *s
		p.latest = append(p.latest, stopped{from, to, &of})
	}
	return p
}

// by returns a request for each pause of a collection, nil if none is known.
func (p *paused) by(c *gc.Collection) []*request.Span {
	spans := make([]*request.Span, len(c.Pauses))
	for i := range c.Pauses {
		pause := &c.Pauses[i]
		for _, s := range p.latest {
			if s.from < pause.End() && pause.Start < s.to {
				spans[i] = s.span
			}
		}
	}
	return spans
}
