package clr

import (
	"encoding/base64"
	"strconv"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// A Decoder names events and writes their fields as JSON. It knows the events of this
// package's table, and others as far as the trace describes them. Use one Decoder for a
// trace, because it caches a plan for each Descriptor. The zero Decoder is ready for use,
// by one goroutine at a time.
type Decoder struct {
	plans    map[*trace.Descriptor]*plan
	lastDesc *trace.Descriptor
	lastPlan *plan
	out      jsonWriter
}

// A plan is how a Decoder writes the events of one Descriptor.
type plan struct {
	kind   Kind
	name   string
	layout *layout // nil if there is none
	own    bool    // the layout is the trace's, not the table's
	flat   flat    // of the latest event
}

// Name returns the name of the events with this Descriptor: the name in the table, or in
// the table of other events, without a version; else the name in the trace; else the id, as
// in "EventID(85)".
func (d *Decoder) Name(desc *trace.Descriptor) string { return d.plan(desc).name }

// AppendFields appends ev's payload as members of a JSON object, each with a comma before
// it:
//
//   - fields: the fields by name. Integers are exact, floats the shortest that
//     read back the same (null for NaN and infinities), bytes base64, GUIDs
//     lower case with dashes, enums numbers. Names are the manifest's, and
//     padding is left out; but where the Descriptor has RawStructs, members of
//     arrays bear the names of the runtime's C structures (gcrecord.h) in the
//     manifest's spelling, and padding is among them, as _pad.
//   - fields_text: the words of the enums among them, a string or, for flags, an
//     array of strings; enums inside arrays and numbers without a word have none.
//   - dynamic: the members of a GCDynamicEvent that DynamicKindOf knows.
//   - fields_short, true: the payload ends too early, and fields lacks what is
//     not there.
//   - extra_bytes: the number of bytes after the last field.
//
// If neither the table nor the trace describes the fields, or the payload does not agree
// with the trace's description, the only member is payload, in base64; if there is no
// payload either, fields is empty.
func (d *Decoder) AppendFields(dst []byte, ev *trace.Event) []byte {
	p := d.plan(ev.Desc)
	switch {
	case p.layout == nil && len(ev.Payload) == 0:
		return append(dst, `,"fields":{}`...)
	case p.layout == nil:
		return appendPayload(dst, ev.Payload)
	}
	start := len(dst)
	w := &d.out
	w.reset(dst, ev)
	layout := p.layout
	if p.kind != KindUnknown {
		layout = schemas[p.kind].layout(VersionOf(p.kind, ev.Desc.Version, ev.Payload, ev.PointerSize))
	}
	if p.flat.layout != layout || p.flat.ptrSize != ev.PointerSize {
		p.flat = flatten(layout, ev.PointerSize)
	}
	if p.flat.fields != nil && len(ev.Payload) >= p.flat.least {
		w.flat(&p.flat)
	} else {
		w.dst = append(w.dst, `,"fields":`...)
		w.object(layout.fields)
	}
	if p.own && !w.c.OK() {
		return appendPayload(w.dst[:start], ev.Payload)
	}
	short, extra := !w.c.OK(), w.extra(layout.padding)
	w.enumWords()
	if p.kind == KindGCDynamicEvent {
		w.dynamic(ev)
	}
	if short {
		w.dst = append(w.dst, `,"fields_short":true`...)
	}
	if extra > 0 {
		w.dst = strconv.AppendInt(append(w.dst, `,"extra_bytes":`...), int64(extra), 10)
	}
	dst, w.dst = w.dst, nil
	return dst
}

func appendPayload(dst, payload []byte) []byte {
	dst = append(dst, `,"payload":"`...)
	return append(base64.StdEncoding.AppendEncode(dst, payload), '"')
}

func (d *Decoder) plan(desc *trace.Descriptor) *plan {
	if desc == d.lastDesc {
		return d.lastPlan
	}
	p := d.plans[desc]
	if p == nil {
		p = newPlan(desc)
		if d.plans == nil {
			d.plans = map[*trace.Descriptor]*plan{}
		}
		d.plans[desc] = p
	}
	d.lastDesc, d.lastPlan = desc, p
	return p
}

func newPlan(desc *trace.Descriptor) *plan {
	if k := KindOf(desc.Provider, desc.ID); k != KindUnknown {
		return &plan{kind: k, name: k.String(), layout: schemas[k].layout(desc.Version)}
	}
	p := &plan{name: desc.Name, layout: ownLayout(desc), own: true}
	if o := otherEvent(desc); o != nil {
		p.name = o.name
		if p.layout == nil {
			p.layout, p.own = &o.layout, false
		}
	}
	if p.name == "" {
		p.name = "EventID(" + strconv.FormatUint(uint64(desc.ID), 10) + ")"
	}
	return p
}

// enumWords writes the words of the enums met by object.
func (w *jsonWriter) enumWords() {
	if len(w.enums) == 0 {
		return
	}
	w.dst = append(w.dst, `,"fields_text":{`...)
	for i, e := range w.enums {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(w.dst, e.field.key...)
		if !e.field.words.set {
			w.dst = append(append(append(w.dst, '"'), e.field.words.word(e.value)...), '"')
			continue
		}
		start := len(w.dst)
		w.dst = e.field.words.appendNames(append(w.dst, `["`...), e.value, `","`)
		if len(w.dst) == start+len(`["`) {
			w.dst = append(w.dst[:start], `[]`...)
		} else {
			w.dst = append(w.dst, `"]`...)
		}
	}
	w.dst = append(w.dst, '}')
}

// dynamic writes the members of the event inside a GCDynamicEvent.
func (w *jsonWriter) dynamic(ev *trace.Event) {
	var e GCDynamicEvent
	if err := e.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize); err != nil && e.Data == nil {
		return
	}
	k := DynamicKindOf(e.Name)
	if k == DynamicUnknown {
		return
	}
	w.dst = append(w.dst, `,"dynamic":`...)
	w.c, w.payload = binread.At(e.Data, 0), e.Data
	w.object(dynamicSchemas[k].layouts[0].fields)
}
