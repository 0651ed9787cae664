package nettrace

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestRepeated inserts copies of event blocks into a trace, right after the originals and
// five objects later. Events and losses must not change.
func TestRepeated(t *testing.T) {
	data := tracetest.Gunzip(t, "../testdata/net10-wks-web-collect.nettrace.gz")
	want, whole := readAll(t, data)
	for _, distance := range []int{0, 5} {
		got, r := readAll(t, repeat(t, data, distance))
		if len(got) != len(want) {
			t.Fatalf("distance %d: %d events, want %d", distance, len(got), len(want))
		}
		for i := range got {
			if got[i].Ticks != want[i].Ticks || !bytes.Equal(got[i].Payload, want[i].Payload) {
				t.Fatalf("distance %d: event %d differs", distance, i)
			}
		}
		loss := r.Loss()
		if loss.Events != whole.Loss().Events || loss.Late != 0 || loss.Damaged != 53 {
			t.Errorf("distance %d: loss %+v", distance, loss)
		}
	}
}

// repeat copies a trace with each of its event blocks twice: the second follows
// the first after a number of other objects.
func repeat(t *testing.T, data []byte, distance int) []byte {
	t.Helper()
	type object struct {
		kind eventpipe.BlockKind
		data []byte
	}
	in := eventpipe.NewFramer(bytes.NewReader(data), eventpipe.FileWindow)
	if err := in.Open(); err != nil {
		t.Fatal(err)
	}
	out := slices.Clone(data[:32])
	var later []object
	var o eventpipe.Block
	for in.Next(&o) == nil && o.Kind != eventpipe.BlockEnd {
		objects := []object{{o.Kind, o.Data}}
		if o.Kind == eventpipe.BlockEvents {
			later = append(later, object{o.Kind, slices.Clone(o.Data)})
		}
		if len(later) > distance {
			objects, later = append(objects, later[0]), later[1:]
		}
		if o.Kind == eventpipe.BlockTrace {
			out = append(eventpipe.AppendType(out, eventpipe.BlockTrace), o.Data...)
			out = append(out, eventpipe.TagEnd)
			continue
		}
		for _, o := range objects {
			out = eventpipe.AppendFrameV4(out, o.kind, len(o.data), int64(len(out)))
			out = append(append(out, o.data...), eventpipe.TagEnd)
		}
	}
	for _, o := range later {
		out = eventpipe.AppendFrameV4(out, o.kind, len(o.data), int64(len(out)))
		out = append(append(out, o.data...), eventpipe.TagEnd)
	}
	return append(out, eventpipe.EndMark(4, int64(len(out)), false)...)
}
