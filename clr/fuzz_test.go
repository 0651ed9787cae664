package clr

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// FuzzDecode checks that, for any payload, a struct's Decode and AppendFields return the
// same fields, and agree on whether the payload was complete.
func FuzzDecode(f *testing.F) {
	for _, p := range realPayloads(f) {
		f.Add(uint16(KindOf(p.Provider, p.ID)), p.Version, p.Payload, p.PointerSize == 4)
	}
	f.Add(uint16(KindBulkType), uint32(0), bulkType(2, 3), false)
	f.Add(uint16(KindPrivateGCPerHeapHistory), uint32(2), make([]byte, 233), true)
	f.Fuzz(func(t *testing.T, kind uint16, version uint32, payload []byte, short bool) {
		k := 1 + Kind(kind)%(numKinds-1)
		ptrSize := 8
		if short {
			ptrSize = 4
		}
		s := k.New()
		err := s.Decode(VersionOf(k, version, payload, ptrSize), payload, ptrSize)
		if err != nil && !errors.Is(err, binread.ErrTruncated) {
			t.Fatal(err)
		}
		var d Decoder
		out := members(t, d.AppendFields(nil, event(k, version, payload, ptrSize)))
		if (out["fields_short"] != nil) != (err != nil) {
			t.Fatalf("%v: %v, JSON %v", k, err, out)
		}
		agree(t, out["fields"].(map[string]any), reflect.ValueOf(s).Elem())
	})
}

// FuzzAppendFields checks that the result is JSON, the same each time, and bounded by the
// sizes of payload and description, for any description that a trace could give.
func FuzzAppendFields(f *testing.F) {
	f.Add([]byte{18, 9}, []byte("a\x00\x00\x00\x01\x00\x00\x00"))
	f.Add([]byte{19, 1, 2, 23, 15}, []byte("\x01\x00a"))
	f.Add([]byte{25, 6, 24, 8, 16, 20, 21}, []byte("\x04\x00\x02\x00ab"))
	f.Add([]byte{22, 3, 1, 2, 14, 13}, make([]byte, 64))
	f.Fuzz(func(t *testing.T, types, payload []byte) {
		var d Decoder
		limit := 100 + 100*(len(types)+1)*(len(payload)+1)
		desc := &trace.Descriptor{Provider: "P", Name: "E", Fields: describe(&types, 0)}
		got := d.AppendFields(nil, &trace.Event{Desc: desc, Payload: payload, PointerSize: 8})
		if !json.Valid([]byte("{" + string(got[1:]) + "}")) {
			t.Fatalf("not JSON: %s", got)
		}
		if len(got) > limit {
			t.Fatalf("%d bytes of %d", len(got), len(payload))
		}
		if again := d.AppendFields(nil, &trace.Event{Desc: desc, Payload: payload}); string(again) != string(got) {
			t.Fatalf("first %s\nthen %s", got, again)
		}
	})
}

// describe makes fields from bytes, one type code each; arrays and objects take
// more.
func describe(b *[]byte, depth int) []trace.Field {
	var fields []trace.Field
	for len(*b) > 0 && len(fields) < 20 {
		f := trace.Field{Name: "f\"\xff", Type: trace.TypeCode((*b)[0] % 28)}
		*b = (*b)[1:]
		switch f.Type {
		case trace.Object:
			if depth < 20 && len(*b) > 0 {
				n := int((*b)[0] % 4)
				*b = (*b)[1:]
				inner := (*b)[:min(n, len(*b))]
				*b = (*b)[len(inner):]
				f.Fields = describe(&inner, depth+1)
			}
		case trace.Array, trace.FixedArray, trace.RelLoc, trace.DataLoc:
			if len(*b) > 0 {
				f.Count = int((*b)[0])
				inner := (*b)[:1]
				*b = (*b)[1:]
				if elem := describe(&inner, depth+1); len(elem) > 0 {
					f.Elem = &elem[0]
				}
			}
		}
		fields = append(fields, f)
	}
	return fields
}
