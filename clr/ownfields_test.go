package clr

import (
	"strings"
	"testing"

	"github.com/gctrail/gctrail/trace"
)

// TestOwnFields writes payloads by the trace's own description of the event.
func TestOwnFields(t *testing.T) {
	scalar := func(c trace.TypeCode) trace.Field { return trace.Field{Name: "x", Type: c} }
	array := func(c, elem trace.TypeCode, n int) trace.Field {
		return trace.Field{Name: "x", Type: c, Elem: &trace.Field{Type: elem}, Count: n}
	}
	for _, tt := range []struct {
		name    string
		field   trace.Field
		payload string
		want    string // the value of x; empty if the payload is kept as it is
	}{
		{"boolean", scalar(trace.Boolean), "\x01\x00\x00\x00", `true`},
		{"boolean of a byte", scalar(trace.Boolean8), "\x00", `false`},
		{"char", scalar(trace.Char), "\"\x00", `"\""`},
		{"int8", scalar(trace.Int8), "\xff", `-1`},
		{"uint8", scalar(trace.Uint8), "\xff", `255`},
		{"int16", scalar(trace.Int16), "\xfe\xff", `-2`},
		{"uint16", scalar(trace.Uint16), "\xfe\xff", `65534`},
		{"int32", scalar(trace.Int32), "\xff\xff\xff\xff", `-1`},
		{"uint32", scalar(trace.Uint32), "\xff\xff\xff\xff", `4294967295`},
		{"int64", scalar(trace.Int64), "\x00\x00\x00\x00\x00\x00\x00\x80", `-9223372036854775808`},
		{"uint64", scalar(trace.Uint64), "\xff\xff\xff\xff\xff\xff\xff\xff", `18446744073709551615`},
		{"float32", scalar(trace.Float32), "\xcd\xcc\xcc\x3d", `0.1`},
		{"float64", scalar(trace.Float64), "\x9a\x99\x99\x99\x99\x99\xb9\x3f", `0.1`},
		{"large float64", scalar(trace.Float64), "\x50\xef\xe2\xd6\xe4\x1a\x4b\x44", `1e+21`},
		{"not a number", scalar(trace.Float64), "\x00\x00\x00\x00\x00\x00\xf8\x7f", `null`},
		{"infinite", scalar(trace.Float32), "\x00\x00\x80\xff", `null`},
		{"decimal", scalar(trace.Decimal), "\x00\x00\x02\x80\x00\x00\x00\x00\x39\x30\x00\x00\x00\x00\x00\x00", `-123.45`},
		{"small decimal", scalar(trace.Decimal), "\x00\x00\x03\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00", `0.005`},
		{"zero decimal", scalar(trace.Decimal), strings.Repeat("\x00", 16), `0`},
		{"largest decimal", scalar(trace.Decimal), "\x00\x00\x00\x00" + strings.Repeat("\xff", 12), `79228162514264337593543950335`},
		{"decimal with zeros inside", scalar(trace.Decimal), "\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\xe8\x89\x04\x23\xc7\x8a", `10000000000000000005`},
		{"impossible decimal", scalar(trace.Decimal), "\x01" + strings.Repeat("\x00", 15), ``},
		{"decimal of too small a scale", scalar(trace.Decimal), "\x00\x00\x1d" + strings.Repeat("\x00", 13), ``},
		{"time", scalar(trace.DateTime), "\x15\x81\xb1\xe3\x5c\x1f\xd5\x01", `"2019-06-10T07:19:49.4810901Z"`},
		{"time before 1970", scalar(trace.DateTime), strings.Repeat("\x00", 8), `"1601-01-01T00:00:00.0000000Z"`},
		{"time too late", scalar(trace.DateTime), strings.Repeat("\xff", 8), `18446744073709551615`},
		{"GUID", scalar(trace.GUID), "\x23\x0d\x3c\xe1\xbc\xcc\x12\x4e\x93\x1b\xd9\xcc\x2e\xee\x27\xe4", `"e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"`},
		{"string", scalar(trace.UTF16String), "a\x00\x00\xd8\x00\x00", `"a` + "\uFFFD" + `"`},
		{"string without end", scalar(trace.UTF16String), "a\x00b\x00", ``},
		{"varint", scalar(trace.VarInt), "\x03", `-2`},
		{"varuint", scalar(trace.VarUint), "\xac\x02", `300`},
		{"endless varuint", scalar(trace.VarUint), strings.Repeat("\xff", 11), ``},
		{"array", array(trace.Array, trace.Int32, 0), "\x02\x00\x01\x00\x00\x00\xff\xff\xff\xff", `[1,-1]`},
		{"empty array", array(trace.Array, trace.Int32, 0), "\x00\x00", `[]`},
		{"short array", array(trace.Array, trace.Int32, 0), "\x02\x00\x01\x00\x00\x00", ``},
		{"array of strings", array(trace.Array, trace.UTF16String, 0), "\x02\x00a\x00\x00\x00\x00\x00", `["a",""]`},
		{"array of bytes as text", array(trace.Array, trace.UTF8Unit, 0), "\x03\x00a\xc3\xa9", `"aé"`},
		{"array of chars as text", array(trace.Array, trace.Char, 0), "\x01\x00a\x00", `"a"`},
		{"fixed array", array(trace.FixedArray, trace.Uint16, 2), "\x01\x00\x02\x00", `[1,2]`},
		{"fixed array of text", array(trace.FixedArray, trace.UTF8Unit, 2), "ab", `"ab"`},
		{"fixed array of nothing", trace.Field{Name: "x", Type: trace.FixedArray, Elem: &trace.Field{Type: trace.Object}, Count: 1 << 30}, "abcd", ``},
		{"relative location", array(trace.RelLoc, trace.Uint16, 0), "\x01\x00\x04\x00_\x01\x00\x02\x00", `[1,2]`},
		{"location", array(trace.DataLoc, trace.UTF8Unit, 0), "\x04\x00\x02\x00ab", `"ab"`},
		{"location past the end", array(trace.DataLoc, trace.UTF8Unit, 0), "\x04\x00\x03\x00ab", ``},
		{"location of half an element", array(trace.DataLoc, trace.Uint16, 0), "\x04\x00\x03\x00abcd", ``},
		{"location of strings", array(trace.DataLoc, trace.UTF16String, 0), "\x04\x00\x02\x00\x00\x00", ``},
		{"array without elements", scalar(trace.Array), "\x00\x00", ``},
		{"unknown type", scalar(200), "\x00\x00", ``},
		{"gap in the types", scalar(2), "\x00\x00", ``},
		{"too short", scalar(trace.Int32), "\x00\x00", ``},
		{"object", trace.Field{Name: "x", Type: trace.Object, Fields: []trace.Field{
			{Name: "a", Type: trace.Uint8}, {Name: `"b"`, Type: trace.UTF16String},
		}}, "\x07z\x00\x00\x00", `{"a":7,"\"b\"":"z"}`},
		{"empty object", trace.Field{Name: "x", Type: trace.Object}, "", `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d Decoder
			ev := &trace.Event{
				Desc:    &trace.Descriptor{Provider: "P", Name: "E", Fields: []trace.Field{tt.field}},
				Payload: []byte(tt.payload), PointerSize: 8,
			}
			got := members(t, d.AppendFields(nil, ev))
			if tt.want == "" {
				if got["payload"] == nil || got["fields"] != nil {
					t.Errorf("got %v, want the payload", got)
				}
				return
			}
			text := string(d.AppendFields([]byte("before"), ev))
			if want := `before,"fields":{"x":` + tt.want + `}`; !strings.HasPrefix(text, want) {
				t.Errorf("got %s, want %s", text, want)
			}
			if extra := got["extra_bytes"]; extra != nil && tt.name != "string" {
				t.Errorf("extra bytes: %v", extra)
			}
		})
	}
}

// TestLocationsAreBounded: references to one place many times over do not multiply the
// output.
func TestLocationsAreBounded(t *testing.T) {
	const n = 1000
	fields := make([]trace.Field, n)
	payload := make([]byte, 0, 5*n)
	for i := range fields {
		fields[i] = trace.Field{Name: "x", Type: trace.DataLoc, Elem: &trace.Field{Type: trace.Uint8}}
		payload = append(payload, 0, 0, 0xa0, 0x0f) // 4000 bytes from the start
	}
	var d Decoder
	ev := &trace.Event{Desc: &trace.Descriptor{Fields: fields}, Payload: payload}
	if got := string(d.AppendFields(nil, ev)); !strings.HasPrefix(got, `,"payload":`) {
		t.Errorf("got %d bytes", len(got))
	}
}

func TestDescriptionsAreBounded(t *testing.T) {
	f := trace.Field{Name: "x", Type: trace.Uint8}
	for range 100 {
		f = trace.Field{Name: "x", Type: trace.Object, Fields: []trace.Field{f}}
	}
	var d Decoder
	ev := &trace.Event{Desc: &trace.Descriptor{Fields: []trace.Field{f}}, Payload: []byte{1}}
	if got, want := string(d.AppendFields(nil, ev)), `,"payload":"AQ=="`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestUniversalStrings: one-collect declares its strings as one character, and writes a
// length.
func TestUniversalStrings(t *testing.T) {
	var d Decoder
	ev := &trace.Event{
		Desc: &trace.Descriptor{Provider: "Universal.System", Fields: []trace.Field{
			{Name: "Id", Type: trace.VarUint}, {Name: "Name", Type: trace.UTF8Unit},
		}},
		Payload: []byte("\x05\x02\x00ab\x00\x00"),
	}
	got := string(d.AppendFields(nil, ev))
	if want := `,"fields":{"Id":5,"Name":"ab"},"extra_bytes":2`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestUndescribed(t *testing.T) {
	var d Decoder
	for _, tt := range []struct {
		desc    trace.Descriptor
		payload string
		name    string
		want    string
	}{
		{trace.Descriptor{Provider: RuntimeProvider, ID: 8500}, "ab", "EventID(8500)", `,"payload":"YWI="`},
		{trace.Descriptor{Provider: "P", ID: 85, Name: "Named"}, "", "Named", `,"fields":{}`},
		{trace.Descriptor{Provider: RuntimeProvider, ID: 1, Name: "GCStart_V2", Version: 2}, "", "GCStart", `,"fields":{},"fields_short":true`},
	} {
		ev := &trace.Event{Desc: &tt.desc, Payload: []byte(tt.payload)}
		if got := d.Name(ev.Desc); got != tt.name {
			t.Errorf("name %s, want %s", got, tt.name)
		}
		if got := string(d.AppendFields(nil, ev)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
