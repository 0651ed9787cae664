package etw

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/clr"
)

var le = binary.LittleEndian

// Offsets in EVENT_TRACE_PROPERTIES on 64-bit Windows (evntrace.h). The structure is
// followed by the names of the session and of its file.
const (
	offBufferSize  = 0x00 // of all, in bytes: Wnode.BufferSize
	offGUID        = 0x18
	offClock       = 0x28 // Wnode.ClientContext
	offWnodeFlags  = 0x2c
	offBufferKB    = 0x30
	offMinBuffers  = 0x34
	offMaxBuffers  = 0x38
	offMode        = 0x40
	offFlushTimer  = 0x44 // seconds
	offEnableFlags = 0x48
	offEventsLost  = 0x58
	offWritten     = 0x5c // buffers
	offBuffersLost = 0x60
	offFileName    = 0x70 // offset of the name
	offSessionName = 0x74
	sizeProperties = 120

	maxName = 1024 // characters, with the terminator
)

// Values of the fields (evntrace.h, wmistr.h).
const (
	clockQPC          = 1
	flagTracedGUID    = 0x00020000
	modeSequential    = 0x00000001
	modeSystemLogger  = 0x02000000
	modeIndependent   = 0x08000000 // a provider that fails for this session does not fail for others
	kernelProcess     = 0x00000001 // EVENT_TRACE_FLAG_PROCESS
	kernelImageLoad   = 0x00000004 // EVENT_TRACE_FLAG_IMAGE_LOAD
	sessionNameOffset = sizeProperties
	fileNameOffset    = sizeProperties + 2*maxName
	sizeAll           = sizeProperties + 2*2*maxName
)

// Buffers of a session: 64 KiB each, as many as in PerfView's 64 MB, and a quarter and
// ten more when these are full.
const (
	bufferKB      = 64
	defaultMB     = 64
	flushSeconds  = 1
	kernelBuffers = 64
)

// properties is an EVENT_TRACE_PROPERTIES with the names behind it.
type properties []byte

func newProperties(session, file string, minBuffers uint32) properties {
	p := forControl()
	le.PutUint32(p[offClock:], clockQPC)
	le.PutUint32(p[offWnodeFlags:], flagTracedGUID)
	le.PutUint32(p[offBufferKB:], bufferKB)
	le.PutUint32(p[offMinBuffers:], minBuffers)
	le.PutUint32(p[offMaxBuffers:], minBuffers*5/4+10)
	le.PutUint32(p[offMode:], modeSequential|modeIndependent)
	le.PutUint32(p[offFlushTimer:], flushSeconds)
	putName(p[sessionNameOffset:], session)
	putName(p[fileNameOffset:], file)
	return p
}

// forControl returns empty properties for ControlTrace to fill.
func forControl() properties {
	p := make(properties, sizeAll)
	le.PutUint32(p[offBufferSize:], sizeAll)
	le.PutUint32(p[offSessionName:], sessionNameOffset)
	le.PutUint32(p[offFileName:], fileNameOffset)
	return p
}

// putName writes a name as UTF-16. Its terminator is there already.
func putName(b []byte, name string) {
	copy(b, clr.NewUTF16(name))
}

// sessionName returns the name that the system has filled in.
func (p properties) sessionName() string {
	off := int(le.Uint32(p[offSessionName:]))
	if off < sizeProperties || off > len(p) {
		return ""
	}
	end := off
	for end+1 < len(p) && le.Uint16(p[end:]) != 0 {
		end += 2
	}
	return clr.UTF16(p[off:end]).String()
}

// A Loss counts the losses of a session so far.
type Loss struct {
	Events  uint32 // that did not fit into the buffers
	Buffers uint32 // that could not be written
}

func (p properties) loss() Loss {
	return Loss{Events: le.Uint32(p[offEventsLost:]), Buffers: le.Uint32(p[offBuffersLost:])}
}
