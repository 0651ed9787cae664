package heap_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
)

// holding returns a snapshot in which some objects of 1,000 bytes, each of a type and in a
// static field of its own, refer to so many objects of 100 bytes.
func holding(t *testing.T, counts ...int) *heap.Snapshot {
	t.Helper()
	types, roots, nodes, edges := new(clr.BulkType), new(clr.GCBulkRootStaticVar), new(clr.GCBulkNode), new(clr.GCBulkEdge)
	for k, n := range counts {
		id, address := uint64(16*(1+k)), uint64(1+k)<<20
		name := string(rune('A' + k))
		types.Values = append(types.Values, clr.BulkTypeValue{TypeID: id, Name: clr.NewUTF16(name)}, clr.BulkTypeValue{TypeID: id + 8, Name: clr.NewUTF16("Of" + name)})
		roots.Values = append(roots.Values, clr.GCBulkRootStaticVarValue{GCRootID: address, ObjectID: address, FieldName: clr.NewUTF16("the" + name)})
		nodes.Values = append(nodes.Values, clr.GCBulkNodeValue{Address: address, Size: 1000, TypeID: id, EdgeCount: uint64(n)})
		for i := range uint64(n) {
			nodes.Values = append(nodes.Values, clr.GCBulkNodeValue{Address: address + 0x400 + 0x80*i, Size: 100, TypeID: id + 8})
			edges.Values = append(edges.Values, clr.GCBulkEdgeValue{Value: address + 0x400 + 0x80*i})
		}
	}
	return one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8,
		&clr.GCStart{Count: 7, Depth: 2}, types, roots, nodes, edges, &clr.GCEnd{Count: 7, Depth: 2}))
}

