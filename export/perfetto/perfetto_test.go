package perfetto

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// A fields is a message, decoded: the values of each field.
type fields map[protowire.Number][]any

// decoded returns the fields of a message, whose values are uint64 or []byte.
func decoded(t *testing.T, b []byte) fields {
	t.Helper()
	m := make(fields)
	for len(b) > 0 {
		number, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var v any
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d has type %d", number, typ)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		m[number] = append(m[number], v)
		b = b[n:]
	}
	return m
}

func (m fields) uint(number protowire.Number) uint64 {
	if len(m[number]) == 0 {
		return math.MaxUint64
	}
	return m[number][0].(uint64)
}

func (m fields) text(number protowire.Number) string {
	if len(m[number]) == 0 {
		return ""
	}
	return string(m[number][0].([]byte))
}

// lines returns the content of a trace, a line for each packet, with the field numbers of
// Perfetto's protos written out.
func lines(t *testing.T, trace []byte) (list []string) {
	t.Helper()
	names := make(map[uint64]string)
	for _, p := range decoded(t, trace)[1] {
		packet := decoded(t, p.([]byte))
		if len(packet[60]) > 0 { // TrackDescriptor
			track := decoded(t, []byte(packet.text(60)))
			names[track.uint(1)] = track.text(2)
			if len(track[3]) > 0 {
				process := decoded(t, []byte(track.text(3)))
				list = append(list, fmt.Sprintf("process %d %s", process.uint(1), process.text(6)))
			}
			if len(track[8]) > 0 {
				counter := decoded(t, []byte(track.text(8)))
				list = append(list, fmt.Sprintf("counter %s: unit %d %s", track.text(2), int64(counter.uint(3)), counter.text(6)))
			}
			continue
		}
		event := decoded(t, []byte(packet.text(11)))
		at, track := time.Duration(packet.uint(8)), names[event.uint(11)]
		switch event.uint(9) {
		case 1:
			list = append(list, fmt.Sprintf("%v %s: begin %s", at, track, event.text(23)))
		case 2:
			list = append(list, fmt.Sprintf("%v %s: end", at, track))
		case 4:
			list = append(list, fmt.Sprintf("%v %s: %d", at, track, event.uint(30)))
		default:
			t.Errorf("an event of type %d", event.uint(9))
		}
	}
	return list
}

// TestPackets decodes the packets of two collections.
func TestPackets(t *testing.T) {
	const ms = time.Millisecond
	process := &gc.Process{PID: 0x12345, Name: "web"}
	first := &gc.Collection{
		Process: process, Number: 1, Generation: gc.Some(0), Kind: gc.Blocking, Start: gc.Some(10 * ms), End: gc.Some(14 * ms),
		PauseStart: gc.Some(9 * ms), Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Start: 9 * ms, Duration: 6 * ms, Suspend: gc.Some(ms)}},
		HeapBefore: gc.Some[int64](1000), HeapAfter: gc.Some[int64](400), HeapPeak: gc.Some[int64](1001),
		CommittedBefore: gc.Some[int64](5000), CommittedAfter: gc.Some[int64](4000),
		Generations: []gc.Generation{{Name: "gen0", Before: 700, After: gc.Some[int64](100)}},
		Marks: []gc.Mark{
			{Heap: 0, Root: clr.RootTypeStack, Duration: ms},
			{Heap: 0, Root: clr.RootTypeHandles, Duration: ms / 2},
			{Heap: 0, Root: clr.RootTypeOlder, Duration: ms / 4},
		},
	}
	second := &gc.Collection{
		Process: process, Number: 2, Generation: gc.Some(2), Kind: gc.Background, Start: gc.Some(2010 * ms), Allocated: gc.Some[int64](3000),
		PauseStart: gc.Some(2009 * ms), Pauses: []gc.Pause{{Kind: gc.PauseInitial, Start: 2009 * ms, Duration: 2 * ms}},
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	for _, c := range []*gc.Collection{first, second} {
		if err := w.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := lines(t, out.Bytes())
	const marking = "Marking, heap 0 (lengths and order; starts are not recorded): "
	for _, want := range []string{
		"process 74565 web",
		"counter Heap: unit 3 ", "counter Committed: unit 3 ", "counter gen0: unit 3 ", "counter Allocation rate: unit -1 bytes/s",
		"9ms GC pauses: begin gen 0 blocking", "15ms GC pauses: end",
		"9ms Suspension: begin suspend for GC 1", "10ms Suspension: end",
		"10ms GCs: begin GC 1, gen 0 blocking", "14ms GCs: end",
		"10ms Heap: 1000", "14ms Heap: 400", "10ms Committed: 5000", "14ms Committed: 4000", "10ms gen0: 700", "14ms gen0: 100",
		"10ms " + marking + "begin mark from Stack", "11ms " + marking + "end",
		"11ms " + marking + "begin mark from Handles", "11.5ms " + marking + "end",
		"11.5ms " + marking + "begin mark from Older", "11.75ms " + marking + "end",
		"2.009s Background GC pauses: begin gen 2 background, initial pause", "2.011s Background GC pauses: end",
		"10ms Allocation rate: 1500",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	if t.Failed() {
		for _, line := range got {
			t.Log(line)
		}
	}
}
