package convert

import (
	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/redact"
	"github.com/gctrail/gctrail/trace"
)

// A rewriter decodes payloads and encodes them again, redacted or with another pointer
// size.
type rewriter struct {
	redact *redact.Redactor // nil to leave fields as they are
	events map[clr.Kind]clr.Event
}

// payload appends an event's payload, rewritten. It returns false if the fields
// are not known.
func (r *rewriter) payload(dst []byte, ev *trace.Event, pointerSize int) ([]byte, bool) {
	kind := clr.KindOf(ev.Desc.Provider, ev.Desc.ID)
	switch {
	case kind == clr.KindUnknown && r.redact != nil:
		return r.redact.Sample(dst, ev)
	case kind == clr.KindUnknown:
		return dst, len(ev.Payload) == 0
	}
	e := r.events[kind]
	if e == nil {
		e = kind.New()
		r.events[kind] = e
	}
	version := clr.VersionOf(kind, ev.Desc.Version, ev.Payload, ev.PointerSize)
	if e.Decode(version, ev.Payload, ev.PointerSize) != nil {
		return dst, false
	}
	if r.redact != nil && !r.redact.Fields(ev, e) {
		return dst, false
	}
	return e.Append(dst, version, pointerSize), true
}
