package ctf

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

var (
	// ErrUndescribed reports an event without a class, or with fields that cannot be
	// written.
	ErrUndescribed = errors.New("event has no description")

	errClosed = errors.New("writer is closed")
)

// WriterOptions are the contents of a trace's metadata.
type WriterOptions struct {
	Start       time.Time // origin of Event.Ticks in nanoseconds
	SyncTicks   int64     // the clock's reading at Start
	PointerSize int       // 4 or 8; zero means 8
	PID         uint64    // of events whose PID is zero or trace.UnknownID
	Process     string    // the name of all threads; 15 bytes of it are written
	Host        string    // may be empty
	// Describe returns the class of events. Nil means a descriptor's own name
	// and fields.
	Describe func(*trace.Descriptor) (EventClass, bool)
	// PacketSize is the largest size of packets, in bytes, a multiple of 4096. Zero means
	// 256 KiB, because that holds the largest event of a runtime.
	PacketSize int
}

// A Writer writes a trace as LTTng 2.12 does for a program on x86-64: CTF 1.8, one stream
// of events in time order, with the contexts vpid, vtid and procname that perfcollect
// asks for.
//
// It holds one packet in memory, which is written when it is full or flushed. The metadata
// describes a kind of event before the stream contains one.
//
// After an error of the underlying writers every method returns that error. A Writer must
// not be used by several goroutines at once.
type Writer struct {
	metadata metadataWriter
	stream   io.Writer
	close    func() error // of the files; may be nil
	opt      WriterOptions
	err      error
	uuid     [16]byte
	context  [contextSize]byte // of the next event, as of the last

	classes   map[*trace.Descriptor]*writerClass
	packet    []byte
	packets   uint64
	begin     int64  // cycles at the first event of the packet
	last      int64  // cycles at the last event of all
	discarded uint64 // events
	lost      uint64 // events, since the last one
}

const (
	defaultPacket = 256 << 10
	pageSize      = 4096 // packets are whole pages

	packetHeaderSize = 84
	contextSize      = 4 + 4 + procnameSize
	procnameSize     = 17

	extendedID    = math.MaxUint16
	maxEventClass = math.MaxUint16 - 1
)

// NewWriter starts a trace by writing its metadata's beginning. The two writers
// are for the files metadata and channel0_0 of one folder; CreateFolder and
// NewZipWriter create such folders.
func NewWriter(metadata, stream io.Writer, opt WriterOptions) (*Writer, error) {
	if opt.PointerSize == 0 {
		opt.PointerSize = 8
	}
	if opt.PacketSize == 0 {
		opt.PacketSize = defaultPacket
	}
	if opt.Describe == nil {
		opt.Describe = ownClass
	}
	if err := opt.check(); err != nil {
		return nil, fmt.Errorf("ctf: %w", err)
	}
	w := &Writer{
		stream:  stream,
		opt:     opt,
		classes: make(map[*trace.Descriptor]*writerClass),
		packet:  make([]byte, packetHeaderSize, opt.PacketSize),
		last:    opt.SyncTicks,
	}
	rand.Read(w.uuid[:])
	w.uuid[6], w.uuid[8] = w.uuid[6]&0x0f|0x40, w.uuid[8]&0x3f|0x80 // version 4
	copy(w.context[8:len(w.context)-2], opt.Process)
	w.metadata = metadataWriter{out: metadata, uuid: w.uuid}
	w.head()
	w.err = w.metadata.flush()
	return w, w.err
}

func (o *WriterOptions) check() error {
	switch {
	case o.PointerSize != 4 && o.PointerSize != 8:
		return fmt.Errorf("pointer size %d", o.PointerSize)
	case o.PacketSize < pageSize || o.PacketSize%pageSize != 0:
		return fmt.Errorf("packet size %d", o.PacketSize)
	case o.Start.Year() < 1970 || o.Start.Year() > 2200:
		return fmt.Errorf("start time %v", o.Start)
	case o.SyncTicks < 0:
		return fmt.Errorf("clock reading %d", o.SyncTicks)
	}
	return nil
}

