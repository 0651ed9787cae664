package gc

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/units"
)

// Runs returns the kinds of events that a Model reads many at a time: allocation ticks, because
// a trace has one for every 100 KB or so that a heap has given out, more than all other events.
func (*Model) Runs() []clr.Kind { return []clr.Kind{clr.KindGCAllocationTick} }

// Events processes events in a row, for Collections.
func (m *Model) Events(r *pass.Events) {
	var rt *runtime
	last := -1
	for i := range r.Len() {
		if r.Kind(i) != clr.KindGCAllocationTick {
			continue
		}
		last = i
		t, ok := readTick(r.Payload(i))
		if !ok {
			continue
		}
		if rt == nil || rt.instance != t.instance {
			m.now = r.Time(i)
			if rt = m.runtimeOf(r.Runtime(t.instance), m.process(r.Process), t.instance); rt == nil {
				continue
			}
		}
		rt.tick(t)
	}
	if last >= 0 {
		m.now = r.Time(last)
	}
}

// tickHead is how much of an allocation tick is decoded.
const tickHead = 4 + 4 + 2 + 8

// A tick is the head that all versions of GCAllocationTick share.
type tick struct {
	low      uint32 // bytes, as version 0 has them
	kind     clr.AllocationKind
	instance uint16 // 0 before version 1
	amount   uint64 // bytes
}

// readTick decodes the head of a payload. It returns false if that is too short.
func readTick(b []byte) (t tick, ok bool) {
	if len(b) < 8 {
		return t, false
	}
	t.low, t.kind = binary.LittleEndian.Uint32(b), clr.AllocationKind(binary.LittleEndian.Uint32(b[4:]))
	t.amount = uint64(t.low)
	if len(b) >= 10 { // from version 1 on
		t.instance = binary.LittleEndian.Uint16(b[8:])
	}
	if len(b) >= tickHead { // from version 2 on
		t.amount = binary.LittleEndian.Uint64(b[10:])
	}
	return t, true
}

// tick counts an allocation tick.
func (rt *runtime) tick(t tick) {
	rt.ticked = true
	if !clr.PossibleTick(t.amount, t.low, t.kind) {
		rt.badTick = true
		return
	}
	rt.ticks = units.AddCapped(rt.ticks, int64(t.amount))
	if int(t.kind) < len(allocationKinds) {
		of := &rt.ticksOf[allocationKinds[t.kind]]
		*of = units.AddCapped(*of, int64(t.amount))
	}
}

// allocationKinds are the generations in which objects of a kind begin.
var allocationKinds = [...]int{clr.AllocationKindSmall: gen0, clr.AllocationKindLarge: loh, clr.AllocationKindPinned: poh}
