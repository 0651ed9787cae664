package gogc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/internal/binread"
)

// errFormat reports an execution trace with an unknown layout.
var errFormat = errors.New("gogc: execution trace of an unknown format")

var errWithinEvent = fmt.Errorf("%w: a batch ends within an event", errFormat)

// A stop is a time for which Go's collector stopped the program, by the wall clock.
type stop struct {
	final      bool // the end of marking, not the beginning of a cycle
	begin, end time.Time
}

// Kinds of stops (runtime/proc.go, stwReasonStrings).
const (
	collectorStops = "GC "
	markTerm       = "GC mark termination"
)

// Headers of execution traces (runtime/trace.go, readTrace0). Go 1.26 ends each
// generation with an event, as Go 1.25 does for a FlightRecorder.
var traceHeaders = []string{"go 1.25 trace\x00\x00\x00", "go 1.26 trace\x00\x00\x00"}

// The types of events that are read (internal/trace/tracev2, events.go).
const (
	evEventBatch        = 1
	evStacks            = 2
	evStrings           = 4
	evString            = 5
	evCPUSamples        = 6
	evFrequency         = 8
	evSTWBegin          = 26
	evSTWEnd            = 27
	evExperimentalBatch = 49
	evSync              = 50
	evClockSnapshot     = 51
	evEndOfGeneration   = 52
)

// eventArgs is how many numbers follow the type of an event that has a time, which is the
// first of them.
var eventArgs = [...]uint8{
	9: 3, 10: 3, 11: 1, 12: 4, 13: 3, // Procs…, Proc…
	14: 4, 15: 2, 16: 3, 17: 1, 18: 1, 19: 3, 20: 3, 21: 4, 22: 3, 23: 1, 24: 1, 25: 4, // Go…
	evSTWBegin: 3, evSTWEnd: 1,
	28: 2, 29: 3, 30: 2, 31: 2, 32: 2, 33: 3, 34: 2, 35: 2, 36: 1, // GC…
	37: 2, 38: 2, // Heap…
	39: 2, 40: 5, 41: 3, 42: 4, 43: 4, 44: 5, // GoLabel, User…
	45: 3, 46: 3, 47: 4, 48: 5, // GoSwitch…, GoCreateBlocked, GoStatusStack
}

// A stopReader finds the collector's pauses in snapshots of one execution trace, each
// of which may overlap the previous one. It skips everything else.
type stopReader struct {
	done  uint64          // the latest generation that was read
	open  map[uint64]stop // whose end is in a later generation, by thread
	stops []stop          // that were found by read
}

// read returns the stops that end in a snapshot, and in no earlier one. They are valid
// until the next call.
func (r *stopReader) read(snapshot []byte) ([]stop, error) {
	r.stops = r.stops[:0]
	c := binread.At(snapshot, 0)
	if header := string(c.Bytes(16)); !slices.Contains(traceHeaders, header) {
		return nil, fmt.Errorf("%w: %q", errFormat, header)
	}
	var g generation
	for c.Len() > 0 {
		kind := c.U8()
		switch kind {
		case evEndOfGeneration:
			continue
		case evExperimentalBatch:
			c.U8()
		case evEventBatch:
		default:
			return nil, fmt.Errorf("%w: event %d among batches", errFormat, kind)
		}
		number, thread, at := c.Uvarint64(), c.Uvarint64(), c.Uvarint64()
		data := c.Bytes(int(min(c.Uvarint64(), math.MaxInt32)))
		if !c.OK() {
			return nil, fmt.Errorf("%w: it ends within a batch", errFormat)
		}
		if kind != evEventBatch || number <= r.done {
			continue
		}
		if number != g.number {
			r.take(&g)
			g = generation{number: number}
		}
		if err := g.batch(thread, at, data); err != nil {
			return nil, err
		}
	}
	r.take(&g)
	return r.stops, nil
}

