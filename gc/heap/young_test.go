package heap_test

import (
	"slices"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/heap"
)

// TestYoung: the objects that a young collection lists within another are not a part of its
// snapshot, and do not hide the snapshot after it.
func TestYoung(t *testing.T) {
	young := []clr.Event{
		&clr.GCStart{Count: 6, Depth: 0},
		&clr.GCBulkNode{Values: []clr.GCBulkNodeValue{{Address: 0x100, Size: 24, TypeID: 1}}},
		&clr.GCEnd{Count: 6, Depth: 0},
	}
	events := slices.Concat([]clr.Event{&clr.GCStart{Count: 5, Depth: 2}}, young, []clr.Event{&clr.GCEnd{Count: 5, Depth: 2}}, written())
	all := read(t, &heap.Snapshots{MaxObjects: 100}, 8, events...)
	if len(all) != 1 || all[0].Number != 7 || all[0].Objects != 6 || !all[0].Missing.Whole() {
		t.Errorf("%+v", all)
	}
}
