package etl

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// Clocks of a session (evntrace.h, ClientContext of WNODE_HEADER); in a file
// the ReservedFlags of its header.
const (
	clockUnsaid     = 0 // before Windows Vista
	clockQPC        = 1
	clockSystemTime = 2
	clockCPUCycles  = 3
)

// Bits of LogFileMode.
const (
	modeCircular   = 0x00000002
	modeRelog      = 0x00010000 // written by a tool, of one file or several
	modeCompressed = 0x04000000
)

const (
	headerEventSize = 0x20 // of the SYSTEM_TRACE_HEADER before the file header
	logfileSize32   = 0x110
	logfileSize64   = 0x118
	// minFile is the least that a file with a file header has.
	minFile = bufferHeaderSize + headerEventSize + logfileSize32
	// fileTimeTicks is the frequency of FILETIME.
	fileTimeTicks = 10_000_000
	// fileTimeEpoch is 1970 as a FILETIME, in seconds.
	fileTimeEpoch = 11_644_473_600
)

// A logfileHeader is a TRACE_LOGFILE_HEADER, with values of the event that carries it.
type logfileHeader struct {
	bufferSize  uint32
	cpus        int
	end         int64 // FILETIME, 0 in a session that was not closed
	mode        uint32
	written     uint32 // buffers, with the one that holds this
	pointerSize int
	eventsLost  uint32
	cpuMHz      uint32
	frequency   int64 // of QPC
	start       int64 // FILETIME
	clock       uint32
	buffersLost uint32
	time        int64  // of the event: start, in ticks
	firstSize   uint32 // of the buffer that holds this
	logger      uint16
	state       uint32 // of that buffer
}

// readHeader reads the file header in the first buffer of r.
func readHeader(r io.ReaderAt, size int64) (*logfileHeader, error) {
	var b [bufferHeaderSize + headerEventSize + logfileSize64]byte
	n, err := r.ReadAt(b[:min(size, int64(len(b)))], 0)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case n < bufferHeaderSize+headerEventSize || !isHeader(b[:]):
		return nil, trace.ErrNotTrace
	case n < minFile:
		return nil, io.ErrUnexpectedEOF
	}
	var first bufferHeader
	first.decode(b[:])
	h := new(logfileHeader)
	h.decode(b[bufferHeaderSize:])
	h.firstSize, h.logger, h.state = first.size, first.logger, first.state
	return h, nil
}

// isHeader reports whether b begins with a header buffer, and in it the event that
// carries the file header.
func isHeader(b []byte) bool {
	h, ok := parseBuffer(b)
	if !ok {
		return false
	}
	e := b[bufferHeaderSize:]
	return h.kind == typeHeader &&
		e[3] == typedEvent && (e[2] == system32 || e[2] == system64) && le.Uint16(e[6:]) == 0
}

// decode reads the event that carries the file header.
func (h *logfileHeader) decode(b []byte) {
	h.time = int64(le.Uint64(b[0x10:]))
	p := b[headerEventSize:]
	h.bufferSize = le.Uint32(p)
	h.cpus = int(min(le.Uint32(p[0x0c:]), 1<<16))
	h.end = int64(le.Uint64(p[0x10:]))
	h.mode = le.Uint32(p[0x20:])
	h.written = le.Uint32(p[0x24:])
	h.pointerSize = 8
	if le.Uint32(p[0x2c:]) == 4 {
		h.pointerSize = 4
	}
	h.eventsLost = le.Uint32(p[0x30:])
	h.cpuMHz = le.Uint32(p[0x34:])
	rest := p[0xf0:] // past two pointers and the time zone
	if b[2] == system64 {
		rest = p[0xf8:]
	}
	h.frequency = int64(le.Uint64(rest[0x08:]))
	h.start = int64(le.Uint64(rest[0x10:]))
	h.clock = le.Uint32(rest[0x18:])
	h.buffersLost = le.Uint32(rest[0x1c:])
}

// ticksPerSecond returns the frequency of the time stamps in the file.
func (h *logfileHeader) ticksPerSecond() (int64, error) {
	f := h.frequency
	switch h.clock {
	case clockSystemTime:
		f = fileTimeTicks
	case clockCPUCycles:
		f = int64(h.cpuMHz) * 1_000_000
	case clockUnsaid:
		const day = 24 * 3600 * fileTimeTicks
		if d := h.time - h.start; -day < d && d < day {
			f = fileTimeTicks
		}
	case clockQPC:
	default:
		return 0, fmt.Errorf("%w: clock of type %d", trace.ErrUnsupported, h.clock)
	}
	if f < slowestClock || f > fastestClock {
		return 0, binread.Malformed("a clock of type %d with %d ticks per second", h.clock, f)
	}
	return f, nil
}

// The frequencies of the clocks that Windows has used lie well between these, from the
// PIT (1.19 MHz) to a processor's cycles. A frequency outside was damaged, so that no
// time is known.
const (
	slowestClock = 1_000
	fastestClock = 10_000_000_000
)

// fileTime converts a FILETIME.
func fileTime(t int64) time.Time {
	return time.Unix(t/fileTimeTicks-fileTimeEpoch, t%fileTimeTicks*100).UTC()
}
