package etl_test

import (
	"bytes"
	"testing"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/etltest"
)

// packed returns the first part of a merged trace whose buffers are compressed.
func packed(t testing.TB) []byte {
	return etltest.Unzipped(t, "../testdata/netfx452-win-x64-head.etl.zip")
}

// plain returns a small circular trace that is not compressed.
func plain(t testing.TB) []byte {
	return etltest.Unzipped(t, "../testdata/net8-win-x64-gcevents.etl.zip")
}

func TestRealTraces(t *testing.T) {
	for _, c := range []struct {
		name                      string
		data                      []byte
		events, stacks, processes int
		cut                       bool
	}{
		{"plain", plain(t), 70, 0, 0, false},
		{"packed", packed(t), 43_582, 2_901, 33, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := etl.NewReader(bytes.NewReader(c.data), int64(len(c.data)), etl.Options{Stacks: true})
			events, stacks, last := 0, 0, int64(-1)
			for ev, err := range r.Events() {
				if err != nil {
					t.Fatal(err)
				}
				if ev.Ticks < last {
					t.Fatalf("event %d is out of order", events)
				}
				last = ev.Ticks
				events++
				stacks += min(1, ev.StackLen())
			}
			l, info := r.Loss(), r.Info()
			if events != c.events || stacks != c.stacks || len(info.Processes) != c.processes {
				t.Errorf("%d events, %d stacks, %d processes", events, stacks, len(info.Processes))
			}
			if l.Truncated != c.cut || l.Damaged > 0 || l.Late > 0 || info.CPUs != 8 {
				t.Errorf("%+v, %d processors", l, info.CPUs)
			}
		})
	}
}
