package convert

import (
	"reflect"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// A plan has the steps that redact one kind of event.
type plan struct {
	steps  []step
	arrays []array
}

// An applier redacts one field of a struct.
type applier func(r *Redactor, ev *trace.Event, of, field reflect.Value)

// A step applies the treatment of one field.
type step struct {
	index int
	apply applier
}

// An array is a field with structures, whose fields are treated.
type array struct {
	index int
	steps []step
}

// planOf returns the plan of a kind, nil if its events are left out.
func (r *Redactor) planOf(kind clr.Kind) *plan {
	if r.plans[kind] == nil {
		r.plans[kind] = newPlan(kind)
	}
	if r.plans[kind].steps == nil {
		return nil
	}
	return r.plans[kind]
}

func newPlan(kind clr.Kind) *plan {
	p := new(plan)
	t := reflect.TypeOf(kind.New()).Elem()
	if slices.Contains(strings.Fields(omitted), t.Name()) {
		return p
	}
	steps, ok := stepsOf(t)
	for i := range t.NumField() {
		if treatmentOf(t.Name(), t.Field(i).Name) != nested {
			continue
		}
		inner, known := stepsOf(t.Field(i).Type.Elem())
		p.arrays = append(p.arrays, array{i, inner})
		ok = ok && known
	}
	if !ok {
		return new(plan)
	}
	p.steps = append([]step{}, steps...)
	return p
}

// stepsOf returns the steps for the fields of a struct. It returns false if one of them
// has no treatment. Ids come last, because other steps look them up.
func stepsOf(t reflect.Type) ([]step, bool) {
	var steps, ids []step
	for i := range t.NumField() {
		does := treatmentOf(t.Name(), t.Field(i).Name)
		if does == 0 {
			return nil, false
		}
		apply := appliers[does]
		switch {
		case apply == nil:
		case does == identifier:
			ids = append(ids, step{i, apply})
		default:
			steps = append(steps, step{i, apply})
		}
	}
	return append(steps, ids...), true
}

// Fields redacts the fields of a decoded event. It returns false if the event is to be
// left out.
func (r *Redactor) Fields(ev *trace.Event, e clr.Event) bool {
	p := r.planOf(e.EventKind())
	if p == nil {
		return false
	}
	if d, ok := e.(*clr.GCDynamicEvent); ok && clr.DynamicKindOf(d.Name) == clr.DynamicUnknown {
		return false
	}
	v := reflect.ValueOf(e).Elem()
	for _, s := range p.steps {
		s.apply(r, ev, v, v.Field(s.index))
	}
	for _, a := range p.arrays {
		elements := v.Field(a.index)
		for i := range elements.Len() {
			element := elements.Index(i)
			for _, s := range a.steps {
				s.apply(r, ev, element, element.Field(s.index))
			}
		}
	}
	return true
}

// appliers has the function of each treatment that changes anything.
var appliers = map[treatment]applier{
	hashed:     func(r *Redactor, _ *trace.Event, _, f reflect.Value) { rewrite(f, r.Name) },
	typeName:   func(r *Redactor, _ *trace.Event, _, f reflect.Value) { rewrite(f, r.typeName) },
	exception:  func(r *Redactor, _ *trace.Event, _, f reflect.Value) { rewrite(f, r.exception) },
	methodName: (*Redactor).method,
	modulePath: (*Redactor).module,
	assembly:   (*Redactor).assembly,
	identifier: func(r *Redactor, ev *trace.Event, _, f reflect.Value) {
		renumber(f, func(id uint64) uint64 { return r.ids.id(id, ev.PointerSize) })
	},
	codeStart: (*Redactor).codeStart,
	codeInside: func(r *Redactor, ev *trace.Event, _, f reflect.Value) {
		renumber(f, func(address uint64) uint64 { return r.code.inside(ev.PID, address, ev.Time()) })
	},
	codeSize: func(_ *Redactor, _ *trace.Event, _, f reflect.Value) { f.SetUint(min(f.Uint(), 1) * slotSize) },
	zeroed:   func(_ *Redactor, _ *trace.Event, _, f reflect.Value) { f.SetZero() },
	elementType: func(_ *Redactor, _ *trace.Event, _, f reflect.Value) {
		f.SetUint(uint64(elementClass(uint8(f.Uint()))))
	},
	codeFlags:   func(_ *Redactor, _ *trace.Event, _, f reflect.Value) { f.SetUint(f.Uint()&keptFlags | jitted) },
	pathVersion: func(_ *Redactor, _ *trace.Event, _, f reflect.Value) { rewrite(f, versionOf) },
	settings:    func(r *Redactor, _ *trace.Event, _, f reflect.Value) { rewrite(f, r.settings) },
	platform:    func(r *Redactor, _ *trace.Event, _, f reflect.Value) { rewrite(f, r.platform) },
	dynamicData: func(_ *Redactor, _ *trace.Event, of, _ reflect.Value) {
		cutData(of.Addr().Interface().(*clr.GCDynamicEvent))
	},
}

// Flags of methods (eventtrace.h): dynamic, generic and shared code, and jitted code. The
// others say how a method was compiled.
const (
	keptFlags = 0x7
	jitted    = 0x8
)

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

func (r *Redactor) codeStart(ev *trace.Event, _, f reflect.Value) {
	at := ev.Time()
	if clr.KindOf(ev.Desc.Provider, ev.Desc.ID) == clr.KindMethodUnloadVerbose {
		at-- // at the time of the event, the method is gone
	}
	f.SetUint(r.code.start(ev.PID, f.Uint(), at))
}

// cutData cuts the bytes of a dynamic event after the ones that the runtime defines.
func cutData(e *clr.GCDynamicEvent) {
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

// elementClass returns the kind of an element type.
func elementClass(e uint8) uint8 {
	switch {
	case e == elementArray || e == elementSZArray:
		return e
	case e > 0 && e < elementString, e == elementValueType, e == elementTypedRef, e == elementIntPtr, e == elementUIntPtr:
		return elementValueType
	default:
		return elementClassType
	}
}
