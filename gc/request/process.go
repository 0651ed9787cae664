package request

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/trace"
)

// A Process has the spans of a process of the trace.
type Process struct {
	PID       uint64 // trace.UnknownID if unknown
	Len       int    // spans that started in the trace
	Open      int    // of which did not end in it
	Startless int    // spans that ended, and had started before the trace, or whose start was lost
	Serves    bool   // it has spans of requests from others: of the kinds Server and Consumer
	traced    bool   // of these, some are not HostingProvider's

	model *Model
	of    *process
	loss  *trace.Loss
}

// LeftOut returns the number of spans, and of suspensions, that there was no room for.
func (m *Model) LeftOut() int { return m.leftOut }

// Processes returns the processes with spans, in the order of their first events, after the
// trace has ended. Spans in which it lost events are not complete.
func (m *Model) Processes(loss *trace.Loss) []*Process {
	var all []*Process
	for _, of := range m.order {
		if len(of.spans)+of.startless == 0 {
			continue
		}
		slices.SortFunc(of.pauses, func(a, b interval) int { return cmp.Compare(a.begin, b.begin) })
		p := &Process{PID: of.pid, Len: len(of.spans), Startless: of.startless, model: m, of: of, loss: loss}
		for i := range of.spans {
			s := &of.spans[i]
			if !s.ended {
				p.Open++
			}
			if serves(m.names.text(s.kind)) {
				p.Serves = true
				p.traced = p.traced || m.names.text(s.source) != HostingProvider
			}
		}
		all = append(all, p)
	}
	return all
}

// Spans returns the spans, by their start. Each is valid until the next one.
func (p *Process) Spans() iter.Seq[*Span] {
	return func(yield func(*Span) bool) {
		var s Span
		for i := range p.of.spans {
			p.fill(&s, &p.of.spans[i])
			if !yield(&s) {
				return
			}
		}
	}
}

func serves(kind string) bool { return kind == "Server" || kind == "Consumer" }

// IsRequest reports whether a span is a request: it is in no other span and, in a process with
// requests from others, one of these. A span of HostingProvider is none if the process has others,
// which are the same requests with their ids.
func (p *Process) IsRequest(s *Span) bool {
	return !s.Nested && (!p.Serves || serves(s.Kind)) && !(p.traced && s.Source == HostingProvider)
}

func (p *Process) fill(s *Span, of *span) {
	names := &p.model.names
	*s = Span{
		TraceID: of.trace, ID: of.id, Parent: of.parent, Source: names.text(of.source), Name: names.text(of.name), Route: names.text(of.route), Kind: names.text(of.kind),
		Nested: of.nested, Start: of.start, GCs: s.GCs[:0],
	}
	end := of.end
	if of.ended {
		s.Duration = gc.Some(of.end - of.start)
	} else {
		end = max(of.start, p.model.last)
	}
	s.Complete = of.ended && !p.loss.Touches(of.start, end)
	for i := range overlapping(p.of.suspensions, of.start, end) {
		part := min(end, i.end) - max(of.start, i.begin)
		if i.forGC {
			s.Paused += part
		} else {
			s.Suspended += part
		}
	}
	for i := range overlapping(p.of.stalls, of.start, end) {
		s.Stalled += min(end, i.end) - max(of.start, i.begin)
	}
	for pause := range overlapping(p.of.pauses, of.start, end) {
		if !slices.Contains(s.GCs, pause.number) {
			s.GCs = append(s.GCs, pause.number)
		}
	}
}

// A Pause is a pause of a collection.
type Pause struct {
	Number   uint32 // of the collection
	Start    time.Duration
	Duration time.Duration
}

// Pauses returns the pauses that a span of the process was paused by, by their start. One that
// has not ended is paused until the end of the trace.
func (p *Process) Pauses(s *Span) iter.Seq[Pause] {
	end := max(s.Start, p.model.last)
	if took, ended := s.Duration.Get(); ended {
		end = s.Start + took
	}
	return func(yield func(Pause) bool) {
		for of := range overlapping(p.of.pauses, s.Start, end) {
			if !yield(Pause{of.number, of.begin, of.end - of.begin}) {
				return
			}
		}
	}
}

// overlapping yields the intervals that overlap the time from begin to end. All are in order, and
// do not overlap each other.
func overlapping(all []interval, begin, end time.Duration) iter.Seq[interval] {
	return func(yield func(interval) bool) {
		first := sort.Search(len(all), func(i int) bool { return all[i].end > begin })
		for _, i := range all[first:] {
			if i.begin >= end || !yield(i) {
				return
			}
		}
	}
}
