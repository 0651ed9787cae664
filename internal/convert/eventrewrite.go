package convert

import (
	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// rewrite decodes an event's payload and appends it encoded again, redacted or with another
// pointer size. It returns false if the fields are not known.
func (w *eventWriter) rewrite(dst []byte, ev *trace.Event) ([]byte, bool) {
	kind := clr.KindOf(ev.Desc.Provider, ev.Desc.ID)
	switch {
	case kind == clr.KindUnknown && w.Redact != nil:
		return w.Redact.Sample(dst, ev)
	case kind == clr.KindUnknown:
		return dst, len(ev.Payload) == 0
	}
	e := w.decoded[kind]
	if e == nil {
		e = kind.New()
		w.decoded[kind] = e
	}
	version := clr.VersionOf(kind, ev.Desc.Version, ev.Payload, ev.PointerSize)
	if e.Decode(version, ev.Payload, ev.PointerSize) != nil {
		return dst, false
	}
	if w.Redact != nil && !w.Redact.Fields(ev, e) {
		return dst, false
	}
	return e.Append(dst, version, w.pointerSize), true
}
