package etl_test

import (
	"bytes"
	"fmt"
	"hash"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// packed returns the first part of a merged trace whose buffers are compressed.
func packed(t testing.TB) []byte {
	return tracetest.Unzipped(t, "../testdata/netfx452-win-x64-head.etl.zip")
}

// plain returns a small circular trace that is not compressed.
func plain(t testing.TB) []byte {
	return tracetest.Unzipped(t, "../testdata/net8-win-x64-gcevents.etl.zip")
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

// TestWhole holds all that a reader yields of the real traces: of each kind of event the
// first one, how many there are, and a sum over all their fields.
func TestWhole(t *testing.T) {
	type seen struct {
		first string
		n     int
		sum   hash.Hash32
	}
	var b strings.Builder
	for _, data := range [][]byte{plain(t), packed(t)} {
		kinds := make(map[string]*seen)
		r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{Stacks: true})
		for ev, err := range r.Events() {
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s %d %s", ev.Desc.Provider, ev.Desc.ID, ev.Desc.Name)
			line := fmt.Sprintf("%d, process %d, thread %d, processor %d, version %d, level %d, keywords %#x, opcode %d, %x, stack %v",
				ev.Ticks, ev.PID, ev.TID, ev.CPU, ev.Desc.Version, ev.Desc.Level, ev.Desc.Keywords, ev.Desc.Opcode, ev.Payload, ev.AppendStack(nil))
			k := kinds[name]
			if k == nil {
				k = &seen{first: line, sum: crc32.NewIEEE()}
				kinds[name] = k
			}
			k.n++
			fmt.Fprintln(k.sum, line)
		}
		info := r.Info()
		fmt.Fprintf(&b, "%s, %v, %+v, pointers of %d, %d processors, last %v, %+v\n", info.Format, info.Start.UTC(), info.Clock, info.PointerSize, info.CPUs, info.Last, *r.Loss())
		for _, pid := range slices.Sorted(maps.Keys(info.Processes)) {
			fmt.Fprintf(&b, "  process %d: %+v\n", pid, info.Processes[pid])
		}
		for _, name := range slices.Sorted(maps.Keys(kinds)) {
			fmt.Fprintf(&b, "  %d of %s, sum %08x: %.300s\n", kinds[name].n, name, kinds[name].sum.Sum32(), kinds[name].first)
		}
	}
	extent.Golden(t, "testdata/whole.txt", b.String())
}
