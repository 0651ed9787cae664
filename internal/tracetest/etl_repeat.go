package tracetest

import (
	"bytes"
	"fmt"
	"io"
)

// An ETLRepetition is how a file is made larger.
type ETLRepetition struct {
	Times    int
	Compress bool // the buffers
	// Lanes is how many repetitions are simultaneous, each on processors of its own; 0 is
	// one. It divides Times.
	Lanes int
	// BufferSize is that of the buffers; 0 leaves it.
	BufferSize uint32
}

// RepeatETL writes a file that is the file src several times over, one after the
// other or side by side: each time with process ids, time stamps and sequence
// numbers of its own, so that no collection comes twice. src is one of a session
// whose buffers are sound.
func RepeatETL(w io.Writer, src []byte, r ETLRepetition) error {
	buffers, err := split(src)
	if err != nil {
		return err
	}
	head := bytes.Clone(src[:le.Uint32(src)])
	p := head[bufferHeader+0x20:]
	if r.BufferSize > 0 {
		le.PutUint32(p, r.BufferSize)
		buffers = join(buffers, int(r.BufferSize))
	}
	lanes := max(r.Lanes, 1)
	cpus := le.Uint32(p[0x0c:])
	le.PutUint32(p[0x0c:], cpus*uint32(lanes))
	le.PutUint32(p[0x24:], uint32(1+r.Times*(len(buffers)-1))) // BuffersWritten
	const modeCompressed, xpress = 0x04000000, 3
	le.PutUint32(p[0x20:], le.Uint32(p[0x20:])&^modeCompressed)
	if r.Compress {
		le.PutUint32(p[0x20:], le.Uint32(p[0x20:])|modeCompressed)
		le.PutUint32(head[0x2c:], xpress)
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	grid := le.Uint32(p)
	first, last := span(buffers)
	for turn := range r.Times / lanes {
		for j, b := range buffers[1:] {
			for lane := range lanes {
				i := turn*lanes + lane
				s := shift{time: int64(turn) * (last - first + 1), pid: uint32(i) * 100_000}
				c := ETLBuffer{
					CPU: b.CPU + uint16(lane)*uint16(cpus), Seq: (b.Seq+uint64(turn*len(buffers)))*uint64(lanes) + uint64(lane),
					size: grid, compress: r.Compress, events: s.events(bytes.Clone(b.events)),
				}
				if i == r.Times-1 && j == len(buffers)-2 {
					c.Flags = ETLFlushMarker
				}
				if _, err := w.Write(c.appendTo(nil, false)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// join makes buffers of up to size bytes by joining consecutive ones of a processor.
func join(buffers []ETLBuffer, size int) []ETLBuffer {
	joined := buffers[:1:1]
	open := make(map[uint16]int) // by processor, in joined
	for _, b := range buffers[1:] {
		i, ok := open[b.CPU]
		if !ok || bufferHeader+len(joined[i].events)+len(b.events) > size {
			open[b.CPU] = len(joined)
			joined = append(joined, b)
			continue
		}
		joined[i].Raw(b.events)
	}
	return joined
}

// split returns the buffers of a file.
func split(src []byte) ([]ETLBuffer, error) {
	var buffers []ETLBuffer
	for pos := 0; pos < len(src); {
		h := src[pos:]
		size, used, flags := int(le.Uint32(h)), int(le.Uint32(h[4:])), le.Uint16(h[0x34:])
		if used == 0 {
			used = int(le.Uint32(h[0x30:]))
		}
		if size > len(h) {
			return nil, fmt.Errorf("tracetest: buffer at %#x passes the end", pos)
		}
		b := ETLBuffer{CPU: le.Uint16(h[0x28:]), Seq: le.Uint64(h[0x18:])}
		if flags&procIndex == 0 {
			b.CPU &= 0xff
		}
		if flags&compressed != 0 {
			var ok bool
			if b.events, ok = DecompressXpress(h[bufferHeader:size], used-bufferHeader); !ok {
				return nil, fmt.Errorf("tracetest: buffer at %#x is damaged", pos)
			}
		} else {
			b.events = h[bufferHeader:used]
		}
		buffers = append(buffers, b)
		pos += size
	}
	return buffers, nil
}

// span returns the time of the earliest event and of the latest.
func span(buffers []ETLBuffer) (first, last int64) {
	first, last = 1<<63-1, -1<<63
	for _, b := range buffers {
		each(b.events, func(e []byte) {
			if at := timeAt(e); at > 0 {
				t := int64(le.Uint64(e[at:]))
				first, last = min(first, t), max(last, t)
			}
		})
	}
	return first, last
}

// each calls f with each event of a buffer.
func each(events []byte, f func(e []byte)) {
	for pos := 0; pos+8 <= len(events); {
		e := events[pos:]
		size := int(le.Uint16(e))
		switch e[2] {
		case ETLSystem32, ETLSystem64, ETLCompact32, ETLCompact64, ETLPerfInfo32, ETLPerfInfo64:
			size = int(le.Uint16(e[4:]))
		}
		f(e[:size])
		pos += (size + 7) &^ 7
	}
}

func timeAt(e []byte) int {
	switch e[2] {
	case ETLPerfInfo32, ETLPerfInfo64:
		return 0x08
	case ETLSystem32, ETLSystem64, ETLCompact32, ETLCompact64, ETLFull32, ETLFull64, ETLInstance32, ETLInstance64, ETLEvent32, ETLEvent64:
		return 0x10
	}
	return 0
}

// A shift moves events to another time, and to other processes.
type shift struct {
	time int64
	pid  uint32
}

func (s shift) events(events []byte) []byte {
	each(events, func(e []byte) {
		at := timeAt(e)
		if at == 0 {
			return
		}
		le.PutUint64(e[at:], le.Uint64(e[at:])+uint64(s.time))
		if at == 0x10 {
			s.move(e[0x0c:])
		}
		switch {
		case e[2] == ETLPerfInfo64 && e[7] == 3: // of the kernel's processes: after a pointer
			s.move(e[0x10+8:])
		case e[2] == ETLSystem64 && e[7] == 3:
			s.move(e[0x20+8:])
		}
	})
	return events
}

func (s shift) move(pid []byte) {
	if v := le.Uint32(pid); v != 1<<32-1 && v != 0 {
		le.PutUint32(pid, v+s.pid)
	}
}
