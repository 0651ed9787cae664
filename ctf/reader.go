package ctf

import (
	"cmp"
	"io/fs"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/gctrail/gctrail/trace"
)

// Options say how to read a trace and what to hand out. The zero value hands out
// everything, each event as its tracepoint describes it.
type Options struct {
	// Want is asked once for each kind of event met whether its events are
	// wanted. What is not wanted still counts in Loss and Counts. Nil wants all.
	Want func(*trace.Descriptor) bool
	// Resolve finds what a tracepoint of that name stands for, such as
	// "DotNETRuntime:GCStart_V2". Where it returns true its payload has the
	// layout that the descriptor implies; else the reader adds a description of
	// the tracepoint's fields, and the tracepoint's own names if the descriptor
	// has none. It may be nil.
	Resolve func(tracepoint string) (trace.Descriptor, bool)
}

// A Reader reads a trace, or several that it merges by time. It is a
// trace.Source, to be used by one goroutine.
//
// Its memory does not grow with the trace, nor with its packets: of each stream
// it has a window of bounded size.
type Reader struct {
	fsys    fs.FS
	opts    Options
	info    trace.Info
	loss    trace.Loss
	used    bool
	size    int64
	members map[memberKey]*member
	cpus    map[uint32]bool
	probing []byte

	kinds []*kind
	known map[string]*kind // that Resolve knows, by tracepoint

	streams    []*stream
	heap       streamHeap
	windowSize int
	lent       int // bytes of windows that have grown
	parts      map[partKey][]byte

	start     int64 // nanoseconds since 1970 of Info.Start
	started   bool
	early     []loss // found before the start was
	emitted   int64
	uncounted bool // some stream does not count what it discards
	partial   bool // packets were overwritten, or parts of events are missing
	event     trace.Event
	joined    []byte
}

// A loss is one that waits for the start to be known.
type loss struct {
	n        uint64
	from, to int64
}

const (
	// windowsSize is what the windows of all streams take, if they may.
	windowsSize   = 16 << 20
	minWindow     = 16 << 10
	defaultWindow = 256 << 10
	// maxLent bounds what windows grow by for events that do not fit.
	maxLent = 16 << 20
)

// Open opens the traces in a folder and in those below it. The caller closes the
// reader; until then, files of fsys are open. The error wraps ErrNotCTF where
// there is no trace, and is a *FormatError where none can be read.
func Open(fsys fs.FS, opts Options) (*Reader, error) {
	r := &Reader{
		fsys: fsys, opts: opts, known: map[string]*kind{}, members: map[memberKey]*member{},
		cpus: map[uint32]bool{}, probing: make([]byte, headerRead), windowSize: headerRead,
		parts: map[partKey][]byte{},
	}
	r.info.Clock = &trace.Clock{Frequency: second}
	r.info.Processes = map[uint64]trace.Process{}
	if err := r.scan(); err != nil {
		return nil, err
	}
	r.probing = nil
	r.windowSize = min(max(windowsSize/max(len(r.streams), 1), minWindow), defaultWindow) &^ (grain - 1)
	r.info.CPUs = len(r.cpus)
	r.event = trace.Event{Clock: r.info.Clock}
	return r, nil
}

// Info describes the trace; see trace.Source. The time of its start is that of
// its first event.
func (r *Reader) Info() *trace.Info { return &r.info }

// Loss tells what is missing; see trace.Source.
func (r *Reader) Loss() *trace.Loss { return &r.loss }

// Counts yields the kinds of events in the order in which they were met; see
// trace.Source.
func (r *Reader) Counts() iter.Seq2[*trace.Descriptor, uint64] {
	return func(yield func(*trace.Descriptor, uint64) bool) {
		for _, k := range r.kinds {
			if !yield(k.desc, k.count) {
				return
			}
		}
	}
}

// Close lets go of the files that are open.
func (r *Reader) Close() error {
	for _, s := range r.streams {
		s.close()
	}
	return nil
}

// Size is the size of the trace's files in bytes, as far as the file system
// tells.
func (r *Reader) Size() int64 { return r.size }

// describe takes in what the metadata of a trace says of all.
func (r *Reader) describe(m *member) {
	format := [...]string{1: "CTF 1.8", 2: "CTF 2"}[m.meta.Major]
	switch r.info.Format {
	case "":
		r.info.Format, r.info.PointerSize, r.info.PID = format, m.pointerSize, m.pid
	case format:
	default:
		r.info.Format = "CTF 1.8 and 2"
	}
	if r.info.PID != m.pid {
		r.info.PID = 0
	}
	if m.process != "" {
		r.info.Processes[m.pid] = trace.Process{Name: m.process}
	}
}

