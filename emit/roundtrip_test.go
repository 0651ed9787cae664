package emit_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// everything wants all events of the runtime's providers.
var everything = []emit.Wanted{
	{Provider: clr.RuntimeProvider, Keywords: ^uint64(0), Level: 5},
	{Provider: clr.PrivateProvider, Keywords: ^uint64(0), Level: 5},
	{Provider: clr.RundownProvider, Keywords: ^uint64(0), Level: 5},
	{Provider: clr.EventPipeProvider, Keywords: ^uint64(0), Level: 5},
}

// absent are the events that LTTng traces lack, with the reasons.
var absent = map[clr.Kind]string{
	clr.KindProcessInfo:           "EventPipe raises it, not the runtime",
	clr.KindCCWRefCountChangeAnsi: "its strings would be taken for UTF-16; the runtime raises it on Windows only",
}

// TestEveryEventComesBack: every event comes back from a file unchanged, in every version
// and in all formats.
func TestEveryEventComesBack(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			for nth := 0; ; nth++ {
				versions := map[clr.Kind]uint32{}
				for k := clr.KindUnknown + 1; int(k) < clr.NumKinds; k++ {
					if p := k.Provider(); p == clr.GctrailProvider || p == clr.MonoProfilerProvider { // whose events .NET does not raise
						continue
					}
					if all := slices.Collect(k.Versions()); nth < len(all) {
						versions[k] = all[nth]
					}
				}
				if len(versions) == 0 {
					break
				}
				comesBack(t, &f, versions)
			}
		})
	}
}

func comesBack(t *testing.T, f *format, versions map[clr.Kind]uint32) {
	p := newProvider(t, emit.ProviderOptions{Versions: versions})
	s, path := f.start(t, p, emit.SessionOptions{Providers: everything, NoRundown: true})
	lttng := strings.HasPrefix(f.name, "CTF")
	rng := rand.New(rand.NewPCG(1, 4))
	thread := p.NewThread() // keeps the order
	raised := map[clr.Kind][]byte{}
	for k, version := range versions {
		if lttng && absent[k] != "" {
			if p.Enabled(k) {
				t.Errorf("%v is in the trace, though %s", k, absent[k])
			}
			continue
		}
		e := k.New()
		fill(rng, reflect.ValueOf(e).Elem())
		thread.Raise(e)
		raised[k] = e.Append(nil, version, 8)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var decoder clr.Decoder
	events, _ := readFile(t, path)
	for _, ev := range events {
		k := clr.KindOf(ev.Desc.Provider, ev.Desc.ID)
		want := trace.Descriptor{Provider: k.Provider(), ID: k.ID(), Version: versions[k], Level: k.Level(), Keywords: k.Keywords()}
		if lttng || f.name == "V6" { // which lack it, so that package open fills it in
			want.Opcode = k.Opcode()
		}
		want.RawStructs = lttng
		got := *ev.Desc
		got.Name, got.Fields = "", nil
		if !reflect.DeepEqual(got, want) || !bytes.Equal(ev.Payload, raised[k]) || ev.TID != thread.ID() {
			t.Errorf("%v: got %+v %x on thread %d\nwant %+v %x", k, got, ev.Payload, ev.TID, want, raised[k])
		}
		e := k.New()
		if err := e.Decode(versions[k], raised[k], 8); err != nil {
			t.Error(err)
		}
		hasFields(t, decoder.AppendFields([]byte(`{"name":""`), ev), e)
		delete(raised, k)
	}
	for k := range raised {
		t.Errorf("%v did not come back", k)
	}
}

// hasFields compares an event in the output of "gctrail events" with the event.
func hasFields(t *testing.T, line []byte, e clr.Event) {
	t.Helper()
	var shown struct {
		Fields map[string]any `json:"fields"`
		Short  bool           `json:"fields_short"`
		Extra  int            `json:"extra_bytes"`
	}
	d := json.NewDecoder(bytes.NewReader(append(line, '}')))
	d.UseNumber()
	if err := d.Decode(&shown); err != nil {
		t.Fatal(err)
	}
	if shown.Fields == nil || shown.Short || shown.Extra != 0 {
		t.Errorf("%v is shown as %s", e.EventKind(), line)
	}
	sameObject(t, e.EventKind().String(), shown.Fields, reflect.ValueOf(e).Elem())
}

// runtimeNames are members with other names in LTTng's recordings.
var runtimeNames = map[string]string{
	"FreeListSpaceBefore": "FreeListBefore", "FreeObjSpaceBefore": "FreeObjBefore",
	"FreeListSpaceAfter": "FreeListAfter", "FreeObjSpaceAfter": "FreeObjAfter",
}

func sameObject(t *testing.T, path string, shown map[string]any, v reflect.Value) {
	t.Helper()
	for name, value := range shown {
		field := v.FieldByName(cmp.Or(runtimeNames[name], name))
		switch {
		case name == "_pad":
		case !field.IsValid():
			t.Errorf("%s has no field %s", path, name)
		default:
			sameValue(t, path+"."+name, value, field)
		}
	}
}

func sameValue(t *testing.T, path string, shown any, v reflect.Value) {
	t.Helper()
	switch shown := shown.(type) {
	case map[string]any:
		sameObject(t, path, shown, v)
		return
	case []any:
		if len(shown) != v.Len() {
			t.Errorf("%s has %d elements, want %d", path, len(shown), v.Len())
			return
		}
		for i := range shown {
			sameValue(t, fmt.Sprintf("%s[%d]", path, i), shown[i], v.Index(i))
		}
		return
	}
	want := v.Interface()
	switch v.Kind() {
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		want = v.Uint() // not an enum's word
	case reflect.Int32:
		want = v.Int()
	}
	if b, ok := want.([]byte); ok {
		want = base64.StdEncoding.EncodeToString(b)
	}
	if got, want := fmt.Sprint(shown), fmt.Sprint(want); got != want {
		t.Errorf("%s is shown as %s, want %s", path, got, want)
	}
}

// readAll reads a trace in which nothing is missing.
func readAll(t testing.TB, out *bytes.Buffer) []*trace.Event {
	t.Helper()
	r := nettrace.NewReader(bytes.NewReader(out.Bytes()), nettrace.Options{})
	var events []*trace.Event
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev.Clone())
	}
	if l := r.Loss(); l.Events != 0 || l.Truncated || l.Late != 0 || l.Damaged != 0 || l.Exactness != trace.Exact {
		t.Errorf("loss: %+v", l)
	}
	return events
}

// fill sets a struct's fields to values at random.
func fill(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rng, v.Field(i))
		}
	case reflect.Slice:
		switch v.Interface().(type) {
		case clr.UTF16:
			v.SetBytes(clr.NewUTF16(fmt.Sprintf("Type`%d[Ω]", rng.IntN(1000))))
		default:
			v.Set(reflect.MakeSlice(v.Type(), 3, 3))
			for i := range 3 {
				fill(rng, v.Index(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(rng, v.Index(i))
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32:
		v.SetFloat(rng.Float64())
	case reflect.Int32:
		v.SetInt(int64(rng.Int32()))
	default:
		v.SetUint(rng.Uint64()>>(64-v.Type().Bits()) | 1)
	}
}
