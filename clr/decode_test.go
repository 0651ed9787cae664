package clr

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// TestEveryLayout decodes every event, in every version and with both sizes of pointers,
// to its struct and to JSON, whole and truncated at every byte. Struct and JSON agree.
func TestEveryLayout(t *testing.T) {
	eachLayout(t, func(t *testing.T, k Kind, l *layout, e *encoder) {
		var d Decoder
		ev := event(k, l.version, e.payload, e.ptrSize)
		got := string(d.AppendFields(nil, ev))
		if want := `,"fields":` + e.want.String(); !strings.HasPrefix(got, want) {
			t.Fatalf("got %s\nwant %s", got, want)
		}
		s := k.New()
		for n := 0; n <= len(e.payload); n++ {
			ev.Payload = e.payload[:n:n]
			out := members(t, d.AppendFields(nil, ev))
			err := s.Decode(l.version, ev.Payload, e.ptrSize)
			if out["fields_short"] == true != (err != nil) {
				t.Fatalf("%d of %d bytes: error %v, JSON %v", n, len(e.payload), err, out)
			}
			if err != nil && !errors.Is(err, binread.ErrTruncated) {
				t.Fatalf("%d of %d bytes: %v", n, len(e.payload), err)
			}
			if n == len(e.payload) && err != nil {
				t.Fatal(err)
			}
			agree(t, out["fields"].(map[string]any), reflect.ValueOf(s).Elem())
		}
	})
}

// TestLongerPayload checks that bytes after the known fields are ignored.
func TestLongerPayload(t *testing.T) {
	eachLayout(t, func(t *testing.T, k Kind, l *layout, e *encoder) {
		payload := append(e.payload, 1, 2, 3, 4, 5)
		want := `,"fields":` + e.want.String()
		newest := l == &schemas[k].layouts[len(schemas[k].layouts)-1]
		versions := []uint32{l.version}
		if newest {
			versions = append(versions, l.version+1, 1<<32-1)
		}
		for _, version := range versions {
			var d Decoder
			got := string(d.AppendFields(nil, event(k, version, payload, e.ptrSize)))
			if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `,"extra_bytes":5`) {
				t.Errorf("version %d: got %s\nwant %s…,\"extra_bytes\":5", version, got, want)
			}
			if err := k.New().Decode(version, payload, e.ptrSize); err != nil {
				t.Errorf("version %d: %v", version, err)
			}
		}
	})
}

// TestUnknownVersions: a version between known ones is read as the one before it, a
// version before all as the first.
func TestUnknownVersions(t *testing.T) {
	for _, tt := range []struct {
		kind            Kind
		version, layout uint32
	}{
		{KindGCStart, 0, 0},
		{KindGCStart, 3, 2},
		{KindGCJoin, 0, 2},
		{KindGCJoin, 1, 2},
		{KindGCJoin, 9, 2},
		{KindGCGlobalHeapHistory, 0, 2},
		{KindGCGlobalHeapHistory, 3, 3},
		{KindGCGlobalHeapHistory, 7, 4},
	} {
		l := schemas[tt.kind].layout(tt.version)
		if l.version != tt.layout {
			t.Errorf("%v version %d: layout of version %d, want %d", tt.kind, tt.version, l.version, tt.layout)
		}
		e := newEncoder(1, 8)
		e.object(l.fields)
		if err := tt.kind.New().Decode(tt.version, e.payload, 8); err != nil {
			t.Errorf("%v version %d: %v", tt.kind, tt.version, err)
		}
	}
}

// A struct that held a longer event keeps nothing of it.
func TestDecodeAgain(t *testing.T) {
	var e BulkType
	long := bulkType(3, 2)
	if err := e.Decode(0, long, 8); err != nil {
		t.Fatal(err)
	}
	if err := e.Decode(0, bulkType(2, 1), 8); err != nil {
		t.Fatal(err)
	}
	if len(e.Values) != 2 || len(e.Values[1].TypeParameters) != 1 {
		t.Errorf("got %+v", e)
	}
	var s GCStart
	if err := s.Decode(2, make([]byte, 26), 8); err != nil {
		t.Fatal(err)
	}
	s.ClientSequenceNumber, s.Depth = 7, 7
	if err := s.Decode(0, []byte{1, 0, 0, 0, 2, 0, 0, 0}, 8); err != nil {
		t.Fatal(err)
	}
	if want := (GCStart{Count: 1, Reason: GCReasonLowMemory}); s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
}

