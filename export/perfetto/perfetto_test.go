package perfetto

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/trace"
)

// dump writes the fields of a message, a line for each, with the fields of nested messages
// below. A message has bytes that text does not have, and packed numbers, which are small in
// tests, are no message.
func dump(t *testing.T, b []byte, indent string, out *strings.Builder) {
	t.Helper()
	for len(b) > 0 {
		number, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		size := protowire.ConsumeFieldValue(number, typ, b[n:])
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		value := b[n : n+size]
		b = b[n+size:]
		fmt.Fprintf(out, "%s%d: ", indent, number)
		switch typ {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			fmt.Fprintln(out, int64(v))
		case protowire.Fixed64Type:
			v, _ := protowire.ConsumeFixed64(value)
			fmt.Fprintln(out, math.Float64frombits(v))
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(value)
			if !bytes.ContainsFunc(v, unicode.IsControl) && utf8.Valid(v) {
				fmt.Fprintf(out, "%q\n", v)
				continue
			}
			if number, _, n := protowire.ConsumeTag(v); n < 0 || number == 0 {
				fmt.Fprintf(out, "%v\n", packed(v))
				continue
			}
			fmt.Fprintln(out)
			dump(t, v, indent+"  ", out)
		default:
			t.Fatalf("field %d has type %d", number, typ)
		}
	}
}

// TestPackets holds the packets of two collections of a process and one of a process
// without an id, of the phases of a background collection, and of a finding.
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
			{Heap: 1, Root: clr.RootTypeStack, Duration: ms / 8, Bytes: gc.Some[int64](77)},
		},
	}
	second := &gc.Collection{
		Process: process, Number: 2, Generation: gc.Some(2), Kind: gc.Background, Start: gc.Some(2010 * ms), Allocated: gc.Some[int64](3000),
		PauseStart: gc.Some(2009 * ms), Pauses: []gc.Pause{{Kind: gc.PauseInitial, Start: 2009 * ms, Duration: 2 * ms}},
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	other := &gc.Collection{Process: &gc.Process{PID: trace.UnknownID}, Number: 1, Start: gc.Some(time.Second), AffectedByLoss: true, Pauses: []gc.Pause{{Start: time.Second, Duration: ms}}}
	for _, c := range []*gc.Collection{first, second, other} {
		if err := w.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	phases := &background.Collection{PID: process.PID, Number: 2, Start: 2010 * ms}
	phases.Phases[background.ConcurrentMark] = gc.Some(background.Interval{Begin: 2012 * ms, Duration: 30 * ms})
	if err := errors.Join(w.Phases(process, phases), w.Findings(process, []findings.Finding{{ID: "R1", Title: "it collects", Description: "much", Collections: []uint32{2, 1, 9}, Evidence: []findings.Figure{{Name: "pause_pct", Value: 12.5}}}})); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	dump(t, out.Bytes(), "", &got)
	extent.Golden(t, "testdata/packets.txt", got.String())
}

// TestNothingToShow: a suspension of no time and an allocation rate of unknown bytes are not
// shown.
func TestNothingToShow(t *testing.T) {
	const ms = time.Millisecond
	process := &gc.Process{PID: 7}
	var out bytes.Buffer
	w := NewWriter(&out)
	for i := range time.Duration(2) {
		c := &gc.Collection{
			Process: process, Number: uint32(i), Start: gc.Some((10 + i) * ms), End: gc.Some((11 + i) * ms),
			Pauses: []gc.Pause{{Start: (10 + i) * ms, Duration: ms, Suspend: gc.Some(time.Duration(0))}},
		}
		if err := w.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{counterRate, "suspend for GC"} {
		if strings.Contains(out.String(), name) {
			t.Errorf("there is %q", name)
		}
	}
	if !strings.Contains(out.String(), trackPauses) {
		t.Error("no pauses are there")
	}
}
