package perfetto

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of the messages that are written, by their numbers in Perfetto's
// protos/perfetto/trace.
const (
	tracePacket = 1 // Trace

	packetTimestamp  = 8 // TracePacket
	packetSequence   = 10
	packetTrackEvent = 11
	packetDescriptor = 60

	trackUUID    = 1 // TrackDescriptor
	trackName    = 2
	trackProcess = 3
	trackParent  = 5
	trackCounter = 8
	trackOrder   = 11 // of the tracks below
	trackRank    = 12 // in it

	processPID  = 1 // ProcessDescriptor
	processName = 6

	counterUnit     = 3 // CounterDescriptor
	counterUnitName = 6

	eventAnnotation = 4 // TrackEvent
	eventType       = 9
	eventTrack      = 11
	eventCategory   = 22
	eventName       = 23
	eventCounter    = 30
	eventFlow       = 47
	eventFlowEnd    = 48

	annotationInt    = 4 // DebugAnnotation
	annotationDouble = 5
	annotationString = 6
	annotationName   = 10
)

// Types of a TrackEvent.
const (
	sliceBegin = 1
	sliceEnd   = 2
	instant    = 3
	counter    = 4
)

// unitBytes is CounterDescriptor.UNIT_SIZE_BYTES.
const unitBytes = 3

// explicitOrder is TrackDescriptor.EXPLICIT: tracks are ordered by their ranks.
const explicitOrder = 3

// sequence is the packet sequence that all packets belong to.
const sequence = 1

// A message appends the fields of a protobuf message.
type message []byte

func (m *message) uint(field protowire.Number, v uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
}

func (m *message) fixed(field protowire.Number, v uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), v)
}

func (m *message) double(field protowire.Number, v float64) { m.fixed(field, math.Float64bits(v)) }

func (m *message) text(field protowire.Number, s string) {
	*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), s)
}

func (m *message) message(field protowire.Number, sub message) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), sub)
}

// appendHead appends the tag and the length of a packet of n bytes.
func appendHead(b []byte, n int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, tracePacket, protowire.BytesType), uint64(n))
}
