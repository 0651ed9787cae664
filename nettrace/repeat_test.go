package nettrace

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/internal/nettracetest"
)

// TestRepeated puts copies of event blocks in a trace, at once and five objects
// later, and wants the events and the losses of the trace without them.
func TestRepeated(t *testing.T) {
	data := nettracetest.Gunzip(t, "../testdata/net10-wks-web-collect.nettrace.gz")
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
		kind blockKind
		data []byte
	}
	in := NewObjectReader(bytes.NewReader(data))
	out := slices.Clone(data[:32])
	var later []object
	for {
		o, err := in.Next()
		if err != nil {
			break
		}
		objects := []object{{o.kind, o.data}}
		if o.Events() {
			later = append(later, object{o.kind, slices.Clone(o.data)})
		}
		if len(later) > distance {
			objects, later = append(objects, later[0]), later[1:]
		}
		if o.kind == blockTrace {
			out = append(appendType(out, blockTrace), o.data...)
			out = append(out, tagEnd)
			continue
		}
		for _, o := range objects {
			out = appendFrameV4(out, o.kind, len(o.data), int64(len(out)))
			out = append(append(out, o.data...), tagEnd)
		}
	}
	for _, o := range later {
		out = appendFrameV4(out, o.kind, len(o.data), int64(len(out)))
		out = append(append(out, o.data...), tagEnd)
	}
	return append(out, tagNull)
}
