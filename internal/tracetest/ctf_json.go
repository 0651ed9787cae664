package tracetest

import "encoding/json"

type object = map[string]any

// json returns the metadata in CTF 2.
func (t *traceText) json() string {
	var uuid []int
	for _, b := range t.uuid {
		uuid = append(uuid, int(b))
	}
	env := object{}
	for _, kv := range t.env {
		env[kv[0]] = kv[1]
	}
	u8s := object{"type": "static-length-blob", "length": 16, "roles": []string{"metadata-stream-uuid"}}
	fragments := []object{
		{"type": "preamble", "version": 2, "uuid": uuid},
		{"type": "trace-class", "environment": env, "packet-header-field-class": structure(1,
			member("magic", t.class(t.u(32), "packet-magic-number")),
			member("uuid", u8s),
			member("stream_id", t.class(t.u(32), "data-stream-class-id")),
			member("stream_instance_id", t.class(t.u(64), "data-stream-id")))},
		{
			"type": "clock-class", "id": "monotonic", "name": "monotonic", "frequency": t.freq,
			"offset-from-origin": object{"seconds": int64(t.seconds), "cycles": int64(t.cycles)}, "origin": "unix-epoch",
		},
	}
	for _, s := range t.streams {
		fragments = append(fragments, t.jsonStream(s))
	}
	for _, e := range t.events {
		fragments = append(fragments, object{
			"type": "event-record-class", "id": e.id, "data-stream-class-id": e.stream, "name": e.name,
			"payload-field-class": structure(1, t.members(e.fields, "event-record-payload")...),
		})
	}
	var out []byte
	for _, f := range fragments {
		b, err := json.MarshalIndent(f, "", "  ")
		if err != nil {
			panic("tracetest: " + err.Error())
		}
		out = append(append(out, 0x1e), b...)
	}
	return string(out)
}

func (t *traceText) jsonStream(s *streamText) object {
	context := []object{
		member("timestamp_begin", t.class(t.u(64), "default-clock-timestamp")),
		member("timestamp_end", t.class(t.u(64), "packet-end-default-clock-timestamp")),
		member("content_size", t.class(t.u(64), "packet-content-length")),
		member("packet_size", t.class(t.u(64), "packet-total-length")),
	}
	if s.seq {
		context = append(context, member("packet_seq_num", t.class(t.u(64), "packet-sequence-number")))
	}
	if s.count > 0 {
		context = append(context, member("events_discarded", t.class(t.u(s.count), "discarded-event-record-counter-snapshot")))
	}
	context = append(context, member("cpu_id", t.class(t.u(32))))
	o := object{
		"type": "data-stream-class", "id": s.id, "default-clock-class-id": "monotonic",
		"packet-context-field-class":      structure(1, context...),
		"event-record-header-field-class": t.jsonHeader(s),
	}
	if s.context != nil {
		o["event-record-common-context-field-class"] = structure(1, t.members(s.context, "event-record-common-context")...)
	}
	return o
}

func (t *traceText) jsonHeader(s *streamText) object {
	id, stamp, last, align := t.u(16), t.u(32), 65535, t.largeAlign()
	switch s.header {
	case "compact":
		id, stamp, last, align = t.u(5), t.u(27), 31, 8
	case "none":
		return structure(1, member("id", t.class(t.u(32), "event-record-class-id")), member("timestamp", t.class(t.u(64), "default-clock-timestamp")))
	}
	return structure(align,
		member("id", t.class(id, "event-record-class-id")),
		member("v", object{
			"type": "variant", "selector-field-location": object{"origin": "event-record-header", "path": []string{"id"}},
			"options": []object{
				{"name": "compact", "selector-field-ranges": [][]int{{0, last - 1}}, "field-class": structure(1,
					member("timestamp", t.class(stamp, "default-clock-timestamp")))},
				{"name": "extended", "selector-field-ranges": [][]int{{last, last}}, "field-class": structure(1,
					member("id", t.class(t.u(32), "event-record-class-id")),
					member("timestamp", t.class(t.u(64), "default-clock-timestamp")))},
			},
		}))
}

func structure(align int, members ...object) object {
	return object{"type": "structure", "member-classes": members, "minimum-alignment": align}
}

func member(name string, class object) object { return object{"name": name, "field-class": class} }

func (t *traceText) members(fields []ctfField, origin string) []object {
	out := []object{}
	for _, f := range fields {
		var class object
		switch f.typ.kind {
		case 'b':
			class = object{"type": "dynamic-length-array", "element-field-class": t.class(typ{kind: 'i', size: 8, align: 8})}
		case 'B':
			class = object{"type": "dynamic-length-blob"}
		case 'q':
			class = object{"type": "dynamic-length-array", "element-field-class": t.class(*f.typ.elem)}
		default:
			out = append(out, member(f.name, t.class(f.typ)))
			continue
		}
		length := "_" + f.name + "_length"
		class["length-field-location"] = object{"origin": origin, "path": []string{length}}
		out = append(out, member(length, t.class(t.u(32))), member(f.name, class))
	}
	return out
}

// numberTypes are the field classes of numbers.
var numberTypes = map[byte]string{
	'u': "fixed-length-unsigned-integer", 'i': "fixed-length-signed-integer", 'f': "fixed-length-floating-point-number",
}

// class returns the field class of a type without a length of its own.
func (t *traceText) class(ty typ, roles ...string) object {
	o := object{}
	if roles != nil {
		o["roles"] = roles
	}
	switch ty.kind {
	case 'u', 'i', 'f':
		o["type"], o["length"], o["alignment"] = numberTypes[ty.kind], ty.size, ty.align
		o["byte-order"] = map[bool]string{false: "little-endian", true: "big-endian"}[ty.big]
	case 's':
		o["type"] = "null-terminated-string"
	case 't':
		o["type"], o["length"] = "static-length-string", ty.size
	case 'a':
		o["type"], o["length"], o["element-field-class"] = "static-length-array", ty.size, t.class(*ty.elem)
	default:
		panic("tracetest: a sequence within another type")
	}
	return o
}
