package nettrace

import (
	"reflect"
	"slices"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// A rewriter decodes payloads and encodes them again, with other strings or another
// pointer size.
type rewriter struct {
	redact *Redactor // nil to leave strings as they are
	events map[clr.Kind]*rewritten
}

// A rewritten event describes how one kind is decoded, and which of its strings
// are redacted.
type rewritten struct {
	event   clr.Event
	strings []*clr.UTF16
	bytes   []*clr.ANSI
	runtime *clr.UTF16      // the path of the runtime's library
	arrays  []reflect.Value // of structures
}

// payload appends an event's payload, rewritten. It returns false if the fields
// are not known.
func (r *rewriter) payload(dst []byte, ev *trace.Event, pointerSize int) ([]byte, bool) {
	kind := clr.KindOf(ev.Desc.Provider, ev.Desc.ID)
	if kind == clr.KindUnknown {
		return dst, len(ev.Payload) == 0
	}
	e := r.events[kind]
	if e == nil {
		e = &rewritten{event: kind.New()}
		e.find(reflect.ValueOf(e.event).Elem(), kept[kind])
		r.events[kind] = e
	}
	version := clr.VersionOf(kind, ev.Desc.Version, ev.Payload, ev.PointerSize)
	if e.event.Decode(version, ev.Payload, ev.PointerSize) != nil {
		return dst, false
	}
	if r.redact != nil && !r.names(e) {
		return dst, false
	}
	return e.event.Append(dst, version, pointerSize), true
}

// names redacts the strings of an event. It returns false if the layout of a
// part of the event is unknown.
func (r *rewriter) names(e *rewritten) bool {
	if d, ok := e.event.(*clr.GCDynamicEvent); ok && clr.DynamicKindOf(d.Name) == clr.DynamicUnknown {
		return false
	}
	e.replace(r.redact)
	for _, array := range e.arrays {
		for i := range array.Len() {
			var of rewritten
			of.find(array.Index(i), nil)
			of.replace(r.redact)
		}
	}
	return true
}

func (e *rewritten) replace(by *Redactor) {
	for _, s := range e.strings {
		if len(*s) > 0 {
			*s = clr.NewUTF16(by.name(s.String()))
		}
	}
	if e.runtime != nil && len(*e.runtime) > 0 {
		*e.runtime = clr.NewUTF16(by.runtimePath(e.runtime.String()))
	}
	for _, s := range e.bytes {
		if len(*s) > 0 {
			*s = clr.ANSI(by.name(s.String()))
		}
	}
}

// find collects the strings of a structure, except those that are kept, and its
// arrays of structures.
func (e *rewritten) find(v reflect.Value, kept []string) {
	for i := range v.NumField() {
		if slices.Contains(kept, v.Type().Field(i).Name) {
			continue
		}
		switch f := v.Field(i).Addr().Interface().(type) {
		case *clr.UTF16:
			if v.Type().Field(i).Name == "RuntimeDllPath" {
				e.runtime = f
				continue
			}
			e.strings = append(e.strings, f)
		case *clr.ANSI:
			e.bytes = append(e.bytes, f)
		default:
			if v.Field(i).Kind() == reflect.Slice && v.Field(i).Type().Elem().Kind() == reflect.Struct {
				e.arrays = append(e.arrays, v.Field(i))
			}
		}
	}
}