// TestHugeCounts: a count in a payload is limited by the bytes that follow it.
func TestHugeCounts(t *testing.T) {
	payload := make([]byte, 100)
	for i := range payload {
		payload[i] = 0xff
	}
	for k := KindUnknown + 1; k < numKinds; k++ {
		s := k.New()
		allocated := testing.AllocsPerRun(1, func() { s.Decode(1<<32-1, payload, 4) })
		if allocated > 8 {
			t.Errorf("%v: %v allocations", k, allocated)
		}
	}
}

// Lengths that old raw structures are known to have.
func TestRawLayouts(t *testing.T) {
	for _, tt := range []struct {
		version uint32
		size    int
		ptrSize int
		rest    string // after the five records
	}{
		{0, 225, 4, `"MemoryPressure":1,"ExpandMechanism":2,"CompactMechanism":3,"ConcurrentCompactMechanism":4,"CondemnReasons":5,"HeapIndex":6,"ClrInstanceID":7}`},
		{0, 221, 4, `"MemoryPressure":1,"ExpandMechanism":2,"CompactMechanism":3,"CondemnReasons":4,"HeapIndex":5,"ClrInstanceID":7}`},
		{0, 425, 8, `"MemoryPressure":1,"ExpandMechanism":2,"CompactMechanism":3,"ConcurrentCompactMechanism":4,"CondemnReasons":5,"HeapIndex":6,"ClrInstanceID":7}`},
		{2, 225, 4, `"CondemnReasonsGeneration":1,"CondemnReasonsCondition":2,"MemoryPressure":3,"ExpandMechanism":4,"CompactMechanism":5,"HeapIndex":6,"ClrInstanceID":7}`},
		{2, 425, 8, `"CondemnReasonsGeneration":1,"CondemnReasonsCondition":2,"MemoryPressure":3,"ExpandMechanism":4,"CompactMechanism":5,"HeapIndex":6,"ClrInstanceID":7}`},
		{2, 233, 4, `"CondemnReasonsGeneration":1,"CondemnReasonsCondition":2,"MemoryPressure":3,"ExpandMechanism":4,"CompactMechanism":5,"HeapIndex":6,"ExtraGen0Committed":34359738375,"ClrInstanceID":7}`},
		{2, 433, 8, `"CondemnReasonsGeneration":1,"CondemnReasonsCondition":2,"MemoryPressure":3,"ExpandMechanism":4,"CompactMechanism":5,"HeapIndex":6,"ExtraGen0Committed":34359738375,"ClrInstanceID":7}`},
	} {
		payload := make([]byte, tt.size)
		for i, off := byte(1), 5*10*tt.ptrSize; off+4 <= tt.size; i, off = i+1, off+4 {
			payload[off] = i
		}
		payload[tt.size-1] = 7
		var d Decoder
		got := string(d.AppendFields(nil, event(KindPrivateGCPerHeapHistory, tt.version, payload, tt.ptrSize)))
		fields, text, _ := strings.Cut(got, `,"fields_text"`)
		if !strings.HasSuffix(fields, tt.rest) || strings.Contains(text, "extra") || strings.Contains(text, "short") {
			t.Errorf("version %d of %d bytes: got %s\nwant …%s", tt.version, tt.size, got, tt.rest)
		}
	}
}

// TestTailPadding: the first GCHeapStats has the tail padding of a C structure in some
// traces.
func TestTailPadding(t *testing.T) {
	var d Decoder
	for size, extra := range map[int]bool{92: false, 96: false, 97: true} {
		got := string(d.AppendFields(nil, event(KindGCHeapStats, 0, make([]byte, size), 4)))
		if strings.Contains(got, "extra_bytes") != extra {
			t.Errorf("%d bytes: %s", size, got)
		}
	}
}

