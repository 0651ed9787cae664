package perfetto

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// The tracks and counters of a process. Counters of generations have their names.
const (
	trackFindings         = "Findings"
	trackQuoted           = "GCs that findings quote"
	trackPauses           = "GC pauses"
	trackBackgroundPauses = "Background GC pauses"
	trackSuspension       = "Suspension"
	trackRequests         = "Requests"
	trackNested           = "Spans in requests"
	trackStopped          = "GC pauses of requests"
	trackCollections      = "GCs"
	trackBackground       = "Background GCs"
	trackPhases           = "Background GC phases"
	counterHeap           = "Heap"
	counterCommitted      = "Committed"
	counterRate           = "Allocation rate"
)

// order is the order of tracks from the top; other tracks follow.
var order = func() []string {
	names := []string{
		trackPauses, trackBackgroundPauses, trackStopped, trackRequests, trackNested, trackFindings, trackQuoted, trackSuspension, trackCollections, trackBackground, trackPhases,
		counterHeap,
	}
	for _, name := range gc.GenerationNames() {
		names = append(names, name)
	}
	return append(names, counterCommitted, counterRate)
}()

// rank returns a track's place from the top. Its further lanes are beside it.
func rank(name string) uint64 {
	name, _, _ = strings.Cut(name, laneSeparator)
	if i := slices.Index(order, name); i >= 0 {
		return uint64(i)
	}
	return uint64(len(order))
}

// unitOf returns a counter's CounterDescriptor, nil for tracks that are none.
func unitOf(name string) message {
	var m message
	generations := gc.GenerationNames()
	switch {
	case name == counterRate:
		m.text(counterUnitName, "bytes/s")
	case name == counterHeap || name == counterCommitted || slices.Contains(generations[:], name):
		m.uint(counterUnit, unitBytes)
	default:
		return nil
	}
	return m
}

// A lane is a track whose slices do not overlap.
type lane struct {
	name string
	busy []span // the latest of its slices
}

type span struct{ from, to time.Duration }

// maxBusy bounds the slices of a lane that later ones are compared with. It can be small,
// because collections come in the order of their starts, and only background GCs have
// pauses later than the GCs that follow.
const maxBusy = 64

// laneSeparator lies between the name of a track and the number of a further lane.
const laneSeparator = ", overlapping "

// lane returns the name of the first lane of a track that is free at a time.
func (p *process) lane(name string, from, to time.Duration) string {
	lanes := p.lanes[name]
	free := slices.IndexFunc(lanes, func(l lane) bool {
		return !slices.ContainsFunc(l.busy, func(s span) bool { return from < s.to && s.from < to })
	})
	if free < 0 {
		free = len(lanes)
		of := lane{name: name}
		if free > 0 {
			of.name = fmt.Sprintf("%s%s%d", name, laneSeparator, free)
		}
		lanes = append(lanes, of)
		p.lanes[name] = lanes
	}
	l := &lanes[free]
	if len(l.busy) == maxBusy {
		first := 0
		for i, s := range l.busy {
			if s.to < l.busy[first].to {
				first = i
			}
		}
		l.busy = slices.Delete(l.busy, first, first+1)
	}
	l.busy = append(l.busy, span{from, to})
	return l.name
}
