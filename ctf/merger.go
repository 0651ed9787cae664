package ctf

import (
	"cmp"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/timeline"
	"github.com/gctrail/gctrail/trace"
)

// A merger reads the streams of one or several traces and merges their events by time. It
// runs in a goroutine of its own, and shares only batches with the Reader, so that
// neither needs a lock.
type merger struct {
	fsys       fs.FS
	info       trace.Info // constant while events are read
	processes  map[uint64]trace.Process
	size       int64
	members    map[memberKey]*member
	cpus       map[uint32]bool
	undeclared bool // some metadata could not be read
	probing    []byte
	known      map[string]*kind // that Options.Resolve knows, by tracepoint

	streams    []*stream
	heap       timeline.Heap[*stream]
	windowSize int
	slots      chan struct{} // for files that are read ahead, nil if none are
	lent       int           // bytes of windows that have grown
	parts      parts

	queue   *queue
	batch   *batch
	batches uint64 // begun
	out     output // the batch's data
	stopped bool   // nobody wants more

	loss      trace.Loss
	changed   bool  // loss has, since the last batch
	start     int64 // nanoseconds since 1970 of Info.Start
	started   bool
	early     []loss // found before the start was
	emitted   int64
	uncounted bool // a stream's loss is unknown, or a stream may be missing
	gone      bool // a file is missing, or has lost its packets
	idle      bool // an index without packets shows that a processor had none
	partial   bool // something is missing without a count
}

// A loss waits here until the start is known.
type loss struct {
	n        uint64
	from, to int64
}

const (
	// windowsSize is the memory for the windows of all streams, unless minWindow needs
	// more. Reading ahead takes as much again.
	windowsSize   = 16 << 20
	minWindow     = 16 << 10
	defaultWindow = 256 << 10
	// maxLent bounds the memory that windows borrow for large events.
	maxLent = 16 << 20
)

// maxEarly bounds the losses that wait for their time. Further ones are joined.
const maxEarly = 1 << 12

// newMerger finds the streams in a folder and its subfolders.
func newMerger(fsys fs.FS) (*merger, error) {
	m := &merger{
		fsys: fsys, known: map[string]*kind{}, members: map[memberKey]*member{}, cpus: map[uint32]bool{},
		processes: map[uint64]trace.Process{}, parts: parts{waiting: map[partKey]partial{}},
		probing: make([]byte, headerRead), windowSize: headerRead,
	}
	m.info.Clock = &trace.Clock{Frequency: second}
	if err := m.scan(); err != nil {
		return nil, err
	}
	m.probing = nil
	m.windowSize = min(max(windowsSize/max(len(m.streams), 1), minWindow), defaultWindow) &^ (grain - 1)
	m.info.CPUs = len(m.cpus)
	if n := runtime.GOMAXPROCS(0); n > 1 {
		m.slots = make(chan struct{}, 2*n)
	}
	return m, nil
}

// describe adds the metadata of a trace to the description of all.
func (m *merger) describe(of *member) {
	format := [...]string{1: "CTF 1.8", 2: "CTF 2"}[of.meta.Major]
	switch m.info.Format {
	case "":
		m.info.Format, m.info.PointerSize, m.info.PID = format, of.pointerSize, of.processID()
	case format:
	default:
		m.info.Format = "CTF 1.8 and 2"
	}
	if m.info.PID != of.processID() {
		m.info.PID = trace.UnknownID
	}
	if of.process != "" {
		m.processes[of.pid] = trace.Process{Name: of.process}
	}
}

// run reads all streams into batches, until their end or until the reader stops.
func (m *merger) run(q *queue) {
	defer close(q.full)
	defer m.close()
	m.queue = q
	m.refill()
	for _, s := range m.streams {
		if s.next() {
			m.heap.Push(timeline.Run[*stream]{Time: s.time, Order: uint64(s.order), Of: s})
		}
	}
	m.begin()
	for len(m.heap) > 0 && !m.stopped {
		if s := m.heap[0].Of; m.drain(s, m.heap.Second()) {
			m.heap.Next(s.time)
		} else {
			m.heap.Drop()
			m.settle()
		}
	}
	m.end()
	m.flush()
}

// drain takes the events of a stream up to the time of the next other stream, and one
// more. It returns false at the end of the stream.
func (m *merger) drain(s *stream, others int64) bool {
	for {
		if s.past {
			s.past, m.emitted = false, max(m.emitted, s.time)
		} else if !m.takeUsual(s, others) {
			m.take(s)
		}
		if m.full() {
			m.flush()
		}
		if s.past {
			return true
		}
		if !s.ahead && !s.next() {
			return false
		}
		if s.time >= others || m.stopped {
			return true
		}
	}
}

// full reports whether the batch has enough.
func (m *merger) full() bool {
	b := m.batch
	return len(b.items) >= batchItems || len(m.out.data) >= batchData || b.read >= batchRead
}

// flush passes on the batch and begins another one.
func (m *merger) flush() {
	b := m.batch
	b.data = m.out.data
	m.checkEndings()
	if m.changed {
		loss := m.loss.Clone()
		b.loss, m.changed = &loss, false
	}
	for i := range b.skipped {
		n := &b.skipped[i]
		n.count, n.kind.skipped = n.kind.skipped, 0
	}
	if m.started {
		b.last = m.since(m.emitted)
	}
	m.stopped = !m.queue.put(b)
	m.refill()
}

