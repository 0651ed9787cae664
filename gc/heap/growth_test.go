package heap_test

import (
	"fmt"
	"testing"

	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/heaptest"
)

// leaking returns the snapshots of a program that adds 6,000 objects to a static list between
// one and the next.
func leaking(t *testing.T) []*heap.Snapshot {
	t.Helper()
	return heaptest.Snapshots(t, "../../testdata/net10-wks-leak.nettrace.gz")
}

// TestGrown: a type's growth is that of its objects and bytes, and from a snapshot to itself
// nothing grew.
func TestGrown(t *testing.T) {
	all := leaking(t)
	grown := heap.Grown(all[0], all[2])
	var objects, bytes int64
	found := 0
	for _, g := range grown {
		objects += g.Objects
		bytes += g.Bytes
		if name := g.Type.String(); name == "Shop.Leak" || name == "System.Byte[]" && g.Objects == 6000 {
			found++
		}
	}
	if found != 2 || objects != all[2].Objects-all[0].Objects || bytes != all[2].Bytes-all[0].Bytes {
		t.Errorf("%d objects, %d bytes: %+v", objects, bytes, grown)
	}
	if grown := heap.Grown(all[1], all[1]); len(grown) > 0 {
		t.Errorf("%+v", grown)
	}
	if back := heap.Grown(all[2], all[0]); back[len(back)-1].Bytes != -grown[0].Bytes {
		t.Errorf("%+v, and back %+v", grown[0], back[len(back)-1])
	}
}

// TestSuspects: the static list to which objects are added is the suspect; nothing is where
// nothing grew, where the growth ended, or where a snapshot has no objects.
func TestSuspects(t *testing.T) {
	all := leaking(t)
	for _, some := range [][]*heap.Snapshot{all, all[:2], all[1:]} {
		suspects := heap.Suspects(some)
		if len(suspects) != 1 {
			t.Fatalf("%+v", suspects)
		}
		s := suspects[0]
		path := ""
		for _, typ := range s.Path {
			path += " > " + typ.String()
		}
		got := fmt.Sprintf("%v %s%s, %d objects hold %s", s.Root.Kind, s.Root.Field, path, s.Objects, s.Held)
		const want = "static leak > System.Collections.Generic.List`1[Shop.Leak] > Shop.Leak[], 1 objects hold Shop.Leak"
		if got != want || s.Share < 0.9 || s.Share > 1.1 || s.Grew <= 0 || s.Grew > s.Retained {
			t.Errorf("%s, %+v", got, s)
		}
	}
	if s := heap.Suspects(all); s[0].HeldObjects != 5999 { // and one is in a variable, too
		t.Errorf("it holds %d", s[0].HeldObjects)
	}
	lost := *all[1]
	lost.Graph = nil
	for name, some := range map[string][]*heap.Snapshot{
		"one": all[:1], "the same": {all[1], all[1]}, "smaller": {all[2], all[0]}, "it ended": {all[0], all[2], all[2]}, "filled once": {all[0], all[2], all[1]},
		"no objects": {all[0], &lost, all[2]},
	} {
		if s := heap.Suspects(some); len(s) > 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
