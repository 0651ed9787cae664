package etl

import "github.com/gctrail/gctrail/trace"

// typedEvent is the last byte of the first four of an event whose header is one
// of formats.
const typedEvent = 0xc0

// messageEvent is that of a MESSAGE_TRACE_HEADER (WPP).
const messageEvent = 0x90

// Header types, the third byte of an event (ntwmi.h, TRACE_HEADER_TYPE_*).
const (
	system32     = 0x01
	system64     = 0x02
	compact32    = 0x03
	compact64    = 0x04
	fullHeader32 = 0x0a
	instance32   = 0x0b
	timed        = 0x0c
	failed       = 0x0d
	wnode        = 0x0e
	message      = 0x0f
	perfInfo32   = 0x10
	perfInfo64   = 0x11
	event32      = 0x12
	event64      = 0x13
	fullHeader64 = 0x14
	instance64   = 0x15
)

// A form is a layout of event headers.
type form uint8

const (
	formNone     form = iota // no event
	formSkipped              // nothing is known of it but its size
	formSystem               // SYSTEM_TRACE_HEADER
	formPerfInfo             // PERFINFO_TRACE_HEADER
	formClassic              // EVENT_TRACE_HEADER
	formEvent                // EVENT_HEADER
)

// A format is where things are in the header of one type.
type format struct {
	form    form
	size    uint8 // of the header
	sizeAt  uint8 // of the event's size, two bytes
	timeAt  uint8
	pointer uint8 // size of pointers in the payload
}

// formats are the headers by their type.
var formats = [256]format{
	system32:     {formSystem, 0x20, 4, 0x10, 4},
	system64:     {formSystem, 0x20, 4, 0x10, 8},
	compact32:    {formSystem, 0x18, 4, 0x10, 4},
	compact64:    {formSystem, 0x18, 4, 0x10, 8},
	perfInfo32:   {formPerfInfo, 0x10, 4, 0x08, 4},
	perfInfo64:   {formPerfInfo, 0x10, 4, 0x08, 8},
	fullHeader32: {formClassic, 0x30, 0, 0x10, 4},
	fullHeader64: {formClassic, 0x30, 0, 0x10, 8},
	instance32:   {formClassic, 0x48, 0, 0x10, 4},
	instance64:   {formClassic, 0x48, 0, 0x10, 8},
	event32:      {formEvent, 0x50, 0, 0x10, 4},
	event64:      {formEvent, 0x50, 0, 0x10, 8},
	timed:        {formSkipped, 8, 0, 0, 8},
	failed:       {formSkipped, 8, 0, 0, 8},
	wnode:        {formSkipped, 8, 0, 0, 8},
	message:      {formSkipped, 8, 0, 0, 8},
}

var skippedMessage = format{formSkipped, 8, 0, 0, 8}

// formatOf finds the format of the event at the start of b, at least four bytes; nil if
// no event begins so.
func formatOf(b []byte) *format {
	switch b[3] {
	case typedEvent:
		if f := &formats[b[2]]; f.form != formNone {
			return f
		}
	case messageEvent:
		return &skippedMessage
	}
	return nil
}

// firstTime returns the time of the event that begins with b, if it has one and
// b reaches that far.
func firstTime(b []byte) (int64, bool) {
	if len(b) < 8 {
		return 0, false
	}
	f := formatOf(b)
	if f == nil || f.timeAt == 0 || len(b) < int(f.timeAt)+8 {
		return 0, false
	}
	return int64(le.Uint64(b[f.timeAt:])), true
}

// threadOf returns the process and thread that an event with one of these
// headers was raised in.
func (f *format) threadOf(e []byte) (pid, tid uint64) {
	if f.form == formPerfInfo {
		return trace.UnknownID, trace.UnknownID
	}
	return idOf(e[0x0c:]), idOf(e[0x08:])
}

// idOf reads an id of four bytes; all ones stand for none.
func idOf(b []byte) uint64 {
	if id := le.Uint32(b); id != 1<<32-1 {
		return uint64(id)
	}
	return trace.UnknownID
}

// payload returns the part of e after the header and, for an EVENT_HEADER, the extended
// items. It is empty if the header claims more than there is.
func (f *format) payload(e []byte, x *extended) []byte {
	at := int(f.size)
	switch f.form {
	case formPerfInfo: // a count of counters, each of eight bytes, and one more
		at += 8 * (int(e[1]&7) + int(e[1]>>7))
	case formEvent:
		if e[4]&extendedInfo != 0 {
			at = x.decode(e)
		}
	}
	if at > len(e) {
		return nil
	}
	return e[at:]
}

// extendedInfo is set in the flags of an EVENT_HEADER with extended items.
const extendedInfo = 1

// Types of extended items (evntcons.h, EVENT_HEADER_EXT_TYPE_*).
const (
	extRelatedActivity = 1
	extStack32         = 5
	extStack64         = 6
)

// An extended holds the values of an event's extended items.
type extended struct {
	related   []byte // a GUID
	stack     []byte
	stackSize int // of an address
}

// decode reads the items that follow the EVENT_HEADER of e, and returns where
// the payload begins. On disk an item is its padded size, its type, a word whose
// lowest bit reports that another follows, the size of its data, and the data.
func (x *extended) decode(e []byte) int {
	at := int(formats[event64].size)
	for at+8 <= len(e) {
		item := e[at:]
		total, data := int(le.Uint16(item)), int(le.Uint16(item[6:]))
		if total < 8+data || total > len(item) {
			break
		}
		x.take(le.Uint16(item[2:]), item[8:8+data])
		at += (total + 7) &^ 7
		if le.Uint16(item[4:])&1 == 0 {
			break
		}
	}
	return at
}

func (x *extended) take(kind uint16, data []byte) {
	switch kind {
	case extRelatedActivity:
		if len(data) == 16 {
			x.related = data
		}
	case extStack32:
		x.stack, x.stackSize = data[min(8, len(data)):], 4
	case extStack64:
		x.stack, x.stackSize = data[min(8, len(data)):], 8
	}
}
