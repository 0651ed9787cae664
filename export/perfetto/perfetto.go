// Package perfetto writes collections as a trace for ui.perfetto.dev: tracks of
// pauses, suspensions, collections, the phases of background GCs and marking, counters
// of the heap and the allocation rate, arrows from findings to the collections that
// they quote, and requests with arrows to the pauses in them.
//
// The format is a stream of TracePacket messages; see Perfetto's
// protos/perfetto/trace/trace_packet.proto and track_event/track_event.proto.
// Times are nanoseconds from the start of the trace.
package perfetto

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/units"
)

// A Writer writes collections. Its memory does not grow with their number.
type Writer struct {
	out       *bufio.Writer
	processes map[gc.Identity]*process
	tracks    uint64 // the last UUID
	flows     uint64 // the last arrow
	packet    message
	event     message
	err       error
}

// A process has the tracks that were described so far.
type process struct {
	uuid   uint64
	tracks map[string]uint64
	lanes  map[string][]lane

	starts map[uint32]time.Duration // of the first pause, by the collection's number
	last   map[uint16]time.Duration // start of the latest collection, by runtime
}

// maxStarts bounds the collections of a process that arrows can lead to.
const maxStarts = 1 << 18

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{out: bufio.NewWriterSize(w, 1<<16), processes: make(map[gc.Identity]*process)}
}

// Add writes a collection. Collections come in order of their start.
func (w *Writer) Add(c *gc.Collection) error {
	p := w.process(c.Process)
	w.pauses(p, c)
	w.collection(p, c)
	w.marks(p, c)
	w.counters(p, c)
	w.rate(p, c)
	return w.err
}

// Findings writes the findings of a process: an instant for each at the start
// of the time watched, with arrows to the collections that it quotes.
func (w *Writer) Findings(of *gc.Process, found []findings.Finding) error {
	p := w.process(of)
	for i := range found {
		f := &found[i]
		first := w.flows
		w.begin(instant, w.track(p, trackFindings), f.ID+": "+f.Title)
		for _, number := range f.Collections {
			if _, known := p.starts[number]; known {
				w.flows++
				w.event.fixed(eventFlow, w.flows)
			}
		}
		w.word("says", f.Description)
		for _, e := range f.Evidence {
			w.number(e.Name, e.Value)
		}
		w.end(of.Started)
		w.quoted(p, f, first)
	}
	return w.err
}

// quoted writes the ends of a finding's arrows, one flow each: instants at the start of
// the pauses of the collections.
func (w *Writer) quoted(p *process, f *findings.Finding, flow uint64) {
	for _, number := range f.Collections {
		if at, known := p.starts[number]; known {
			flow++
			w.begin(instant, w.track(p, trackQuoted), fmt.Sprintf("GC %d, quoted by %s", number, f.ID))
			w.event.fixed(eventFlow, flow)
			w.end(at)
		}
	}
}

// Phases writes the phases of a background GC.
func (w *Writer) Phases(of *gc.Process, b *background.Collection) error {
	p := w.process(of)
	for i := range background.NumPhases {
		if in, known := b.Phases[i].Get(); known {
			w.slice(p, trackPhases, strings.ReplaceAll(i.String(), "_", " "), in.Begin, in.Duration, func() { w.integer("number", int64(b.Number)) })
		}
	}
	return w.err
}

// Close writes the buffered packets. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	return w.out.Flush()
}

// pauses writes each pause, and its part of suspension. Pauses of background collections
// have a track of their own, because an ephemeral GC may run inside the first of them,
// and takes its part of the window's length from the middle.
func (w *Writer) pauses(p *process, c *gc.Collection) {
	for i := range c.Pauses {
		pause := &c.Pauses[i]
		track, name := trackPauses, export.Kind(c)
		if pause.Kind != gc.PauseBlocking {
			track, name = trackBackgroundPauses, name+", "+pause.Kind.String()+" pause"
		}
		if i == 0 && len(p.starts) < maxStarts {
			p.starts[c.Number] = pause.Start
		}
		w.slice(p, track, name, pause.Start, pause.Duration, func() { w.describe(c) })
		if suspend, known := pause.Suspend.Get(); known && suspend > 0 {
			w.slice(p, trackSuspension, fmt.Sprintf("suspend for GC %d", c.Number), pause.Start, suspend, nil)
		}
	}
}

// collection writes the time from GCStart to GCEnd. Background collections have a
// track of their own, since others run inside them.
func (w *Writer) collection(p *process, c *gc.Collection) {
	start, begun := c.Start.Get()
	length, ended := c.Duration().Get()
	if !begun || !ended {
		return
	}
	track := trackCollections
	if c.Kind == gc.Background {
		track = trackBackground
	}
	w.slice(p, track, fmt.Sprintf("GC %d, %s", c.Number, export.Kind(c)), start, length, func() { w.describe(c) })
}

// marks writes how long each heap marked from each kind of root. It lays the marks end to
// end from the end of the suspension, because the events have lengths and order only.
func (w *Writer) marks(p *process, c *gc.Collection) {
	if len(c.Marks) == 0 || len(c.Pauses) == 0 {
		return
	}
	first := &c.Pauses[0]
	heap, at := uint32(0), time.Duration(0)
	for i := range c.Marks {
		m := &c.Marks[i]
		if i == 0 || m.Heap != heap {
			heap, at = m.Heap, first.Start+first.Suspend.Or(0)
		}
		track := fmt.Sprintf("Marking, heap %d (lengths and order; starts are not recorded)", m.Heap)
		w.slice(p, track, "mark from "+m.Root.String(), at, m.Duration, func() {
			if bytes, known := m.Bytes.Get(); known {
				w.integer("promoted_bytes", bytes)
			}
		})
		at += m.Duration
	}
}

