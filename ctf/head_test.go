package ctf_test

import (
	"bytes"
	"io/fs"
	"math"
	"reflect"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/trace"
)

// TestHead: truncated payloads keep at least their head, and nothing else changes.
func TestHead(t *testing.T) {
	for name, files := range realTraces(t) {
		whole := clones(t, files, ctf.Options{Resolve: clr.Tracepoint})
		shorter := 0
		for _, head := range []int{-1, 0, 1, 17, 18, 26, 30, 1000, math.MaxInt} {
			cut := clones(t, files, ctf.Options{Resolve: clr.Tracepoint, Head: func(*trace.Descriptor) int { return head }})
			if len(cut) != len(whole) {
				t.Fatalf("%s, head of %d: %d events, want %d", name, head, len(cut), len(whole))
			}
			for i, ev := range cut {
				full := whole[i]
				if !bytes.HasPrefix(full.Payload, ev.Payload) || len(ev.Payload) < min(head, len(full.Payload)) {
					t.Fatalf("%s, head of %d: %x of %x", name, head, ev.Payload, full.Payload)
				}
				if ev.Ticks != full.Ticks || ev.PID != full.PID || ev.TID != full.TID || ev.Desc.ID != full.Desc.ID {
					t.Fatalf("%s, head of %d: event %d is %+v, want %+v", name, head, i, ev, full)
				}
				if len(ev.Payload) < len(full.Payload) {
					shorter++
				}
			}
		}
		if shorter == 0 {
			t.Errorf("%s: nothing was left out", name)
		}
	}
}

// TestHeadOfModel: a Model computes the same from heads as from whole payloads, and from runs.
func TestHeadOfModel(t *testing.T) {
	for name, files := range realTraces(t) {
		opts := ctf.Options{Resolve: clr.Tracepoint, Want: gc.Wants}
		want := collections(t, files, opts)
		opts.Head = gc.Head
		if got := collections(t, files, opts); len(got) == 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d collections of heads differ from %d of whole payloads", name, len(got), len(want))
		}
		opts.Runs = pass.Runs(&gc.Model{})
		if got := collections(t, files, opts); len(got) == 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d collections of runs differ from %d of events one by one", name, len(got), len(want))
		}
	}
}

func clones(t *testing.T, files fs.FS, opts ctf.Options) (events []*trace.Event) {
	t.Helper()
	r, err := ctf.Open(files, opts)
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev.Clone())
	}
	return events
}

func collections(t *testing.T, files fs.FS, opts ctf.Options) (all []*gc.Collection) {
	t.Helper()
	r, err := ctf.Open(files, opts)
	if err != nil {
		t.Fatal(err)
	}
	var m gc.Model
	for c, err := range m.Collections(r) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for _, c := range all {
		c.Process = c.Process.Snapshot() // its state at this time
	}
	return all
}
