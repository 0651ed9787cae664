package clr_test

import (
	"fmt"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// A reader of traces yields an event: provider and id identify its kind, and its version
// the layout.
func Example() {
	ev := &trace.Event{
		Desc: &trace.Descriptor{Provider: clr.RuntimeProvider, ID: 1, Version: 2},
		Payload: []byte{
			12, 0, 0, 0, // Count
			2, 0, 0, 0, // Depth
			14, 0, 0, 0, // Reason
			1, 0, 0, 0, // Type
			0, 0, // ClrInstanceID
			0, 0, 0, 0, 0, 0, 0, 0, // ClientSequenceNumber
		},
		PointerSize: 8,
	}

	switch clr.KindOf(ev.Desc.Provider, ev.Desc.ID) {
	case clr.KindGCStart:
		var e clr.GCStart
		if err := e.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("collection %d of generation %d, a %v for %v\n", e.Count, e.Depth, e.Type, e.Reason)
	}
	// Output: collection 12 of generation 2, a BackgroundGC for BGCTuningSOH
}

// Any event can be written as JSON.
func ExampleDecoder_AppendFields() {
	ev := &trace.Event{
		Desc:        &trace.Descriptor{Provider: clr.RuntimeProvider, ID: 35},
		Payload:     []byte{4, 0, 0, 0, 0, 0},
		PointerSize: 8,
	}

	var d clr.Decoder
	b := fmt.Appendf(nil, `{"name":%q`, d.Name(ev.Desc))
	b = d.AppendFields(b, ev)
	fmt.Printf("%s}\n", b)
	// Output: {"name":"GCTriggered","fields":{"Reason":4,"ClrInstanceID":0},"fields_text":{"Reason":"AllocLarge"}}
}