// counters writes the heap before and after the collection, and what surrounds it.
func (w *Writer) counters(p *process, c *gc.Collection) {
	start, begun := c.Start.Get()
	end, ended := c.End.Get()
	at := func(known bool, t time.Duration, name string, v gc.Opt[int64]) {
		if bytes, is := v.Get(); is && known {
			w.count(p, name, t, bytes)
		}
	}
	at(begun, start, counterHeap, c.HeapBefore)
	at(begun, start, counterCommitted, c.CommittedBefore)
	for i := range c.Generations {
		g := &c.Generations[i]
		at(begun, start, g.Name, gc.Some(g.Before))
		at(ended, end, g.Name, g.After)
	}
	at(ended, end, counterHeap, c.HeapAfter)
	at(ended, end, counterCommitted, c.CommittedAfter)
}

// rate writes how fast the program allocated between the start of the previous
// collection and that of this one.
func (w *Writer) rate(p *process, c *gc.Collection) {
	start, begun := c.Start.Get()
	if !begun {
		return
	}
	previous, known := p.last[c.ClrInstance]
	p.last[c.ClrInstance] = start
	if bytes, is := c.Allocated.Get(); is && known && start > previous {
		w.count(p, counterRate, previous, units.IntCapped(float64(bytes)/(start-previous).Seconds()))
	}
}

func (w *Writer) count(p *process, name string, at time.Duration, v int64) {
	w.begin(counter, w.track(p, name), "")
	w.event.uint(eventCounter, uint64(v))
	w.end(at)
}

// describe annotates a slice with the collection's figures.
func (w *Writer) describe(c *gc.Collection) {
	w.integer("number", int64(c.Number))
	if r, known := c.Reason.Get(); known {
		w.word("reason", r.String())
	}
	for name, v := range export.Figures(c) {
		w.integer(name, v)
	}
	if c.AffectedByLoss {
		w.word("affected_by_loss", "true")
	}
}

// slice writes a stretch of time on a track of some name, or on one more of it where
// that already has a slice at the time: importers drop slices that overlap.
func (w *Writer) slice(p *process, name, title string, start, length time.Duration, annotate func()) {
	start = max(0, start)
	track := w.track(p, p.lane(name, start, start+length))
	w.begin(sliceBegin, track, title)
	if annotate != nil {
		annotate()
	}
	w.end(start)
	w.begin(sliceEnd, track, "")
	w.end(start + length)
}

// begin starts an event, which end writes.
func (w *Writer) begin(typ, track uint64, name string) {
	w.event = w.event[:0]
	w.event.uint(eventType, typ)
	w.event.uint(eventTrack, track)
	if name != "" {
		w.event.text(eventCategory, "gc")
		w.event.text(eventName, export.Clean(name))
	}
}

func (w *Writer) end(at time.Duration) {
	w.packet = w.packet[:0]
	w.packet.uint(packetTimestamp, uint64(max(0, at)))
	w.packet.uint(packetSequence, sequence)
	w.packet.message(packetTrackEvent, w.event)
	w.flush()
}

func (w *Writer) integer(name string, v int64) {
	var a message
	a.text(annotationName, name)
	a.uint(annotationInt, uint64(v))
	w.event.message(eventAnnotation, a)
}

func (w *Writer) number(name string, v float64) {
	var a message
	a.text(annotationName, name)
	a.double(annotationDouble, v)
	w.event.message(eventAnnotation, a)
}

func (w *Writer) word(name, v string) {
	var a message
	a.text(annotationName, name)
	a.text(annotationString, export.Clean(v))
	w.event.message(eventAnnotation, a)
}

// process returns the process's tracks, and describes it if it is new.
func (w *Writer) process(of *gc.Process) *process {
	p := w.processes[of.Identity()]
	if p == nil {
		w.tracks++
		p = &process{
			uuid: w.tracks, tracks: make(map[string]uint64), lanes: make(map[string][]lane),
			starts: make(map[uint32]time.Duration), last: make(map[uint16]time.Duration),
		}
		w.processes[of.Identity()] = p
		var d, track message
		d.uint(processPID, processID(of.PID))
		d.text(processName, export.Name(of))
		track.uint(trackUUID, p.uuid)
		track.message(trackProcess, d)
		track.uint(trackOrder, explicitOrder)
		w.descriptor(track)
	}
	return p
}

// processID returns a process id as Perfetto has it, a positive number of 32 bits; that of an
// unknown process is the largest one.
func processID(pid uint64) uint64 { return pid & math.MaxInt32 }

// track returns the UUID of a process's track, and describes it if it is new.
func (w *Writer) track(p *process, name string) uint64 {
	uuid, known := p.tracks[name]
	if known {
		return uuid
	}
	w.tracks++
	uuid = w.tracks
	p.tracks[name] = uuid
	var track message
	track.uint(trackUUID, uuid)
	track.text(trackName, name)
	track.uint(trackParent, p.uuid)
	track.uint(trackRank, rank(name))
	if unit := unitOf(name); unit != nil {
		track.message(trackCounter, unit)
	}
	w.descriptor(track)
	return uuid
}

func (w *Writer) descriptor(track message) {
	// An event may be under way: the packet's buffer is free until it ends.
	w.packet = w.packet[:0]
	w.packet.uint(packetSequence, sequence)
	w.packet.message(packetDescriptor, track)
	w.flush()
}

// flush writes the packet as a field of the Trace message.
func (w *Writer) flush() {
	var head [16]byte
	if w.err == nil {
		_, w.err = w.out.Write(appendHead(head[:0], len(w.packet)))
	}
	if w.err == nil {
		_, w.err = w.out.Write(w.packet)
	}
}
