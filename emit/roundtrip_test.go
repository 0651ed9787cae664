package emit_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
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

// Every event comes back from a file as it was raised, in every version and in
// both formats.
func TestEveryEventComesBack(t *testing.T) {
	for _, format := range []int{4, 6} {
		for nth := 0; ; nth++ {
			versions := map[clr.Kind]uint32{}
			for k := clr.KindUnknown + 1; int(k) < clr.NumKinds; k++ {
				if all := slices.Collect(k.Versions()); nth < len(all) {
					versions[k] = all[nth]
				}
			}
			if len(versions) == 0 {
				break
			}
			comesBack(t, format, versions)
		}
	}
}

func comesBack(t *testing.T, format int, versions map[clr.Kind]uint32) {
	p := newProvider(t, emit.ProviderOptions{Versions: versions})
	var out bytes.Buffer
	s := start(t, p, &out, emit.SessionOptions{Version: format, Providers: everything, NoRundown: true})
	rng := rand.New(rand.NewPCG(1, uint64(format)))
	thread := p.NewThread() // keeps the order
	raised := map[clr.Kind][]byte{}
	for k, version := range versions {
		e := k.New()
		fill(rng, reflect.ValueOf(e).Elem())
		thread.Raise(e)
		raised[k] = e.Append(nil, version, 8)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, ev := range readAll(t, &out) {
		k := clr.KindOf(ev.Desc.Provider, ev.Desc.ID)
		want := trace.Descriptor{Provider: k.Provider(), ID: k.ID(), Version: versions[k], Level: k.Level(), Keywords: k.Keywords()}
		got := *ev.Desc
		got.Name, got.Fields = "", nil
		if !reflect.DeepEqual(got, want) || !bytes.Equal(ev.Payload, raised[k]) || ev.TID != thread.ID() {
			t.Errorf("V%d %v: got %+v %x on thread %d\nwant %+v %x", format, k, got, ev.Payload, ev.TID, want, raised[k])
		}
		if err := k.New().Decode(versions[k], ev.Payload, 8); err != nil {
			t.Error(err)
		}
		delete(raised, k)
	}
	for k := range raised {
		t.Errorf("V%d: %v did not come back", format, k)
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
	if l := r.Loss(); l.Events != 0 || l.Cut || l.Late != 0 || l.Damaged != 0 || l.Exactness != trace.Exact {
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
