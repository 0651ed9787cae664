package ctf

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/tsdl"
	"github.com/gctrail/gctrail/trace"
)

// A packet holds the values of a packet header and context.
type packet struct {
	begin, end int64  // nanoseconds since 1970
	first      uint64 // cycles
	lastCycles uint64 // 0 if unknown
	content    int64  // in bytes; the last may be used in part
	bits       uint64 // of content
	size       int64  // in bytes
	headerBits int

	// Times of events, in cycles.
	earliest, latest uint64 // outside of these they are damaged
	until            uint64 // lastCycles, or the latest there is if that is unknown

	discarded uint64 // counted since the stream began
	width     int    // bits of that counter, 0 if there is none
	sequence  uint64
	numbered  bool
	cpu       uint32
}

const (
	packetMagic = 0xc1fc1fc1
	// headerRead is how much of a packet is read to find its size.
	headerRead = grain
	// maxHeader bounds the header and context of a packet in bytes.
	maxHeader = 64 << 10
)

// open reads the header and context of the packet that the window begins with.
// The error is io.EOF if there is none.
func (s *stream) open() error {
	w := &s.window
	for n := headerRead; ; n = min(4*n, maxHeader) {
		whole := w.fill(n)
		if len(w.buf) == 0 {
			if err := w.failed(); err != nil {
				return err
			}
			return io.EOF
		}
		err := s.readHeader()
		switch {
		case err == nil:
			s.compare()
			return s.checkSizes()
		case s.dec.fail != failShort || n == maxHeader:
			return err
		case !whole:
			return io.ErrUnexpectedEOF
		}
	}
}

// readHeader reads the header and context as far as the window has them.
func (s *stream) readHeader() error {
	d, m := &s.dec, s.member
	d.buf, d.pos, d.end = s.window.buf, 0, 8*len(s.window.buf)
	d.seen, d.fail = 0, noFailure
	d.grow(m.slots)
	if !d.run(m.header) {
		return d.error()
	}
	if d.has(role(tsdl.PacketMagic)) && d.roles[tsdl.PacketMagic] != packetMagic {
		return binread.Malformed("magic number %#x", d.roles[tsdl.PacketMagic])
	}
	if uuid := d.spans[0]; d.has(role(tsdl.TraceUUID)) && m.meta.UUID != [16]byte{} &&
		string(d.buf[uuid.off:uuid.off+uuid.n]) != string(m.meta.UUID[:]) {
		return binread.Malformed("a packet of another trace")
	}
	var id uint64
	if d.has(role(tsdl.StreamID)) {
		id = d.roles[tsdl.StreamID]
	}
	class := m.streams[id]
	if class == nil {
		return binread.Malformed("stream %d is not defined", id)
	}
	s.class = class
	d.grow(class.slots)
	if !d.run(class.context) {
		return d.error()
	}
	s.packet = s.describePacket()
	return nil
}

// describePacket makes a packet of the values read.
func (s *stream) describePacket() packet {
	d := &s.dec
	p := packet{headerBits: d.pos, bits: 0, size: -1, cpu: trace.UnknownCPU}
	if d.has(role(tsdl.Timestamp)) {
		p.first = d.roles[tsdl.Timestamp]
	}
	p.begin = s.class.clock.ns(p.first)
	p.end = p.begin
	if d.has(role(tsdl.PacketEnd)) {
		p.lastCycles = d.roles[tsdl.PacketEnd]
		p.end = max(p.begin, s.class.clock.ns(p.lastCycles))
	}
	if d.has(role(tsdl.PacketSize)) {
		p.size = int64(d.roles[tsdl.PacketSize] / 8)
	}
	p.bits = 8 * uint64(p.size)
	if p.size < 0 {
		p.bits = 1<<63 - 8 // the rest of the file
	}
	if d.has(role(tsdl.ContentSize)) {
		p.bits = d.roles[tsdl.ContentSize]
	}
	p.content = int64((p.bits + 7) / 8)
	if d.has(role(tsdl.Discarded)) {
		p.discarded, p.width = d.roles[tsdl.Discarded], d.width
	}
	if d.has(role(tsdl.PacketSequence)) {
		p.sequence, p.numbered = d.roles[tsdl.PacketSequence], true
	}
	if d.has(roleCPU) {
		p.cpu = uint32(d.roles[roleCPU])
	}
	return p
}

func (s *stream) checkSizes() error {
	p := &s.packet
	switch {
	case p.bits < uint64(p.headerBits):
		return binread.Malformed("%d bits of content, %d of them in the header", p.bits, p.headerBits)
	case p.size >= 0 && p.content > p.size:
		return binread.Malformed("%d bytes of content in a packet of %d", p.content, p.size)
	case p.size == 0:
		return binread.Malformed("packet of 0 bytes")
	case p.lastCycles > 0 && p.lastCycles < p.first:
		return binread.Malformed("a packet that ends before it begins")
	case s.begun && p.follows(&s.last) && p.first < s.last.first:
		return binread.Malformed("a packet that begins before the one before it")
	}
	return nil
}

// follows reports whether p is the packet after o of one stream.
func (p *packet) follows(o *packet) bool {
	return p.numbered && o.numbered && p.sequence == o.sequence+1
}

// resync searches for the next packet after one whose header is damaged, by the magic
// number and the trace's UUID. It returns false if it finds none.
func (s *stream) resync() bool {
	var pattern []byte
	t := s.member.meta
	if t.PacketHeader == nil || len(t.PacketHeader.Fields) < 2 || t.UUID == [16]byte{} {
		return false
	}
	if first := t.PacketHeader.Fields[0]; first.Type.Kind != tsdl.Int || first.Type.Size != 32 {
		return false
	}
	if (&planner{trace: t}).big(t.PacketHeader.Fields[0].Type) {
		pattern = binary.BigEndian.AppendUint32(nil, packetMagic)
	} else {
		pattern = binary.LittleEndian.AppendUint32(nil, packetMagic)
	}
	pattern = append(pattern, t.UUID[:]...)
	return s.window.seek(pattern, 1)
}

// error returns why the decoder stopped.
func (d *decoder) error() error {
	if d.fail == failShort {
		return io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w", failures[d.fail])
}

// grow makes room for n slots.
func (d *decoder) grow(n int) {
	if n > len(d.slots) {
		d.slots = append(d.slots, make([]uint64, n-len(d.slots))...)
	}
}
