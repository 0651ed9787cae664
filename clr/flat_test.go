package clr

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/gctrail/gctrail/trace"
)

// TestFlat: layouts of numbers alone are written as others are, where a number or one near
// it comes again too, and payloads that are too short for them are left to object.
func TestFlat(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	flats := 0
	for k := range numKinds {
		for i := range schemas[k].layouts {
			l := &schemas[k].layouts[i]
			for _, ptrSize := range []int{4, 8} {
				f := flatten(l, ptrSize)
				if f.fields == nil {
					continue
				}
				flats++
				payload := make([]byte, f.least+2)
				for round := range 8 {
					if round%3 == 0 {
						for i := range payload {
							payload[i] = byte(random.Uint32() >> (random.Uint32() % 32))
						}
					}
					for _, f := range f.fields {
						switch round {
						case 1:
							payload[f.off]++ // near the number before
						case 6:
							clear(payload[f.off+min(2, f.size) : f.off+f.size]) // of less than six digits
						}
					}
					ev := &trace.Event{Desc: new(trace.Descriptor), Payload: payload, PointerSize: ptrSize}
					var got, want jsonWriter
					got.reset(nil, ev)
					got.flat(&f)
					want.reset([]byte(`,"fields":`), ev)
					want.object(l.fields)
					got.enumWords()
					want.enumWords()
					if string(got.dst) != string(want.dst) || got.extra(l.padding) != want.extra(l.padding) {
						t.Fatalf("%v version %d: %s instead of %s", k, l.version, got.dst, want.dst)
					}
				}
			}
		}
	}
	if flats < 100 {
		t.Errorf("only %d layouts are flat", flats)
	}
	var d Decoder
	ev := &trace.Event{Desc: &trace.Descriptor{Provider: "Microsoft-Windows-DotNETRuntime", ID: 30}, PointerSize: 8}
	for ; len(ev.Payload) < 40; ev.Payload = append(ev.Payload, 1) {
		line := string(d.AppendFields([]byte(`{"n":0`), ev)) + "}"
		if !json.Valid([]byte(line)) {
			t.Errorf("%d bytes: %s", len(ev.Payload), line)
		}
	}
}
