package ctf

import (
	"encoding/binary"
	"math/bits"
)

// A usualHeader finds the fields of a quickHeader with two loads, because LTTng puts id and
// time stamp into the first 8 bytes, and the ids of process and thread next to each other.
type usualHeader struct {
	idShift, stampShift uint8 // in the first 8 bytes
	idMask, stampMask   uint64
	who                 int   // offset of the process and the thread
	pidShift, tidShift  uint8 // there
}

// newUsualHeader returns nil if the header has another form.
func newUsualHeader(q *quickHeader) *usualHeader {
	u := &usualHeader{
		idShift: uint8(8*q.id.off) + q.id.shift, stampShift: uint8(8*q.stamp.off) + q.stamp.shift, idMask: q.id.mask, stampMask: q.stamp.mask,
		who: min(q.pid.off, q.tid.off), pidShift: uint8(8 * max(0, q.pid.off-q.tid.off)), tidShift: uint8(8 * max(0, q.tid.off-q.pid.off)),
	}
	near := max(q.id.off, q.stamp.off) < fieldSize &&
		max(int(u.idShift)+bits.Len64(u.idMask), int(u.stampShift)+bits.Len64(u.stampMask)) <= 64
	of32 := func(f *quickField) bool { return f.mask == noID && f.shift == 0 }
	if !near || !of32(&q.pid) || !of32(&q.tid) || max(u.pidShift, u.tidShift) != 32 || q.stamp.mask == 0 {
		return nil
	}
	return u
}

// from returns the process and thread in 8 bytes.
func (u *usualHeader) from(who uint64) (pid, tid uint64) {
	return identity(who >> (u.pidShift & 63) & noID), identity(who >> (u.tidShift & 63) & noID)
}

// takeUsual takes the next event of a stream, and further ones up to the time of another
// stream's, as long as they have the usual form: they can be read without plans, their times
// ascend, and they are whole. It returns false, having done nothing, if the next event has
// another form. It does the same as take and stream.next, but faster, because the state of the
// decoder stays in registers from one event to the next. Events that nobody wants are skipped even
// beyond the time of the other stream's, so that it need not begin anew behind each of those.
func (m *merger) takeUsual(s *stream, others int64) bool {
	d, q, p := &s.dec, s.class.quick, &s.packet
	if q == nil || q.usual == nil || !s.event.usual || s.displaced || s.time < m.emitted {
		return false
	}
	content := d.buf[:d.end>>3]
	at := (d.pos + 7) >> 3
	end := s.event.quick.end(content, at)
	if end < 0 {
		return false
	}
	e, t, cycles, u := s.event, s.time, s.clk, *q.usual
	low := u.stampMask
	last := min(len(content), len(d.buf)-fieldSize) - q.size // offset of a header
	s.ahead = false
	for {
		m.emitted = min(t, others)
		m.add(s, e, t, content[at:])
		if at = end; m.full() || at > last {
			break
		}
		h := d.buf[at:]
		first := binary.LittleEndian.Uint64(h)
		next := s.class.usual(q, first>>(u.idShift&63)&u.idMask)
		if next == nil {
			break
		}
		now := cycles&^low | first>>(u.stampShift&63)&low
		if now < cycles && now+low/2 <= p.until {
			now += low + 1
		}
		if now < p.earliest || now > p.latest {
			break
		}
		ns := s.class.clock.ns(now)
		pid, tid := u.from(binary.LittleEndian.Uint64(h[u.who:]))
		known := s.identified(pid, tid, at+q.nameOff, q.nameLen)
		if ns < t || !known && (t >= others || !s.member.possible(pid)) {
			break
		}
		s.head.pid, s.head.tid = pid, tid
		s.head.nameOff, s.head.nameLen = at+q.nameOff, q.nameLen
		if !known {
			s.time = t
			s.name(h[q.nameOff : q.nameOff+q.nameLen])
		}
		e, t, cycles, s.ahead = next, ns, now, true
		if at += q.size; t >= others && e.want {
			break
		}
		if end = e.quick.end(content, at); end < 0 {
			break
		}
		s.ahead = false
	}
	s.past = t >= others && !s.ahead
	if s.clk, d.pos = cycles, at<<3; s.event != e {
		s.event = e
	}
	s.time, s.empty = t, false
	return true
}

// usual returns the class of an event that takeUsual can take, otherwise nil.
func (c *streamClass) usual(q *quickHeader, id uint64) *eventClass {
	if id >= uint64(len(c.dense)) || id < q.lo || id > q.hi {
		return nil
	}
	if e := c.dense[id]; e != nil && e.usual {
		return e
	}
	return nil
}

// wide is how many bytes of a payload add copies at once, so that no call is needed.
const wide = 3 * 8

// add puts a usual event in the batch, if it is wanted. More bytes than the payload's may
// follow in payload, so that they can be copied with it.
func (m *merger) add(s *stream, e *eventClass, t int64, payload []byte) {
	b, data := m.batch, m.out.data
	b.read++
	if !e.want {
		b.skip(e.kind)
		return
	}
	off, n := len(data), e.quick.copied
	if n <= wide && len(payload) >= wide && cap(data)-off >= wide {
		copyWide((*[wide]byte)(data[off:off+wide]), (*[wide]byte)(payload))
		m.out.data = data[:off+n]
	} else {
		m.out.data = append(data, payload[:n]...)
	}
	it := b.add()
	it.Ticks, it.Desc, it.Context = int64(m.since(t)), e.index, b.context(s)
	it.Off, it.Len = uint32(off), uint32(n)
}

// copyWide copies one array to another. An assignment would be a call, because the compiler
// does not know that they are apart.
func copyWide(to, from *[wide]byte) {
	a, b, c := binary.LittleEndian.Uint64(from[:]), binary.LittleEndian.Uint64(from[8:]), binary.LittleEndian.Uint64(from[16:])
	binary.LittleEndian.PutUint64(to[:], a)
	binary.LittleEndian.PutUint64(to[8:], b)
	binary.LittleEndian.PutUint64(to[16:], c)
}