// refill begins another batch.
func (m *merger) refill() {
	m.batch = m.queue.empty()
	m.batches++
	m.batch.number = m.batches
	m.out.data = m.batch.data
}

// define asks the reader about a new kind of event.
func (m *merger) define(k *kind) {
	m.batch.ask = k
	m.flush()
	m.queue.wait()
	if k.desc == nil {
		k.desc = new(trace.Descriptor) // nobody listens any more
	}
}

// name notes the name of a process.
func (m *merger) name(pid uint64, p trace.Process) {
	m.processes[pid] = p
	m.batch.processes = append(m.batch.processes, namedProcess{pid, p})
}

func (m *merger) close() {
	for _, s := range m.streams {
		s.close()
	}
}

// begin fixes the start of the trace.
func (m *merger) begin() {
	switch {
	case len(m.heap) > 0:
		m.start = m.heap[0].Time
	case len(m.streams) > 0:
		first := slices.MinFunc(m.streams, func(a, b *stream) int { return cmp.Compare(a.last.begin, b.last.begin) })
		m.start = first.last.begin
	}
	m.started, m.emitted = true, m.start
	start := m.start
	m.batch.start = &start
	for _, l := range m.early {
		m.lost(l.n, l.from, l.to)
	}
	m.early = nil
	if m.gone {
		m.missingPart(m.start, math.MaxInt64)
	}
	m.settle()
}

// take puts the next event of a stream in the batch, if it is wanted and can be
// read.
func (m *merger) take(s *stream) {
	e, b := s.event, m.batch
	off := len(m.out.data)
	b.read++
	s.ahead = false
	if !s.payload() {
		return
	}
	if s.displaced {
		m.damage(s.path, s.window.off+int64(s.dec.pos>>3), "event", binread.Malformed("a time outside that of its packet"))
		m.missingPart(s.certain(), max(s.time, s.packet.end))
	}
	late := s.time < m.emitted || s.displaced
	if late {
		m.loss.Late++
		m.missingPart(min(s.time, m.emitted), m.emitted)
	}
	m.emitted = max(m.emitted, s.time)
	if e.part != wholeEvent && !m.join(s, off) {
		m.out.data = m.out.data[:off]
		return
	}
	if !e.want {
		b.skip(e.kind)
		return
	}
	ctx := b.context(s)
	if late {
		ctx |= lateItem
	}
	*b.add() = item{Ticks: int64(m.since(s.time)), Desc: e.index, Context: ctx, Off: uint32(off), Len: uint32(len(m.out.data) - off)}
}

// end settles the account when nothing more will come.
func (m *merger) end() {
	for _, first := range m.parts.waiting {
		m.missingPart(first.time, first.time)
	}
	switch {
	case m.loss.Truncated, m.loss.Damaged > 0, m.partial:
		m.loss.Exactness = trace.LowerBound
	case m.uncounted:
		m.loss.Exactness = trace.Unknown
	default:
		m.loss.Exactness = trace.Exact
	}
	m.loss.Settled = math.MaxInt64
	m.loss.Clip(m.since(m.emitted))
	m.changed = true
}

// since returns a time as the distance from the start.
func (m *merger) since(ns int64) time.Duration {
	d := ns - m.start
	switch {
	case ns > m.start && d < 0:
		return trace.MaxTime
	case ns < m.start && d > 0:
		return -trace.MaxTime
	}
	return trace.Bound(time.Duration(d))
}

// fromStart is the time of a loss before the first packet of a stream.
const fromStart = math.MinInt64

// lost notes lost events between two times.
func (m *merger) lost(n uint64, from, to int64) {
	if !m.started {
		if len(m.early) == maxEarly {
			last := &m.early[maxEarly-1]
			*last = loss{last.n + n, min(last.from, from), max(last.to, to)}
			return
		}
		m.early = append(m.early, loss{n, from, to})
		return
	}
	m.loss.Add(n, m.since(max(from, m.start)), m.since(max(to, m.start)))
	m.changed = true
}

// missingPart records an uncounted loss between two times.
func (m *merger) missingPart(from, to int64) {
	m.partial = true
	m.lost(0, from, to)
}

func (m *merger) damage(file string, off int64, section string, err error) {
	m.changed = true
	m.loss.AddFormatError(&trace.FormatError{Format: "ctf", File: file, Off: off, Section: section, Err: err})
}

// settle computes the time up to which all losses are known: the end of the packet that
// is furthest behind.
func (m *merger) settle() {
	if !m.started {
		return
	}
	settled := time.Duration(math.MaxInt64)
	for _, run := range m.heap {
		settled = min(settled, m.since(run.Of.packet.end))
	}
	m.loss.Settled = max(m.loss.Settled, settled)
	m.changed = true
}

// lend takes n bytes from the reserve for a window to grow by; a negative n returns them.
// It returns false if the reserve is too small.
func (m *merger) lend(n int) bool {
	if m.lent+n > maxLent {
		return false
	}
	m.lent += n
	return true
}
