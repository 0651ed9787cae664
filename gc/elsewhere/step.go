package elsewhere

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// An action is the subject of an event.
type action uint8

const (
	none action = iota
	locking
	compiling
	loading
	throwing
	adjusting
)

// A step is the begin or the end of an action, or all of it.
type step struct {
	action action
	begins bool
	size   int // of the id at the head of its payload, which begin and end share; 0 for none
}

// steps are the events of the runtime's provider. See ClrEtwAll.man.
var steps = map[uint32]step{
	55:  {adjusting, false, 0}, // ThreadPoolWorkerThreadAdjustmentAdjustment
	73:  {loading, true, 4},    // TypeLoadStart
	74:  {loading, false, 4},
	80:  {throwing, false, 0}, // ExceptionThrown
	81:  {locking, true, 0},   // ContentionStart
	91:  {locking, false, 0},
	143: {compiling, false, 8}, // MethodLoadVerbose, which ends it
	145: {compiling, true, 8},  // MethodJittingStarted
}

// stepOf returns the step that an event is; its action is none for other events.
func stepOf(d *trace.Descriptor) step {
	if d.Provider != clr.RuntimeProvider {
		return step{}
	}
	return steps[d.ID]
}

// Wants reports whether a Model reads events of a kind.
func Wants(d *trace.Descriptor) bool { return stepOf(d).action != none }

// id returns the id in a payload; false if the payload is too short.
func (s step) id(payload []byte) (uint64, bool) {
	switch {
	case len(payload) < s.size:
		return 0, false
	case s.size == 4:
		return uint64(binary.LittleEndian.Uint32(payload)), true
	case s.size == 8:
		return binary.LittleEndian.Uint64(payload), true
	}
	return 0, true
}
