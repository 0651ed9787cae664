package tracetest

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Types of event headers.
const (
	ETLSystem32   = 0x01
	ETLSystem64   = 0x02
	ETLCompact32  = 0x03
	ETLCompact64  = 0x04
	ETLFull32     = 0x0a
	ETLInstance32 = 0x0b
	ETLTimed      = 0x0c
	ETLPerfInfo32 = 0x10
	ETLPerfInfo64 = 0x11
	ETLEvent32    = 0x12
	ETLEvent64    = 0x13
	ETLFull64     = 0x14
	ETLInstance64 = 0x15
)

// GUIDs of providers and tasks.
const (
	RuntimeGUID       = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"
	RundownGUID       = "a669021c-c450-4609-a035-5af59af4df18"
	PrivateGUID       = "763fd754-7086-4dfe-95eb-c01a46faf4ca"
	GCTaskGUID        = "044973cd-251f-4dff-a3e9-9d6307286b05"
	PrivateGCTaskGUID = "2f1b6bf6-18ff-4645-9501-15df6c64c2cf"
	KernelProcessGUID = "22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716"
	LostEventGUID     = "6a399ae0-4bc6-4de9-870b-3657f8947e7e"
)

// Flags of a buffer.
const (
	ETLFlushMarker = 0x01
	ETLEventsLost  = 0x02
	ETLBufferLost  = 0x04
	procIndex      = 0x20
	compressed     = 0x40
)

const (
	bufferHeader = 0x48
	unused       = 0xff
)

// An ETLFile is a .etl file in the making.
type ETLFile struct {
	Header  ETLHeader
	Buffers []*ETLBuffer
	// Unmarked leaves the flush marker off the last buffer.
	Unmarked bool
	// Tail follows the last buffer.
	Tail []byte
}

// An ETLHeader describes the first event, which describes the file.
type ETLHeader struct {
	Type        uint8 // ETLSystem32 or ETLSystem64
	Windows7    bool  // buffers without SavedOffset in the first, processors of one byte
	BufferSize  uint32
	CPUs        uint32
	Start, End  int64 // FILETIME
	Time        int64 // of Start, in ticks
	Mode        uint32
	Written     int // 0: as many buffers as there are
	PointerSize uint32
	EventsLost  uint32
	BuffersLost uint32
	CPUMHz      uint32
	Frequency   int64
	Clock       uint32
	Compression uint32 // the state of the first buffer
}

// NewETL returns a file without events, of a session that ran from 2024-01-01 for
// ten seconds.
func NewETL() *ETLFile {
	const start = 133485408000000000
	return &ETLFile{Header: ETLHeader{
		Type: ETLSystem64, BufferSize: 0x1000, CPUs: 4, Start: start, End: start + 10*10_000_000,
		Time: 1_000_000, Mode: 1, PointerSize: 8, CPUMHz: 2000, Frequency: 10_000_000, Clock: 1,
	}}
}

// Buffer appends a buffer of a processor, numbered after the last.
func (f *ETLFile) Buffer(cpu uint16) *ETLBuffer {
	b := &ETLBuffer{CPU: cpu, Seq: uint64(len(f.Buffers)) + 1, size: f.Header.BufferSize}
	f.Buffers = append(f.Buffers, b)
	return b
}

// Bytes returns the file.
func (f *ETLFile) Bytes() []byte {
	h := f.Header
	if h.Written == 0 {
		h.Written = len(f.Buffers) + 1
	}
	first := &ETLBuffer{Type: 4, Flags: ETLFlushMarker, State: h.Compression, size: h.BufferSize}
	first.Event(h.event())
	out := first.appendTo(nil, h.Windows7)
	if h.Windows7 {
		le.PutUint32(out[4:], 0)
	}
	for i, b := range f.Buffers {
		c := *b
		if i == len(f.Buffers)-1 && !f.Unmarked {
			c.Flags |= ETLFlushMarker
		}
		out = c.appendTo(out, h.Windows7)
	}
	return append(out, f.Tail...)
}

