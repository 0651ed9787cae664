package gc

import (
	"errors"
	"strconv"

	"github.com/gctrail/gctrail/internal/units"
)

// String returns the collection as one line, such as "GC 42 gen 1 blocking, paused
// 3.20 ms, heap 120 MB → 80.0 MB". It leaves unknown figures out.
func (c Collection) String() string {
	s := "GC " + strconv.FormatUint(uint64(c.Number), 10)
	if generation, known := c.Generation.Get(); known {
		s += " gen " + strconv.Itoa(generation)
	}
	if c.Kind != KindUnknown {
		s += " " + c.Kind.String()
	}
	if pause, known := c.Pause().Get(); known {
		s += ", paused " + units.Duration(pause)
	}
	before, hasBefore := c.HeapBefore.Get()
	after, hasAfter := c.HeapAfter.Get()
	switch {
	case hasBefore && hasAfter:
		s += ", heap " + units.Bytes(before) + " → " + units.Bytes(after)
	case hasBefore:
		s += ", heap " + units.Bytes(before) + " before"
	case hasAfter:
		s += ", heap " + units.Bytes(after) + " after"
	}
	switch {
	case !c.Complete:
		s += ", incomplete"
	case c.AffectedByLoss:
		s += ", affected by lost events"
	}
	return s
}

var errJSON = errors.New("gc: a Collection alone has no JSON, because start_time needs the trace's start: use AppendCollection of export/jsonl")

// MarshalJSON returns an error. The fields of a Collection in Go's own form would
// contradict docs/schemas/gcs.schema.json in names and units, and the object of that
// schema has the time of day, for which a Collection lacks the trace's start.
// AppendCollection of export/jsonl makes it; as a part of other values, it is a
// json.RawMessage.
func (Collection) MarshalJSON() ([]byte, error) { return nil, errJSON }
