package tracetest

// An ETLEvent is an event with any of the headers there are.
type ETLEvent struct {
	Type     uint8
	Time     int64
	PID, TID uint32
	Provider string // a GUID, of classic headers the task's
	ID       uint16
	Version  uint16
	Level    uint8
	Opcode   uint8 // of kernel events, the lower half of the hook id
	Group    uint8 // the upper half
	Keywords uint64
	Activity [16]byte
	Items    []ETLItem
	Payload  []byte
	// Counters is how many performance counters follow a PerfInfo header, and
	// Sampled whether one more word does.
	Counters uint8
	Sampled  bool
	// Size is the size in the header; 0 means the real one.
	Size uint16
}

// An ETLItem is an extended item of an event.
type ETLItem struct {
	Type uint16
	Data []byte
}

// Bytes returns the event without padding.
func (e *ETLEvent) Bytes() []byte {
	var b []byte
	switch e.Type {
	case ETLSystem32, ETLSystem64:
		b = e.kernel(0x20)
	case ETLCompact32, ETLCompact64:
		b = e.kernel(0x18)
	case ETLPerfInfo32, ETLPerfInfo64:
		b = e.perfInfo()
	case ETLFull32, ETLFull64:
		b = e.classic(0x30)
	case ETLInstance32, ETLInstance64:
		b = e.classic(0x48)
	default:
		b = e.described()
	}
	b[2], b[3] = e.Type, 0xc0
	b = append(b, e.Payload...)
	size := uint16(len(b))
	if e.Size != 0 {
		size = e.Size
	}
	switch e.Type {
	case ETLSystem32, ETLSystem64, ETLCompact32, ETLCompact64, ETLPerfInfo32, ETLPerfInfo64:
		le.PutUint16(b[4:], size)
	default:
		le.PutUint16(b, size)
	}
	return b
}

func (e *ETLEvent) kernel(size int) []byte {
	b := make([]byte, size)
	le.PutUint16(b, e.Version)
	b[6], b[7] = e.Opcode, e.Group
	le.PutUint32(b[0x08:], e.TID)
	le.PutUint32(b[0x0c:], e.PID)
	le.PutUint64(b[0x10:], uint64(e.Time))
	return b
}

func (e *ETLEvent) perfInfo() []byte {
	b := make([]byte, 0x10)
	b[0], b[1] = uint8(e.Version), e.Counters
	if e.Sampled {
		b[1] |= 0x80
		b = append(b, make([]byte, 8)...)
	}
	b[6], b[7] = e.Opcode, e.Group
	le.PutUint64(b[0x08:], uint64(e.Time))
	return append(b, make([]byte, 8*int(e.Counters))...)
}

func (e *ETLEvent) classic(size int) []byte {
	b := make([]byte, size)
	b[4], b[5] = e.Opcode, e.Level
	le.PutUint16(b[6:], e.Version)
	e.common(b)
	return b
}

// common is where EVENT_TRACE_HEADER and EVENT_HEADER agree.
func (e *ETLEvent) common(b []byte) {
	le.PutUint32(b[0x08:], e.TID)
	le.PutUint32(b[0x0c:], e.PID)
	le.PutUint64(b[0x10:], uint64(e.Time))
	g := ParseGUID(e.Provider)
	copy(b[0x18:], g[:])
}

func (e *ETLEvent) described() []byte {
	b := make([]byte, 0x50)
	e.common(b)
	le.PutUint16(b[0x28:], e.ID)
	b[0x2a], b[0x2c], b[0x2d] = uint8(e.Version), e.Level, e.Opcode
	le.PutUint64(b[0x30:], e.Keywords)
	copy(b[0x40:], e.Activity[:])
	for i, item := range e.Items {
		b[4] = 1
		h := make([]byte, 8)
		le.PutUint16(h, uint16((8+len(item.Data)+7)&^7))
		le.PutUint16(h[2:], item.Type)
		if i+1 < len(e.Items) {
			h[4] = 1
		}
		le.PutUint16(h[6:], uint16(len(item.Data)))
		b = append(append(b, h...), item.Data...)
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
	}
	return b
}