// Events yields the events in order of time; see trace.Source. Events of equal
// time come in the order of their streams.
func (r *Reader) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		if r.used {
			yield(nil, ErrUsed)
			return
		}
		r.used = true
		defer r.Close()
		for _, s := range r.streams {
			if s.next() {
				r.heap.push(s)
			}
		}
		r.begin()
		for len(r.heap) > 0 {
			s := r.heap[0]
			if r.take(s) && !yield(&r.event, nil) {
				return
			}
			if s.next() {
				r.heap.down()
			} else {
				r.heap.pop()
				r.settle()
			}
		}
		r.end()
	}
}

// begin fixes the start of the trace.
func (r *Reader) begin() {
	switch {
	case len(r.heap) > 0:
		r.start = r.heap[0].time
	case len(r.streams) > 0:
		first := slices.MinFunc(r.streams, func(a, b *stream) int { return cmp.Compare(a.last.begin, b.last.begin) })
		r.start = first.last.begin
	}
	r.started, r.emitted = true, r.start
	r.info.Start = time.Unix(0, r.start).UTC()
	for _, l := range r.early {
		r.lost(l.n, l.from, l.to)
	}
	r.early = nil
	r.settle()
}

// take makes r.event the next event of a stream. It returns false where that is
// not wanted, or cannot be read.
func (r *Reader) take(s *stream) bool {
	e, at := s.event, s.time
	if !s.payload(e.kind.want) {
		return false
	}
	late := at < r.emitted
	if late {
		r.loss.Late++
	}
	r.emitted = max(r.emitted, at)
	payload := s.dec.out
	if e.part != wholeEvent {
		var whole bool
		if payload, whole = r.join(s, payload); !whole {
			return false
		}
	}
	e.kind.count++
	if !e.kind.want {
		return false
	}
	ev := &r.event
	ev.Desc, ev.Ticks, ev.Payload = e.kind.desc, at-r.start, payload
	ev.PID, ev.TID, ev.CPU, ev.PointerSize = s.pid, s.tid, s.packet.cpu, s.member.pointerSize
	ev.Late = late
	if s.noPID && e.kind.known {
		ev.PID, r.info.ProcessesUnknown = 0, true
	}
	return true
}

// A partKey tells the threads apart whose events are split.
type partKey struct {
	kind     *kind
	pid, tid uint64
}

// maxParts bounds the events of which a part has come.
const maxParts = 1 << 10

// join puts together the parts of an event, which a thread writes one after the
// other. It returns false where a part is missing.
func (r *Reader) join(s *stream, payload []byte) ([]byte, bool) {
	key := partKey{s.event.kind, s.pid, s.tid}
	first, ok := r.parts[key]
	if s.event.part == firstPart {
		if ok || len(r.parts) < maxParts {
			r.parts[key] = append(first[:0], payload...)
		}
		return nil, false
	}
	if !ok {
		r.partial = true
		r.lost(0, s.time, s.time)
		return nil, false
	}
	delete(r.parts, key)
	r.joined = append(append(r.joined[:0], first...), payload...)
	return r.joined, true
}

// end settles the account when nothing more will come.
func (r *Reader) end() {
	switch {
	case r.loss.Cut, r.loss.Damaged > 0, r.partial:
		r.loss.Exactness = trace.LowerBound
	case r.uncounted:
		r.loss.Exactness = trace.Unknown
	default:
		r.loss.Exactness = trace.Exact
	}
	r.loss.Settled = math.MaxInt64
	r.info.Last = r.since(r.emitted)
	r.loss.Clip(r.info.Last)
}

// since is a time as the distance from the start.
func (r *Reader) since(ns int64) time.Duration {
	d := ns - r.start
	switch {
	case ns > r.start && d < 0:
		return math.MaxInt64
	case ns < r.start && d > 0:
		return math.MinInt64
	}
	return time.Duration(d)
}

// fromStart is the time of a loss before the first packet of a stream.
const fromStart = math.MinInt64

// lost notes lost events between two times.
func (r *Reader) lost(n uint64, from, to int64) {
	if !r.started {
		r.early = append(r.early, loss{n, from, to})
		return
	}
	if from == fromStart {
		from = r.start
	}
	r.loss.Add(n, r.since(from), r.since(to))
}

// overwritten notes that packets are missing between two times.
func (r *Reader) overwritten(from, to int64) {
	r.partial = true
	r.lost(0, from, to)
}

func (r *Reader) damage(file string, off int64, section string, err error) {
	r.loss.AddDamage(off, &FormatError{File: file, Off: off, Section: section, Err: err})
}

// settle finds the time up to which the streams have told what they lost: the
// end of the packet that is furthest behind.
func (r *Reader) settle() {
	if !r.started {
		return
	}
	settled := time.Duration(math.MaxInt64)
	for _, s := range r.heap {
		settled = min(settled, r.since(s.packet.end))
	}
	r.loss.Settled = max(r.loss.Settled, settled)
}

// lend gives n bytes for a window to grow by, or takes them back. It returns
// false where there are no more.
func (r *Reader) lend(n int) bool {
	if r.lent+n > maxLent {
		return false
	}
	r.lent += n
	return true
}
