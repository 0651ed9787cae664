package ctf

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"path"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/tsdl"
	"github.com/gctrail/gctrail/trace"
)

// A stream yields the events of one stream, file by file and packet by packet. It is one
// event ahead, because merging needs the time of the next event.
type stream struct {
	m     *merger
	order int // among streams
	files []*file

	file   fs.File // nil if none is open
	path   string
	member *member
	window window
	index  index
	beside bool // the file is in the folder of the one before it
	lent   int  // bytes that the window is larger than others
	dec    decoder

	class   *streamClass
	packet  packet
	at      int64  // offset of the packet in the file
	inside  bool   // the packet may have more events
	within  bool   // a packet of the file was entered
	last    packet // the one before
	begun   bool   // last is set
	clk     uint64 // cycles of the latest event
	entered bool   // a packet was
	gap     bool   // packets are missing since
	since   int64  // nanoseconds since 1970

	// The next event.
	ahead bool // its header was read
	past  bool // there is none yet: others come first, until the time of one that nobody wants
	event *eventClass
	head  header
	empty bool  // header and contexts take no space
	time  int64 // nanoseconds since 1970
	named lastNamed

	latest   int64 // time of an event in the packets before this one
	doubtful int64 // time before the packet's first event whose thread has no proper name

	displaced bool // its time stamp is damaged
	context   lastContext
}

// A lastContext is the context that a stream most recently added to a batch.
type lastContext struct {
	batch    uint64 // its number
	index    uint32
	pid, tid uint64
}

// A header holds the values of an event's header and contexts.
type header struct {
	id               uint64
	stamp, low       uint64 // time stamp, and the bits that it has
	pid, tid         uint64 // UnknownID if the event lacks them
	nameOff, nameLen int    // of the thread's name, 0 if it is of no use
}

func (m *merger) newStream() *stream {
	return &stream{m: m, dec: decoder{out: &m.out}, named: lastNamed{pid: trace.UnknownID}}
}

// next reads on to the next event. It returns false at the end of the stream.
func (s *stream) next() bool {
	for {
		if s.inside {
			if s.readEvent() {
				return true
			}
			s.leave()
		} else if !s.nextPacket() {
			s.close()
			return false
		}
	}
}

// nextPacket goes to the next packet, of the next file if need be.
func (s *stream) nextPacket() bool {
	for {
		if s.file == nil && !s.nextFile() {
			if s.gap {
				s.m.lost(0, s.since, math.MaxInt64)
			}
			s.end()
			return false
		}
		switch err := s.open(); {
		case err == nil && s.repeated():
			if s.within || s.beside { // only snapshots, in folders of their own, have packets in common
				s.m.damage(s.path, s.window.off, "packet", binread.Malformed("a packet that is not behind the one before it"))
			}
			s.at = s.window.off
			s.pass()
		case err == nil:
			s.enter()
			return true
		case errors.Is(err, io.EOF):
			if s.index.more() {
				s.cut()
			}
			s.close()
		case errors.Is(err, io.ErrUnexpectedEOF):
			s.cut()
		default:
			s.missing()
			s.m.damage(s.path, s.window.off, "packet", err)
			if s.window.failed() != nil || !s.resync() {
				s.close()
			}
		}
	}
}

func (s *stream) nextFile() bool {
	for len(s.files) > 0 {
		f := s.files[0]
		s.files = s.files[1:]
		in, err := s.m.fsys.Open(f.path)
		if err != nil {
			s.m.damage(f.path, 0, "file", err)
			continue
		}
		s.beside = s.path != "" && path.Dir(s.path) == path.Dir(f.path)
		s.file, s.path, s.member, s.within = in, f.path, f.member, false
		if s.m.probing != nil {
			s.window = newWindow(in, s.m.probing)
		} else {
			s.window.open(in, s.m.windowSize, s.m.slots)
			s.index = s.m.openIndex(f.path)
		}
		return true
	}
	return false
}

func (s *stream) close() {
	if s.file != nil {
		s.window.close()
		s.file.Close()
		s.file = nil
		s.index.close()
	}
}

// cut notes that the file ends within a packet.
func (s *stream) cut() {
	s.missing()
	s.m.loss.Truncated, s.m.changed = true, true
	s.close()
}

// missing records that the rest of the packet cannot be read.
func (s *stream) missing() {
	if s.gap {
		return
	}
	s.gap, s.since = true, fromStart
	if s.entered {
		s.since = s.time
	}
}

// enter begins the packet whose header was read.
func (s *stream) enter() {
	s.at, s.inside, s.within, s.clk = s.window.off, true, true, s.packet.first
	s.doubtful = math.MaxInt64
	s.packet.bound(s.class.clock.freq)
	s.context.batch = 0 // the processor may be another
	s.account()
	s.entered, s.time = true, s.packet.begin
	s.limit()
	s.m.settle()
}

