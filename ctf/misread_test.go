package ctf_test

import (
	"bytes"
	"cmp"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
)

// An identity distinguishes the events of a trace.
type identity struct {
	at       time.Duration // since 1970
	kind     clr.Kind
	pid, tid uint64
}

// eventsOf counts the events of a trace.
func eventsOf(t *testing.T, files fstest.MapFS) (map[identity]int, *ctf.Reader) {
	t.Helper()
	r, err := ctf.Open(files, ctf.Options{Resolve: clr.Tracepoint})
	if err != nil {
		t.Fatal(err)
	}
	events := map[identity]int{}
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events[identity{time.Duration(r.Info().Start.UnixNano() + ev.Ticks), clr.KindOf(ev.Desc.Provider, ev.Desc.ID), ev.PID, ev.TID}]++
	}
	return events, r
}

// TestZeros overwrites parts of real traces with zeros, which look like events without a process.
// No event is made of them, and the loss has the times of all events that are gone or misread.
func TestZeros(t *testing.T) {
	for name, files := range realTraces(t) {
		whole, _ := eventsOf(t, files)
		stream := slices.MaxFunc(streams(files), func(a, b string) int { return cmp.Compare(len(files[a].Data), len(files[b].Data)) })
		data := files[stream].Data
		for i := range 15 {
			size := []int{200, 4096, len(data)}[i%3]
			from := len(data) * (i + 1) / 17
			damaged := bytes.Clone(data)
			clear(damaged[from:min(from+size, len(damaged))])
			got, r := eventsOf(t, with(files, stream, damaged))
			lost := func(ev identity) bool {
				at := ev.at - time.Duration(r.Info().Start.UnixNano())
				return at < 0 || at > r.Info().Last || r.Loss().Touches(at, at)
			}
			for ev, n := range got {
				if ev.pid == 0 || n > whole[ev] && !lost(ev) {
					t.Fatalf("%s, %d zeros at %d: %+v never was; lost at %v", name, size, from, ev, r.Loss().Ranges())
				}
			}
			for ev, n := range whole {
				if n > got[ev] && !lost(ev) {
					t.Fatalf("%s, %d zeros at %d: %+v is missing; lost at %v", name, size, from, ev, r.Loss().Ranges())
				}
			}
		}
	}
}