// Write adds an event. It uses the event's Desc, Ticks, PID (zero and
// trace.UnknownID mean the traced process), TID and Payload, and retains only Desc,
// which must not change while the writer is in use. Processes and threads whose ids
// have more than 32 bits become unknown.
//
// If Write returns trace.ErrLate, or trace.ErrTooLarge because no packet has
// room for the event, the event is not written and counts as discarded. If
// Write returns ErrUndescribed, or the payload is shorter than its fields, the
// event is not written and does not count.
func (w *Writer) Write(ev *trace.Event) error {
	if w.err != nil {
		return w.err
	}
	class, err := w.class(ev.Desc)
	if err != nil {
		return err
	}
	at := w.opt.SyncTicks + ev.Ticks
	switch {
	case at < w.last:
		w.lost++
		return trace.ErrLate
	case len(ev.Payload) > w.opt.PacketSize:
		w.lost++
		return trace.ErrTooLarge
	}
	for {
		before := len(w.packet)
		ok := w.append(class, at, ev)
		if ok && len(w.packet) <= w.opt.PacketSize {
			break
		}
		w.packet = w.packet[:before]
		switch {
		case !ok:
			return binread.Malformed("%s: the payload is shorter than its fields", class.name)
		case before == packetHeaderSize:
			w.lost++
			return trace.ErrTooLarge
		}
		if w.flush(); w.err != nil {
			return w.err
		}
	}
	w.last = at
	w.discarded += w.lost
	w.lost = 0
	return nil
}

// append appends an event to the packet. An event that follows another one has
// 32 bits of its time. The first event of a packet has its full time, as has an
// event too long after the previous one, or at the same time: TraceEvent would
// take that for a wrapped clock (CtfReader.cs).
func (w *Writer) append(class *writerClass, at int64, ev *trace.Event) bool {
	le := binary.LittleEndian
	b := w.packet
	first, after := len(b) == packetHeaderSize, at-w.last
	if first {
		w.begin = at
	}
	if first || after == 0 || after > math.MaxUint32 {
		b = le.AppendUint16(b, extendedID)
		b = le.AppendUint32(b, class.id)
		b = le.AppendUint64(b, uint64(at))
	} else {
		b = le.AppendUint16(b, uint16(class.id))
		b = le.AppendUint32(b, uint32(at))
	}
	pid := ev.PID
	if pid == 0 || pid == trace.UnknownID {
		pid = w.opt.PID
	}
	le.PutUint32(w.context[0:], uint32(min(pid, noID)))
	le.PutUint32(w.context[4:], uint32(min(ev.TID, noID)))
	b = append(b, w.context[:]...)
	b, ok := class.append(b, ev.Payload)
	w.packet = b
	return ok
}

// class returns the class of the events that d describes.
func (w *Writer) class(d *trace.Descriptor) (*writerClass, error) {
	if c := w.classes[d]; c != nil {
		return c, nil
	}
	described, ok := w.opt.Describe(d)
	if !ok || len(w.classes) > maxEventClass {
		return nil, ErrUndescribed
	}
	c := &writerClass{id: uint32(len(w.classes)), name: described.Name}
	text, err := c.plan(&described)
	if err != nil {
		return nil, err
	}
	w.classes[d] = c
	w.metadata.event(c, text)
	return c, nil
}

// Lost records that n events are missing between the last event and the next
// one.
func (w *Writer) Lost(n uint32) { w.lost += uint64(n) }

// Flush writes out every event given so far.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.packet) > packetHeaderSize {
		w.flush()
	}
	return w.err
}

// flush writes the packet, and begins the next.
func (w *Writer) flush() {
	content := len(w.packet)
	size := (content + pageSize - 1) / pageSize * pageSize
	for len(w.packet) < size {
		w.packet = append(w.packet, 0)
	}
	w.packetHeader(content)
	if w.err = w.metadata.flush(); w.err == nil {
		_, w.err = w.stream.Write(w.packet)
	}
	w.packets++
	w.packet = w.packet[:packetHeaderSize]
}

func (w *Writer) packetHeader(content int) {
	le := binary.LittleEndian
	h := w.packet[:0]
	h = le.AppendUint32(h, packetMagic)
	h = append(h, w.uuid[:]...)
	h = le.AppendUint32(h, 0) // id and number of the stream
	h = le.AppendUint64(h, 0)
	h = le.AppendUint64(h, uint64(w.begin))
	h = le.AppendUint64(h, uint64(w.last))
	h = le.AppendUint64(h, 8*uint64(content))
	h = le.AppendUint64(h, 8*uint64(len(w.packet)))
	h = le.AppendUint64(h, w.packets)
	h = le.AppendUint64(h, w.discarded)
	le.AppendUint32(h, 0) // processor
}

// Close flushes and ends the trace. It closes the files of CreateFolder, and completes
// the zip of NewZipWriter, even after an error.
func (w *Writer) Close() error {
	if errors.Is(w.err, errClosed) {
		return w.err
	}
	if w.err == nil && (len(w.packet) > packetHeaderSize || w.lost > 0) {
		if len(w.packet) == packetHeaderSize {
			w.begin = w.last
		}
		w.discarded += w.lost
		w.flush()
	}
	err := w.err
	if err == nil {
		err = w.metadata.flush()
	}
	if w.close != nil {
		err = errors.Join(err, w.close())
	}
	w.err = errClosed
	return err
}