// repeated reports whether the stream already had the current packet, because snapshots
// of one session overlap. Packets without sequence numbers are distinguished by their
// times. Empty packets may share these.
func (s *stream) repeated() bool {
	p, last := &s.packet, &s.last
	switch {
	case !s.begun, p.first > last.first, p.lastCycles > last.lastCycles:
		return false
	case p.numbered && last.numbered:
		return p.sequence <= last.sequence
	}
	return !p.numbered && p.first < p.lastCycles
}

// leave ends the packet.
func (s *stream) leave() {
	s.inside = false
	s.finish()
	s.time = s.packet.end
	s.pass()
}

// finish makes the current packet the one before the next.
func (s *stream) finish() {
	if s.time > s.packet.begin {
		s.latest = s.time
	}
	s.last, s.begun = s.packet, true
}

// pass skips the rest of the packet.
func (s *stream) pass() {
	if s.packet.size < 0 {
		s.close()
	}
	if s.file == nil {
		return
	}
	s.window.discard(s.packet.size - s.passed())
	s.shrink()
	if s.window.off < s.at+s.packet.size {
		s.cut()
	}
}

// passed returns how much of the packet the window no longer has.
func (s *stream) passed() int64 { return s.window.off - s.at }

// limit lets the decoder read the packet's content up to the end of the window.
func (s *stream) limit() {
	d := &s.dec
	d.buf = s.window.buf
	d.end = 8 * len(d.buf)
	if rest := s.packet.bits - 8*uint64(s.passed()); rest < uint64(d.end) {
		d.end = int(rest)
	}
}

// whole reports whether the window has the packet's content to its end.
func (s *stream) whole() bool {
	return 8*uint64(s.passed())+uint64(s.dec.end) >= s.packet.bits
}

// maxWindow bounds a stream's window, and so the size of an event.
const maxWindow = 4 << 20

// more moves the window on to the bit at pos and fills it. It returns false if nothing
// follows. The decoder is at pos then.
func (s *stream) more(pos int) bool {
	if s.whole() || s.window.err != nil {
		return false
	}
	drop := pos >> 3 &^ (grain - 1)
	s.window.discard(int64(drop))
	had := len(s.window.buf)
	if had == len(s.window.mem) {
		if 2*had > maxWindow || !s.m.lend(had) {
			return false
		}
		s.lent += had
		s.window.resize(2 * had)
	}
	more := s.window.more()
	s.limit()
	s.dec.pos = pos - 8*drop
	return more
}

// shrink returns the memory that a large event borrowed.
func (s *stream) shrink() {
	if s.lent == 0 || len(s.window.buf) > s.m.windowSize {
		return
	}
	s.window.resize(s.m.windowSize)
	s.m.lend(-s.lent)
	s.lent = 0
}

// readEvent reads the header and contexts of the packet's next event. It
// returns false if there is none.
func (s *stream) readEvent() bool {
	d := &s.dec
	for {
		start := d.pos
		if start >= d.end && s.whole() {
			return false
		}
		err := s.readHeaderOfEvent()
		switch {
		case err == nil:
			s.empty = d.pos == start
			if !s.identify() {
				s.misread(binread.Malformed("process %d", s.head.pid))
				return false
			}
			s.stamp()
			return true
		case d.fail != failShort || !s.more(start):
			s.broken(err)
			return false
		}
	}
}

func (s *stream) readHeaderOfEvent() error {
	d, class := &s.dec, s.class
	d.fail = noFailure
	d.grow(class.slots)
	start := d.pos
	if q := class.quick; q != nil && q.read(d, &s.head) {
		if e := class.event(s.head.id); e != nil && e.bare {
			if s.event != e { // a write less for the garbage collector to see
				s.event = e
			}
			return nil
		}
		d.pos = start
	}
	return s.readPlanned()
}

// readPlanned reads header and contexts as their plans say.
func (s *stream) readPlanned() error {
	d, class := &s.dec, s.class
	d.seen = 0
	if !d.run(class.eventHeader) {
		return d.error()
	}
	var id uint64
	if d.has(role(tsdl.EventID)) {
		id = d.roles[tsdl.EventID]
	}
	e := class.event(id)
	if e == nil {
		return binread.Malformed("event %d is not defined", id)
	}
	if e.kind == nil {
		s.m.prepare(class, e)
	}
	if e.err != nil {
		return e.err
	}
	d.grow(class.slots)
	if !d.run(class.eventContext) || !d.run(e.context) {
		return d.error()
	}
	s.event, s.head = e, d.header(s.member)
	return nil
}

