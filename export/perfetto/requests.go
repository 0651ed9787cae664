package perfetto

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/request"
)

// The bounds of Requests.
const (
	maxLanes = 256     // tracks of spans that overlap
	maxFlows = 1 << 20 // arrows of a process
)

// Requests writes the spans of a process. Each has arrows to the pauses in it, which lead to a
// track of these pauses, so that a pause shows how many requests it stopped. Close writes that
// track.
type Requests struct {
	Written int64 // spans
	LeftOut int64 // spans that overlap more others than there are tracks for

	w     *Writer
	of    *process
	until time.Duration
	lanes [2][]time.Duration // ends of the last spans of tracks: of requests, and in them
	stops map[request.Pause][]uint64
	flows int
}

// NewRequests returns the Requests of a process. Spans that have not ended are written until
// the given time.
func (w *Writer) NewRequests(of *gc.Process, until time.Duration) *Requests {
	return &Requests{w: w, of: w.process(of), until: until, stops: make(map[request.Pause][]uint64)}
}

// Add writes a span, with the pauses in it. Spans come in order of their start.
func (r *Requests) Add(s *request.Span, pauses iter.Seq[request.Pause]) error {
	end := max(s.Start, r.until)
	if took, ended := s.Duration.Get(); ended {
		end = s.Start + took
	}
	track, free := r.lane(s, end)
	if !free {
		r.LeftOut++
		return r.w.err
	}
	r.Written++
	w := r.w
	id := w.track(r.of, track)
	w.begin(sliceBegin, id, cmp.Or(s.Label(), "request"))
	for pause := range pauses {
		if r.flows == maxFlows {
			break
		}
		r.flows++
		w.flows++
		w.event.fixed(eventFlow, w.flows)
		r.stops[pause] = append(r.stops[pause], w.flows)
	}
	r.annotate(s)
	w.end(s.Start)
	w.begin(sliceEnd, id, "")
	w.end(end)
	return w.err
}

func (r *Requests) annotate(s *request.Span) {
	w := r.w
	for _, a := range [...]struct{ name, value string }{
		{"trace_id", s.TraceID.String()},
		{"span_id", s.ID.String()},
		{"parent_span_id", s.Parent.String()},
		{"source", s.Source},
		{"name", s.Name},
		{"kind", s.Kind},
	} {
		if a.value != "" {
			w.word(a.name, a.value)
		}
	}
	w.number("gc_paused_ms", millis(s.Paused))
	if s.Suspended > 0 {
		w.number("other_suspended_ms", millis(s.Suspended))
	}
	if !s.Complete {
		w.word("complete", "false")
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// lane returns the name of the first track that is free when a span starts. As spans come in
// order, a track is free after the end of the last span on it.
func (r *Requests) lane(s *request.Span, end time.Duration) (track string, free bool) {
	which, name := 0, trackRequests
	if s.Nested {
		which, name = 1, trackNested
	}
	ends := &r.lanes[which]
	i := slices.IndexFunc(*ends, func(last time.Duration) bool { return last <= s.Start })
	switch {
	case i >= 0:
		(*ends)[i] = end
	case len(*ends) == maxLanes:
		return "", false
	default:
		i = len(*ends)
		*ends = append(*ends, end)
	}
	if i > 0 {
		name = fmt.Sprintf("%s%s%d", name, laneSeparator, i)
	}
	return name, true
}

// Close writes the pauses that arrows lead to. It does not close the Writer.
func (r *Requests) Close() error {
	w := r.w
	pauses := slices.SortedFunc(maps.Keys(r.stops), func(a, b request.Pause) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Duration, b.Duration))
	})
	for _, pause := range pauses {
		flows := r.stops[pause]
		stopped := fmt.Sprintf("%d spans", len(flows))
		if len(flows) == 1 {
			stopped = "1 span"
		}
		w.slice(r.of, trackStopped, fmt.Sprintf("GC %d paused %s", pause.Number, stopped), pause.Start, pause.Duration, func() {
			for _, flow := range flows {
				w.event.fixed(eventFlowEnd, flow)
			}
			w.integer("number", int64(pause.Number))
		})
	}
	return w.err
}
