package convert

import (
	"reflect"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// An applier redacts one field of a struct.
type applier func(r *Redactor, ev *trace.Event, of, field reflect.Value)

// A step treats one field.
type step struct {
	index int // of the field
	group int
	apply applier
}

// stepsFor returns the steps that redact the events of a kind, nil if they are left out.
func (r *Redactor) stepsFor(kind clr.Kind) []step {
	steps, known := r.steps[kind]
	if !known {
		if t := reflect.TypeOf(kind.New()).Elem(); !slices.Contains(strings.Fields(omitted), t.Name()) {
			steps = stepsOf(t)
		}
		r.steps[kind] = steps
	}
	return steps
}

// stepsOf returns the steps for the fields of a struct, nil if one of them has no treatment.
func stepsOf(t reflect.Type) []step {
	steps := []step{}
	for i := range t.NumField() {
		f := t.Field(i)
		g, known := treatmentOf(t.Name(), f.Name)
		if !known {
			return nil
		}
		apply := groups[g].apply
		if apply == nil && f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			inner := stepsOf(f.Type.Elem())
			if inner == nil {
				return nil
			}
			apply = eachElement(inner)
		}
		if apply != nil {
			steps = append(steps, step{i, g, apply})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.group - b.group })
	return steps
}

// eachElement returns an applier that takes steps for each element of a list.
func eachElement(steps []step) applier {
	return func(r *Redactor, ev *trace.Event, _, list reflect.Value) {
		for i := range list.Len() {
			r.take(steps, ev, list.Index(i))
		}
	}
}

func (r *Redactor) take(steps []step, ev *trace.Event, of reflect.Value) {
	for _, s := range steps {
		s.apply(r, ev, of, of.Field(s.index))
	}
}

// Fields redacts the fields of a decoded event. It returns false if the event is to be
// left out.
func (r *Redactor) Fields(ev *trace.Event, e clr.Event) bool {
	steps := r.stepsFor(e.EventKind())
	if steps == nil {
		return false
	}
	if d, ok := e.(*clr.GCDynamicEvent); ok && clr.DynamicKindOf(d.Name) == clr.DynamicUnknown {
		return false
	}
	r.take(steps, ev, reflect.ValueOf(e).Elem())
	return true
}

func zeroed(_ *Redactor, _ *trace.Event, _, f reflect.Value) { f.SetZero() }

func codeSize(_ *Redactor, _ *trace.Event, _, f reflect.Value) {
	f.SetUint(min(f.Uint(), 1) * slotSize)
}

// Flags of methods (eventtrace.h): dynamic, generic and shared code, and jitted code. The
// others say how a method was compiled.
const (
	keptFlags = 0x7
	jitted    = 0x8
)

func codeFlags(_ *Redactor, _ *trace.Event, _, f reflect.Value) {
	f.SetUint(f.Uint()&keptFlags | jitted)
}

// rewritten returns an applier that replaces text.
func rewritten(with func(*Redactor, string) string) applier {
	return func(r *Redactor, _ *trace.Event, _, f reflect.Value) {
		rewrite(f, func(s string) string { return with(r, s) })
	}
}

// rewrite replaces the text of a field.
func rewrite(field reflect.Value, with func(string) string) {
	switch s := field.Addr().Interface().(type) {
	case *clr.UTF16:
		*s = clr.NewUTF16(with(s.String()))
	case *clr.ANSI:
		*s = clr.ANSI(with(s.String()))
	}
}

// renumber replaces a number, or each of a list.
func renumber(f reflect.Value, with func(uint64) uint64) {
	if f.Kind() != reflect.Slice {
		f.SetUint(with(f.Uint()))
		return
	}
	for i := range f.Len() {
		renumber(f.Index(i), with)
	}
}

func (r *Redactor) identifier(ev *trace.Event, _, f reflect.Value) {
	renumber(f, func(id uint64) uint64 { return r.ids.id(id, ev.PointerSize) })
}

func (r *Redactor) codeInside(ev *trace.Event, _, f reflect.Value) {
	renumber(f, func(address uint64) uint64 { return r.code.inside(ev.PID, address, ev.Time()) })
}

func (r *Redactor) codeStart(ev *trace.Event, _, f reflect.Value) {
	at := ev.Time()
	if clr.KindOf(ev.Desc.Provider, ev.Desc.ID) == clr.KindMethodUnloadVerbose {
		at-- // at the time of the event, the method is gone
	}
	f.SetUint(r.code.start(ev.PID, f.Uint(), at))
}

// dynamicData cuts the bytes of a dynamic event after the ones that the runtime defines.
func dynamicData(_ *Redactor, _ *trace.Event, of, _ reflect.Value) {
	e := of.Addr().Interface().(*clr.GCDynamicEvent)
	e.Data = e.Data[:min(len(e.Data), clr.DynamicKindOf(e.Name).Size())]
	e.DataSize = uint32(len(e.Data))
}

// The values of CorElementType that more than one type has (corhdr.h).
const (
	elementValueType = 0x11
	elementClassType = 0x12
	elementArray     = 0x14
	elementTypedRef  = 0x16
	elementIntPtr    = 0x18
	elementUIntPtr   = 0x19
	elementSZArray   = 0x1d
	elementString    = 0x0e
)

// elementType reduces an element type to array, value type or class.
func elementType(_ *Redactor, _ *trace.Event, _, f reflect.Value) {
	switch e := f.Uint(); {
	case e == elementArray || e == elementSZArray: // stays
	case e > 0 && e < elementString, e == elementValueType, e == elementTypedRef, e == elementIntPtr, e == elementUIntPtr:
		f.SetUint(elementValueType)
	default:
		f.SetUint(elementClassType)
	}
}