// take adds the stops of a complete generation.
func (r *stopReader) take(g *generation) {
	if g.number == 0 {
		return
	}
	r.done = g.number
	if r.open == nil {
		r.open = make(map[uint64]stop)
	}
	// Match a begin with the next end of the same thread, because another stop may begin
	// before the thread has recorded the end.
	for _, e := range g.edges {
		kind := g.kinds[e.kind]
		s, begun := r.open[e.thread]
		delete(r.open, e.thread)
		switch at := g.wall(e.ticks); {
		case g.frequency <= 0:
		case e.begins && kind != "" && len(r.open) < maxStops:
			r.open[e.thread] = stop{final: kind == markTerm, begin: at}
		case !e.begins && begun:
			s.end = at
			r.stops = append(r.stops, s)
		}
	}
}

// A generation is a stretch of a trace, with strings and a clock of its own.
type generation struct {
	number    uint64
	edges     []edge
	kinds     map[uint64]string // of the collector's stops, by the string's id
	frequency float64           // ticks per second
	ticks     uint64            // of time
	time      time.Time
}

// An edge is the begin or the end of a stop.
type edge struct {
	thread uint64
	ticks  uint64
	kind   uint64 // the id of a string
	begins bool
}

// wall returns the time of day at so many ticks.
func (g *generation) wall(ticks uint64) time.Time {
	seconds := float64(int64(ticks-g.ticks)) / g.frequency
	return g.time.Add(time.Duration(math.Round(seconds * float64(time.Second))))
}

// batch reads a batch of a thread's events, which begins at so many ticks.
func (g *generation) batch(thread, at uint64, data []byte) error {
	c := binread.At(data, 0)
	if len(data) == 0 {
		return nil
	}
	switch data[0] {
	case evStacks, evCPUSamples:
		return nil
	case evStrings:
		g.strings(c)
		return nil
	case evSync:
		g.sync(at, c)
		return nil
	}
	return g.events(thread, at, data)
}

// events reads events and skips nearly all of them.
func (g *generation) events(thread, at uint64, data []byte) error {
	for p := 0; p < len(data); {
		kind := data[p]
		if int(kind) >= len(eventArgs) || eventArgs[kind] == 0 {
			return fmt.Errorf("%w: event %d", errFormat, kind)
		}
		since, n := binary.Uvarint(data[p+1:])
		if n <= 0 {
			return errWithinEvent
		}
		at += since
		p += 1 + n
		if kind == evSTWBegin || kind == evSTWEnd {
			id, _ := binary.Uvarint(data[p:])
			g.edges = append(g.edges, edge{thread: thread, ticks: at, kind: id, begins: kind == evSTWBegin})
		}
		for left := eventArgs[kind] - 1; left > 0; p++ {
			if p == len(data) {
				return errWithinEvent
			}
			left -= ^data[p] >> 7 // the last byte of a number is less than 128
		}
	}
	return nil
}

// strings reads the dictionary of strings for the names of stops.
func (g *generation) strings(c binread.Cursor) {
	if g.kinds == nil {
		g.kinds = make(map[uint64]string)
	}
	c.U8()
	for c.Len() > 0 && c.U8() == evString {
		id, text := c.Uvarint64(), c.Bytes(int(min(c.Uvarint64(), math.MaxInt32)))
		if bytes.HasPrefix(text, []byte(collectorStops)) {
			g.kinds[id] = strings.Clone(string(text))
		}
	}
}

// sync reads the relation of the trace's clock to the time of day.
func (g *generation) sync(at uint64, c binread.Cursor) {
	c.U8()
	for c.Len() > 0 {
		switch c.U8() {
		case evFrequency:
			g.frequency = float64(c.Uvarint64())
		case evClockSnapshot:
			g.ticks = at + c.Uvarint64()
			c.Uvarint64() // the clock that only goes forward
			g.time = time.Unix(int64(c.Uvarint64()), int64(c.Uvarint64()))
		}
	}
}