// header returns the values of the fields that were read.
func (d *decoder) header(m *member) header {
	h := header{pid: d.first(processRoles[:], m.processID()), tid: d.first(threadRoles[:], trace.UnknownID)}
	if d.has(role(tsdl.Timestamp)) {
		h.stamp, h.low = d.roles[tsdl.Timestamp], lowBits(d.stamp)
	}
	if d.has(roleProcname) {
		h.nameOff, h.nameLen = d.spans[1].off, d.spans[1].n
	}
	return h
}

// stamp finds the time of the event. A time stamp of less than 64 bits is the
// low part of a count that only grows (CTF 1.8.3, 8), unless that would lie far
// beyond the packet's end: writers that interrupt one another may come out of
// order. A time outside the packet's own is damaged: the event has that of the one
// before it then, and is late.
func (s *stream) stamp() {
	low := s.head.low
	t := s.clk&^low | s.head.stamp&low
	if t < s.clk && t+low/2 <= s.packet.until {
		t += low + 1
	}
	if s.displaced = t < s.packet.earliest || t > s.packet.latest; s.displaced {
		return
	}
	s.clk = t
	s.time = s.class.clock.ns(t)
}

// bound sets the bounds on the times of events: an event of the packet is not before its
// begin, nor after its end, by more than a millisecond.
func (p *packet) bound(freq uint64) {
	slack := freq / 1000
	p.earliest, p.latest, p.until = p.first-min(p.first, slack), math.MaxUint64, math.MaxUint64
	if p.lastCycles >= p.first && p.lastCycles > 0 {
		p.until = p.lastCycles
		p.latest = p.until + min(slack, math.MaxUint64-p.until)
	}
}

// payload reads the payload of the next event, and emits it if it is wanted. An event
// must take space, because an empty one could be repeated any number of times.
func (s *stream) payload() bool {
	d := &s.dec
	if q := s.event.quick; q != nil && q.read(d) {
		return true
	}
	had := len(d.out.data)
	d.grow(s.class.slots) // takeUsual, which needs none, may have read the header
	for {
		start := d.pos
		if d.run(s.event.payload) {
			if d.pos > start || !s.empty {
				return true
			}
			d.fail = failEmpty
		}
		d.out.data = d.out.data[:had]
		if d.fail != failShort || !s.more(start) {
			s.broken(d.error())
			return false
		}
		d.fail = noFailure
	}
}

// broken gives up the rest of a packet, of which an event cannot be read.
func (s *stream) broken(err error) {
	s.inside = false
	switch {
	case s.dec.fail == failShort && !s.whole() && s.window.err != nil:
		if err := s.window.failed(); err != nil {
			s.m.damage(s.path, s.window.off+int64(len(s.window.buf)), "file", err)
		}
		s.cut()
		s.finish()
		return
	case s.dec.fail == failShort && !s.whole():
		err = trace.ErrTooLarge
	}
	s.misread(err)
}

// misread gives up the rest of a packet, from the next event on.
func (s *stream) misread(err error) {
	s.m.damage(s.path, s.window.off+int64(s.dec.pos>>3), "event", err)
	s.m.lost(0, s.certain(), s.packet.end)
	s.leave()
}

// certain returns the time up to which the packet's events have been read correctly, now that
// one cannot be right. A stream that is out of step takes anything for events, up to the
// first that cannot be one: their times are meaningless, but so are their threads' names.
func (s *stream) certain() int64 {
	if s.head.nameLen == 0 || s.member.kernel {
		return s.packet.begin
	}
	return max(min(s.time, s.doubtful), s.packet.begin)
}

// account records the events that were lost before the current packet.
func (s *stream) account() {
	p, from := &s.packet, s.packet.begin
	if s.gap {
		s.m.lost(0, s.since, p.begin)
		s.gap = false
	}
	if s.begun {
		from = s.last.end
	}
	if p.numbered && p.sequence > 0 && !s.begun {
		s.m.missingPart(fromStart, p.begin)
	}
	if p.numbered && s.begun && s.last.numbered && p.sequence > s.last.sequence+1 {
		s.m.missingPart(s.last.end, p.begin)
	}
	switch n := s.newlyDiscarded(); {
	case p.width == 0:
		s.m.uncounted = true
	case n > 0:
		s.m.lost(n, from, p.end)
	}
}

// newlyDiscarded returns the number of events that the tracer discarded since the previous
// packet. The first packet of a stream counts events that were lost within it, unless earlier
// packets are missing from the trace.
func (s *stream) newlyDiscarded() uint64 {
	p := &s.packet
	switch {
	case p.width == 0 || !s.begun && p.numbered && p.sequence > 0:
		return 0
	case !s.begun || s.last.width == 0:
		return p.discarded
	}
	n := (p.discarded - s.last.discarded) & lowBits(p.width)
	if n > lowBits(p.width)/2 {
		return 0 // it went back: another stream
	}
	return n
}
