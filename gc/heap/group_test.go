package heap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/heap"
)

// listed returns the groups of a query, in lines.
func listed(s *heap.Snapshot, q heap.Query) string {
	var d *heap.Dominators
	if s.Graph != nil {
		d = s.Graph.Dominators()
	}
	var b strings.Builder
	for _, g := range s.Groups(q, d) {
		name := g.Name
		if g.Type != nil {
			name = g.Type.String()
		}
		fmt.Fprintf(&b, "%s: %d of %v retain %v", name, g.Objects, g.Bytes, g.Retained)
		if g.Roots > 0 {
			fmt.Fprintf(&b, ", %d roots", g.Roots)
		}
		if g.Address != 0 {
			fmt.Fprintf(&b, ", at %#x in %s", g.Address, g.Generation)
		}
		if g.Key != nil {
			fmt.Fprintf(&b, ", key %s", g.Key)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestGroups(t *testing.T) {
	orders := func(of *heap.Type) bool { return of.Matches("shop.O*") }
	holed := change(func(v *clr.GCBulkNode) { v.Index = 1 })(written())
	whole := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, written()...))
	part := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, holed...))
	for _, tt := range []struct {
		of   *heap.Snapshot
		q    heap.Query
		want string
	}{
		{whole, heap.Query{By: heap.ByType}, `
			Shop.List~1[Shop.Order]: 1 of 30 retain 100
			Shop.Order: 4 of 96 retain 94
			System.String: 1 of 22 retain 22`},
		{whole, heap.Query{By: heap.ByModule}, `
			/app/shop.dll: 5 of 126 retain 124
			: 1 of 22 retain 22`},
		{whole, heap.Query{By: heap.ByGeneration, Type: orders}, `
			gen2: 4 of 96 retain 94`},
		{whole, heap.Query{By: heap.ByRoot}, `
			static: 1 of 30 retain 100, 1 roots
			handle: 1 of 24 retain 24, 1 roots
			other: 0 of 0 retain 0, 1 roots
			stack: 0 of 0 retain 0, 1 roots
			pinned: 0 of 0 retain 0, 1 roots
			refcounted: 0 of 0 retain 0, 1 roots
			finalizer: 0 of 0 retain 0, 1 roots`},
		{whole, heap.Query{By: heap.ByObject, Max: 2, Type: orders}, `
			Shop.Order: 2 of 24 retain 46, at 0x140 in gen2
			Shop.Order: 1 of 24 retain 24, at 0x120 in gen2`},
		{whole, heap.Query{By: heap.ByObject, Generation: "frozen"}, `
			System.String: 1 of 22 retain 22, at 0x9000 in frozen`},
		{whole, heap.Query{By: heap.ByType, MinSize: 24}, `
			Shop.List~1[Shop.Order]: 1 of 30 retain 100
			Shop.Order: 4 of 96 retain 94`},
		{whole, heap.Query{By: heap.ByObject, Max: 2, Order: heap.OrderBytes}, `
			Shop.List~1[Shop.Order]: 4 of 30 retain 100, at 0x100 in gen2
			Shop.Order: 1 of 24 retain 24, at 0x120 in gen2`},
		{whole, heap.Query{By: heap.ByObject, MinSize: 23, Order: heap.OrderHeld, Max: 3}, `
			Shop.List~1[Shop.Order]: 4 of 30 retain 100, at 0x100 in gen2
			Shop.Order: 2 of 24 retain 46, at 0x140 in gen2
			Shop.Order: 1 of 24 retain 24, at 0x120 in gen2`},
		{whole, heap.Query{By: heap.ByRoot, Root: "pinned"}, `
			Shop.Order: 1 of 24 retain 24, at 0x120 in gen2`},
		{whole, heap.Query{By: heap.ByRoot, Root: "static", Type: orders}, ""},
		{whole, heap.Query{By: heap.ByRoot, Root: heap.RootDependent}, `
			Shop.Order: 1 of 24 retain 24, at 0x180 in gen2, key Shop.List~1[Shop.Order]`},
		{part, heap.Query{By: heap.ByRoot, Root: "pinned"}, ""},
		{part, heap.Query{By: heap.ByType, MinSize: 1}, ""},
		{part, heap.Query{By: heap.ByType}, `
			Shop.Order: 4 of 96 retain -
			Shop.List~1[Shop.Order]: 1 of 30 retain -
			System.String: 1 of 22 retain -`},
		{part, heap.Query{By: heap.ByModule, Type: orders}, `
			/app/shop.dll: 4 of 96 retain -`},
		{part, heap.Query{By: heap.ByGeneration}, `
			gen2: 5 of 126 retain -
			frozen: 1 of 22 retain -`},
		{part, heap.Query{By: heap.ByRoot, Type: orders}, ""},
		{part, heap.Query{By: heap.ByObject}, ""},
		{part, heap.Query{By: heap.ByType, Generation: "gen2"}, ""},
	} {
		want := strings.ReplaceAll(strings.ReplaceAll(strings.TrimPrefix(tt.want, "\n"), "\t", ""), "~", "`")
		if diff := cmp.Diff(want, strings.TrimSuffix(listed(tt.of, tt.q), "\n")); diff != "" {
			t.Errorf("%v: %s", tt.q.By, diff)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		is      bool
	}{
		{"System.Byte[]", true},
		{"system.BYTE[]", true},
		{"System.*", true},
		{"*[]", true},
		{"s*b*e*", true},
		{"*", true},
		{"Byte[]", false},
		{"System.*x*", false},
		{"System.Byte[]*System.Byte[]", false},
	} {
		if of := (&heap.Type{Name: "System.Byte[]"}); of.Matches(tt.pattern) != tt.is {
			t.Errorf("%s: %t", tt.pattern, !tt.is)
		}
	}
}