// TestLeastGrowth: growth has suspects from 2 % of the heap on, and from a tenth of the growth
// on each; in three snapshots, if the last step is half of the mean or more.
func TestLeastGrowth(t *testing.T) {
	for _, c := range []struct {
		name      string
		snapshots [][]int
		want      string
	}{
		{"2 %", [][]int{{480}, {490}}, "A 1000 100%"},
		{"less than 2 %", [][]int{{481}, {490}}, ""},
		{"a tenth", [][]int{{10, 10}, {19, 11}}, "A 900 90%, B 100 10%"},
		{"less than a tenth", [][]int{{10, 10}, {20, 11}}, "A 1000 91%"},
		{"equal ones", [][]int{{10, 10}, {20, 20}}, "A 1000 50%, B 1000 50%"},
		{"one shrinks", [][]int{{10, 20}, {40, 10}}, "A 3000 150%"},
		{"ends slowly", [][]int{{10}, {25}, {30}}, "A 2000 100%"},
		{"ends too slowly", [][]int{{10}, {26}, {31}}, ""},
		{"stays", [][]int{{10}, {10}, {30}}, ""},
		{"shrinks at first", [][]int{{10}, {9}, {30}}, ""},
	} {
		var all []*heap.Snapshot
		for _, counts := range c.snapshots {
			all = append(all, holding(t, counts...))
		}
		var got []string
		for _, s := range heap.Suspects(all) {
			last := s.Path[len(s.Path)-1].String()
			got = append(got, fmt.Sprintf("%s %d %.0f%%", last, s.Grew, 100*s.Share))
			if s.Root.Field != "the"+last || s.Objects != 1 || len(s.Held) != 1 || s.Held[0].String() != "Of"+last || s.Snapshots != len(all) {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %v, expected %s", c.name, got, c.want)
		}
	}
}

// TestGrownOrder: types are in order of their growth in bytes and objects, and of their names.
func TestGrownOrder(t *testing.T) {
	var got []string
	for _, g := range heap.Grown(holding(t, 5, 3, 9, 1, 2), holding(t, 5, 6, 8, 4)) {
		got = append(got, fmt.Sprintf("%v %d %d", g.Type, g.Objects, g.Bytes))
	}
	if want := []string{"OfB 3 300", "OfD 3 300", "OfC -1 -100", "OfE -2 -200", "E -1 -1000"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}

// TestMissingParts: each part that is missing makes a snapshot less than whole, and has words.
func TestMissingParts(t *testing.T) {
	for _, c := range []struct {
		heap.Missing
		lacks string
	}{
		{heap.Missing{}, ""},
		{heap.Missing{Bytes: gc.Some[int64](8)}, ""},
		{heap.Missing{Events: 1}, "1 event"},
		{heap.Missing{Events: 2000}, "2,000 events"},
		{heap.Missing{Edges: 1}, "1 reference"},
		{heap.Missing{Edges: 2}, "2 references"},
		{heap.Missing{Edges: -1}, "1 object's reference"},
		{heap.Missing{Edges: -2}, "2 objects' references"},
		{heap.Missing{Unknown: 1}, "1 object that is referred to"},
		{heap.Missing{Unknown: 2}, "2 objects that are referred to"},
		{heap.Missing{Duplicates: 1}, "1 object with an address of its own"},
		{heap.Missing{Impossible: 1}, "1 object with a possible size"},
		{heap.Missing{Unended: true}, "the end"},
		{heap.Missing{Lost: true, Bytes: gc.Some[int64](0)}, "events that the trace lost"},
		{heap.Missing{Lost: true, Bytes: gc.Some[int64](1e6)}, "events that the trace lost, objects of 1.00 MB, by what the collection reports"},
	} {
		s := heap.Snapshot{Missing: c.Missing}
		about := "at least "
		if c.lacks == "" {
			about = ""
		} else {
			c.lacks += ". What objects retain is unknown."
		}
		if s.Lacks() != c.lacks || s.About() != about || s.Missing.Whole() != (about == "") {
			t.Errorf("%+v: %q, %q, whole %v", c.Missing, s.Lacks(), s.About(), s.Missing.Whole())
		}
	}
	large, sampled := heap.Snapshot{TooLarge: true}, heap.Snapshot{Sampled: true}
	for _, c := range []struct{ got, want string }{
		{large.Lacks(), "it has more objects than fit in memory (67,108,864 for all snapshots together), so that what they retain is unknown."},
		{large.About(), ""},
		{sampled.Lacks(), "the file has a sample of the objects, so that what they retain is unknown."},
		{sampled.About(), "about "},
		{(&heap.Snapshot{Number: 1}).Label(), "GC 1"},
		{sampled.Label(), "a heap snapshot"},
		{heap.Unsuspected([]*heap.Snapshot{{}}), "unknown without what objects retain"},
		{heap.Unsuspected([]*heap.Snapshot{&sampled}), "unknown, because a part of a snapshot is missing"},
		{heap.RootStack.Counted(1000), "1,000 in variables"},
		{heap.RootPinned.Counted(3), "3 pinned handles"},
		{heap.RootPinned.Counted(1), "1 pinned handle"},
		{heap.Root{Kind: heap.RootStatic, Field: "f", Method: "m"}.String(), "f (static)"},
		{heap.Root{Kind: heap.RootStack, Method: "m", Dependent: true}.String(), "a variable of m"},
		{heap.Root{Kind: heap.RootOther, Dependent: true}.String(), "a dependent handle"},
		{heap.Root{Kind: heap.RootFinalizer}.String(), "waiting for its finalizer"},
		{heap.Root{Field: "f", Method: "m"}.Name(), "f"},
		{heap.Root{Method: "m"}.Name(), "m"},
	} {
		if c.got != c.want {
			t.Errorf("%q, expected %q", c.got, c.want)
		}
	}
}

// TestReportedBytes: a snapshot lacks the bytes that the collection reports, less free space and
// the objects that came, except for frozen ones.
func TestReportedBytes(t *testing.T) {
	generation := func(free gc.Opt[int64]) gc.Generation { return gc.Generation{Fragmentation: free} }
	known, unknown := generation(gc.Some[int64](30)), generation(gc.Opt[int64]{})
	uses := []heap.GenerationUse{{Aligned: 1}, {Aligned: 2}, {Aligned: 4}, {Aligned: 8}, {Aligned: 16}, {Aligned: 1000}}
	for _, c := range []struct {
		after       gc.Opt[int64]
		generations []gc.Generation
		uses        []heap.GenerationUse
		want        gc.Opt[int64]
	}{
		{gc.Some[int64](500), []gc.Generation{known, known}, uses, gc.Some[int64](500 - 60 - 31)},
		{gc.Some[int64](500), []gc.Generation{known, unknown}, uses, gc.Opt[int64]{}},
		{gc.Some[int64](500), nil, uses, gc.Opt[int64]{}},
		{gc.Some[int64](500), []gc.Generation{known}, nil, gc.Opt[int64]{}},
		{gc.Opt[int64]{}, []gc.Generation{known}, uses, gc.Opt[int64]{}},
	} {
		s := heap.Snapshot{Generations: c.uses}
		s.Collected(&gc.Collection{HeapAfter: c.after, Generations: c.generations})
		if s.Missing.Bytes != c.want {
			t.Errorf("%+v: %v missing", c, s.Missing.Bytes)
		}
	}
}
