package emit_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/trace"
)

// TestCustomFields: fields of all types come back with the trace's own description.
func TestCustomFields(t *testing.T) {
	values := []struct {
		field trace.Field
		value any
		want  string
	}{
		{trace.Field{Type: trace.Boolean}, true, `true`},
		{trace.Field{Type: trace.Char}, uint16('x'), `"x"`},
		{trace.Field{Type: trace.Int8}, int8(-1), `-1`},
		{trace.Field{Type: trace.Uint8}, uint8(255), `255`},
		{trace.Field{Type: trace.Int16}, int16(-2), `-2`},
		{trace.Field{Type: trace.Uint16}, uint16(2), `2`},
		{trace.Field{Type: trace.Int32}, int32(-3), `-3`},
		{trace.Field{Type: trace.Uint32}, uint32(3), `3`},
		{trace.Field{Type: trace.Int64}, int64(-4), `-4`},
		{trace.Field{Type: trace.Uint64}, uint64(1<<64 - 1), `18446744073709551615`},
		{trace.Field{Type: trace.Float32}, float32(0.5), `0.5`},
		{trace.Field{Type: trace.Float64}, 0.25, `0.25`},
		{trace.Field{Type: trace.GUID}, [16]byte{1}, `"00000001-0000-0000-0000-000000000000"`},
		{trace.Field{Type: trace.UTF16String}, "Größe\x00cut", `"Größe"`},
		{trace.Field{Type: trace.Array, Elem: &trace.Field{Type: trace.Uint16}}, []uint16{1, 2}, `[1,2]`},
		{trace.Field{Type: trace.Array, Elem: &trace.Field{Type: trace.UTF16String}}, []string{"a", "b"}, `["a","b"]`},
		{trace.Field{Type: trace.Array, Elem: &trace.Field{Type: trace.Boolean}}, []bool{false}, `[false]`},
	}
	for _, format := range []int{4, 6} {
		p := newProvider(t, emit.ProviderOptions{})
		d := trace.Descriptor{Provider: "P", ID: 9, Version: 3, Name: "All", Level: 5, Keywords: 8}
		var args []any
		for i, v := range values {
			v.field.Name = string(rune('a' + i))
			d.Fields = append(d.Fields, v.field)
			args = append(args, v.value)
		}
		c, err := p.Define(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Raise(); err != nil || c.Enabled() {
			t.Errorf("without a session: %v", err)
		}
		var out bytes.Buffer
		s := start(t, p, &out, emit.SessionOptions{
			Version: format, NoRundown: true, Providers: []emit.Wanted{{Provider: "P", Keywords: 8, Level: 5}},
		})
		if err := c.Raise(args...); err != nil {
			t.Fatal(err)
		}
		refused(t, c, args)
		late, err := p.Define(trace.Descriptor{Provider: "P", ID: 10, Name: "Late"})
		if err != nil {
			t.Fatal(err)
		}
		if !late.Enabled() {
			t.Error("an event that is defined during a session is not for it")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		events := readAll(t, &out)
		if len(events) != 1 || events[0].Desc.Version != 3 || events[0].Desc.Keywords != 8 {
			t.Fatalf("got %+v", events)
		}
		var decoder clr.Decoder
		var got struct{ Fields map[string]json.RawMessage }
		if err := json.Unmarshal(append(append([]byte{'{'}, decoder.AppendFields(nil, events[0])[1:]...), '}'), &got); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if have := string(got.Fields[string(rune('a'+i))]); have != v.want {
				t.Errorf("V%d, type %d: got %s, want %s", format, v.field.Type, have, v.want)
			}
		}
	}
}

func TestDefineRefuses(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	largest := trace.Descriptor{Provider: "P", ID: 1<<16 - 1, Name: "N", Version: 255, Level: 5}
	if _, err := p.Define(largest); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(*trace.Descriptor){
		"no provider":         func(d *trace.Descriptor) { d.Provider = "" },
		"no name":             func(d *trace.Descriptor) { d.Name = "" },
		"the runtime's":       func(d *trace.Descriptor) { d.Provider, d.ID = clr.RuntimeProvider, clr.KindGCStart.ID() },
		"too large an id":     func(d *trace.Descriptor) { d.ID++ },
		"too new":             func(d *trace.Descriptor) { d.Version++ },
		"too verbose":         func(d *trace.Descriptor) { d.Level++ },
		"a type of V6 only":   func(d *trace.Descriptor) { d.Fields = []trace.Field{{Name: "F", Type: trace.VarInt}} },
		"an array of nothing": func(d *trace.Descriptor) { d.Fields = []trace.Field{{Name: "F", Type: trace.Array}} },
	} {
		d := largest
		change(&d)
		if _, err := p.Define(d); err == nil {
			t.Errorf("%s: %+v was defined", what, d)
		}
	}
}

// refused passes a value of a wrong type for each argument in turn.
func refused(t *testing.T, c *emit.Custom, args []any) {
	t.Helper()
	if err := c.Raise(args[1:]...); err == nil {
		t.Error("a value is missing")
	}
	for i := range args {
		for _, wrong := range []any{nil, complex(1, 1)} {
			with := append([]any(nil), args...)
			with[i] = wrong
			if err := c.Raise(with...); err == nil {
				t.Errorf("field %d: a %T was taken", i, wrong)
			}
		}
	}
}