func TestDynamicEvents(t *testing.T) {
	for k := range dynamicSchemas {
		if DynamicKind(k) == DynamicUnknown {
			continue
		}
		s := &dynamicSchemas[k]
		t.Run(s.name, func(t *testing.T) {
			e := newEncoder(uint64(k), 8)
			e.object(s.layouts[0].fields)
			var d Decoder
			for n := 0; n <= len(e.payload)+1; n++ {
				data := append(e.payload, 0)[:n]
				out := members(t, d.AppendFields(nil, event(KindGCDynamicEvent, 0, dynamicEvent(s.name, data), 8)))
				x := newDynamic[k]()
				if err := x.Decode(data); (err != nil) != (n < len(e.payload)) {
					t.Fatalf("%d of %d bytes: %v", n, len(e.payload), err)
				}
				agree(t, out["dynamic"].(map[string]any), reflect.ValueOf(x).Elem())
			}
		})
	}
	var d Decoder
	got := string(d.AppendFields(nil, event(KindGCDynamicEvent, 0, dynamicEvent("Else", []byte{1, 2}), 8)))
	if want := `,"fields":{"Name":"Else","DataSize":2,"Data":"AQI=","ClrInstanceID":0}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestErrorText(t *testing.T) {
	err := new(GCStart).Decode(2, make([]byte, 10), 8)
	const want = "clr: GCStart: offset 0x8: truncated"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// event returns an event of kind k.
func event(k Kind, version uint32, payload []byte, ptrSize int) *trace.Event {
	provider, id := identity(k)
	return &trace.Event{
		Desc:    &trace.Descriptor{Provider: provider, ID: id, Version: version},
		Payload: payload, PointerSize: ptrSize,
	}
}

// identity is the inverse of KindOf.
func identity(k Kind) (string, uint32) {
	for _, p := range []string{RuntimeProvider, RundownProvider, PrivateProvider, EventPipeProvider, GctrailProvider, MonoProfilerProvider} {
		for id := range uint32(400) {
			if KindOf(p, id) == k {
				return p, id
			}
		}
	}
	panic(k)
}

func dynamicEvent(name string, data []byte) []byte {
	var b []byte
	for _, c := range []byte(name) {
		b = append(b, c, 0)
	}
	b = append(b, 0, 0, byte(len(data)), 0, 0, 0)
	return append(append(b, data...), 0, 0)
}

// bulkType returns a BulkType of n types with some parameters each.
func bulkType(n, params byte) []byte {
	b := []byte{n, 0, 0, 0, 9, 0}
	for range n {
		b = append(b, make([]byte, 25)...)
		b = append(b, 'T', 0, 0, 0, params, 0, 0, 0)
		b = append(b, make([]byte, 8*int(params))...)
	}
	return b
}

// members parses the output of AppendFields.
func members(t *testing.T, b []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader("{" + string(b[1:]) + "}"))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return m
}

// agree compares the members of a JSON object with a struct's fields. Fields
// that the object lacks must be zero.
func agree(t *testing.T, m map[string]any, s reflect.Value) {
	t.Helper()
	for i := range s.NumField() {
		name, v := s.Type().Field(i).Name, s.Field(i)
		want, ok := m[name]
		if !ok {
			if v.Kind() == reflect.Slice && v.Len() > 0 || v.Kind() != reflect.Slice && !v.IsZero() {
				t.Fatalf("%s.%s is %v, and not in %v", s.Type(), name, v, m)
			}
			continue
		}
		delete(m, name)
		if list, ok := want.([]any); ok {
			agreeElements(t, list, v)
		} else if got := plain(v); got != want {
			t.Fatalf("%s.%s is %v, in JSON %v", s.Type(), name, got, want)
		}
	}
	if len(m) > 0 {
		t.Fatalf("%s lacks %v", s.Type(), m)
	}
}

func agreeElements(t *testing.T, list []any, v reflect.Value) {
	t.Helper()
	if len(list) != v.Len() {
		t.Fatalf("%d elements, in JSON %d", v.Len(), len(list))
	}
	for i, want := range list {
		if m, ok := want.(map[string]any); ok {
			agree(t, m, v.Index(i))
		} else if got := plain(v.Index(i)); got != want {
			t.Fatalf("element %d is %v, in JSON %v", i, got, want)
		}
	}
}

// plain returns v as encoding/json reads it.
func plain(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(x)
	case UTF16:
		return x.String()
	case ANSI:
		return x.String()
	case GUID:
		return x.String()
	case bool:
		return x
	case float32:
		b, _ := json.Marshal(x)
		return json.Number(b)
	}
	if v.CanInt() {
		return json.Number(fmt.Sprint(v.Int()))
	}
	return json.Number(fmt.Sprint(v.Uint()))
}