// event returns the event that carries the file header.
func (h *ETLHeader) event() ETLEvent {
	pointer := 8
	if h.Type == ETLSystem32 {
		pointer = 4
	}
	p := ETLPayload(h.BufferSize, uint32(0x0105000a), uint32(19045), h.CPUs, h.End, uint32(156250), uint32(0),
		h.Mode, uint32(h.Written), uint32(1), h.PointerSize, h.EventsLost, h.CPUMHz)
	p = append(p, make([]byte, 2*pointer)...)
	p = append(p, make([]byte, 176)...)
	p = append(p, ETLPayload(int64(0), h.Frequency, h.Start, h.Clock, h.BuffersLost, "session", `C:\session.etl`)...)
	return ETLEvent{Type: h.Type, Version: 2, Time: h.Time, Payload: p}
}

// An ETLBuffer is a buffer in the making.
type ETLBuffer struct {
	CPU     uint16
	Seq     uint64
	Flushed int64 // when the buffer was written
	Flags   uint16
	Type    uint16
	State   uint32
	// Claim is the number of bytes in use in the header; 0 means the real one.
	Claim uint32
	// Stream is the content of a compressed buffer; nil means the real one.
	Stream []byte

	size     uint32
	compress bool
	events   []byte
}

// Compress makes the buffer a compressed one.
func (b *ETLBuffer) Compress() *ETLBuffer {
	b.compress = true
	return b
}

// Flag sets flags.
func (b *ETLBuffer) Flag(flags uint16) *ETLBuffer {
	b.Flags |= flags
	return b
}

// Event appends an event.
func (b *ETLBuffer) Event(e ETLEvent) *ETLBuffer { return b.Raw(e.Bytes()) }

// Raw appends bytes, and aligns them.
func (b *ETLBuffer) Raw(p []byte) *ETLBuffer {
	b.events = append(b.events, p...)
	for len(b.events)%8 != 0 {
		b.events = append(b.events, 0)
	}
	return b
}

// Used returns the number of bytes that the buffer takes when it is not
// compressed.
func (b *ETLBuffer) Used() int { return bufferHeader + len(b.events) }

func (b *ETLBuffer) appendTo(dst []byte, windows7 bool) []byte {
	body, size, flags := b.events, max(b.size, uint32(b.Used())), b.Flags
	used := uint32(b.Used())
	if b.Claim != 0 {
		used = b.Claim
	}
	if b.compress {
		if body = b.Stream; body == nil {
			body = CompressXpress(nil, b.events)
		}
		size = uint32(bufferHeader + len(body))
		flags |= compressed
	}
	h := make([]byte, bufferHeader, size)
	le.PutUint32(h, size)
	le.PutUint32(h[0x04:], used)
	le.PutUint32(h[0x08:], used)
	le.PutUint64(h[0x10:], uint64(b.Flushed))
	le.PutUint64(h[0x18:], b.Seq)
	le.PutUint16(h[0x28:], b.CPU|8<<8) // an alignment
	if !windows7 {
		flags |= procIndex
		le.PutUint16(h[0x28:], b.CPU)
	}
	le.PutUint16(h[0x2a:], 7)
	state := b.State
	if state == 0 {
		state = 3
	}
	le.PutUint32(h[0x2c:], state)
	le.PutUint32(h[0x30:], used)
	le.PutUint16(h[0x34:], flags)
	le.PutUint16(h[0x36:], b.Type)
	h = append(h, body...)
	for len(h) < int(size) {
		h = append(h, unused)
	}
	return append(dst, h...)
}

// ParseGUID reads a GUID as it is printed.
func ParseGUID(text string) (g [16]byte) {
	b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(b) != 16 {
		panic(fmt.Sprintf("tracetest: GUID %q", text))
	}
	for i, from := range [16]int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15} {
		g[i] = b[from]
	}
	return g
}

// ETLPayload joins integers, strings (as UTF-16 with a terminator) and bytes.
func ETLPayload(values ...any) []byte {
	var b []byte
	for _, v := range values {
		switch v := v.(type) {
		case string:
			for _, u := range utf16.Encode([]rune(v + "\x00")) {
				b = le.AppendUint16(b, u)
			}
		default:
			var err error
			if b, err = binary.Append(b, le, v); err != nil {
				panic("tracetest: " + err.Error())
			}
		}
	}
	return b
}
