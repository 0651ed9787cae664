package heap_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// The types of the heap that tests make.
const (
	order = 0x7f00 + 16*iota
	list
	text
)

// written returns the events that the runtime raises for a small heap: a list at 0x100 with two
// orders, the second of which refers to a text in the frozen heap and to itself; an order that
// only a weak handle and the key of no dependent handle refer to; and one that depends on the
// list.
func written() []clr.Event {
	return []clr.Event{
		&clr.GCStart{Count: 7, Depth: 2},
		&clr.GCGenerationRange{Generation: 0, RangeStart: 0x100, RangeUsedLength: 0x800}, // before
		&clr.BulkType{Values: []clr.BulkTypeValue{
			{TypeID: order, ModuleID: 1, Name: clr.NewUTF16("Shop.Order")},
			{TypeID: list, ModuleID: 1, Name: clr.NewUTF16("Shop.List`1[Shop.Order]"), TypeParameters: []uint64{order}},
		}},
		&clr.GCBulkRootStaticVar{Values: []clr.GCBulkRootStaticVarValue{{GCRootID: 0x1000, ObjectID: 0x100, TypeID: list, FieldName: clr.NewUTF16("orders")}}},
		&clr.GCBulkNode{Values: []clr.GCBulkNodeValue{
			{Address: 0x100, Size: 30, TypeID: list, EdgeCount: 2},
			{Address: 0x120, Size: 24, TypeID: order},
			{Address: 0x140, Size: 24, TypeID: order, EdgeCount: 2},
			{Address: 0x160, Size: 24, TypeID: order},
			{Address: 0x180, Size: 24, TypeID: order},
		}},
		&clr.GCBulkNode{Index: 1, Values: []clr.GCBulkNodeValue{{Address: 0x9000, Size: 22, TypeID: text}}},
		&clr.GCBulkEdge{Values: []clr.GCBulkEdgeValue{{Value: 0x120}, {Value: 0x140}, {Value: 0x9000}, {Value: 0x140}}},
		&clr.GCBulkRootEdge{Values: []clr.GCBulkRootEdgeValue{
			{RootedNodeAddress: 0x160, GCRootKind: clr.BulkRootKindHandle, GCRootFlag: clr.BulkRootFlagsWeakRef},
			{RootedNodeAddress: 0, GCRootKind: clr.BulkRootKindStack},
			{RootedNodeAddress: 0x120, GCRootKind: clr.BulkRootKindStack, GCRootFlag: clr.BulkRootFlagsPinning | clr.BulkRootFlagsInterior},
			{RootedNodeAddress: 0x120, GCRootKind: clr.BulkRootKindHandle, GCRootFlag: clr.BulkRootFlagsPinning},
			{RootedNodeAddress: 0x120, GCRootKind: clr.BulkRootKindHandle, GCRootFlag: clr.BulkRootFlagsRefCounted},
			{RootedNodeAddress: 0x120, GCRootKind: clr.BulkRootKindHandle},
			{RootedNodeAddress: 0x120, GCRootKind: clr.BulkRootKindFinalizer},
			{RootedNodeAddress: 0x120, GCRootKind: clr.BulkRootKindOther},
		}},
		&clr.GCBulkRootConditionalWeakTableElementEdge{Values: []clr.GCBulkRootConditionalWeakTableElementEdgeValue{
			{GCKeyNodeID: 0x100, GCValueNodeID: 0x180}, {GCKeyNodeID: 0xdead, GCValueNodeID: 0x160},
		}},
		&clr.BulkType{Values: []clr.BulkTypeValue{{TypeID: text, Name: clr.NewUTF16("System.String")}}},
		&clr.GCGenerationRange{Generation: 1, RangeStart: 0x500, RangeUsedLength: 0},
		&clr.GCGenerationRange{Generation: 2, RangeStart: 0x100, RangeUsedLength: 0x100},
		&clr.GCEnd{Count: 7, Depth: 2},
		&clr.ModuleDCEnd{ModuleID: 1, ModuleILPath: clr.NewUTF16("/app/shop.dll")},
	}
}

// read returns the snapshots in events.
func read(t testing.TB, m *heap.Snapshots, pointerSize int, events ...clr.Event) []*heap.Snapshot {
	t.Helper()
	maker := tracetest.Maker{PID: 7, TID: 1}
	p := pass.New(m)
	for i, e := range events {
		ev := maker.At(time.Duration(i)*time.Millisecond, e)
		ev.PointerSize, ev.Payload = pointerSize, e.Append(nil, ev.Desc.Version, pointerSize)
		p.Feed(ev)
	}
	p.End(&trace.Loss{})
	return m.All()
}

func one(t *testing.T, snapshots []*heap.Snapshot) *heap.Snapshot {
	t.Helper()
	if len(snapshots) != 1 {
		t.Fatalf("%d snapshots", len(snapshots))
	}
	return snapshots[0]
}

func TestSnapshot(t *testing.T) {
	for _, pointerSize := range []int{4, 8} {
		s := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, pointerSize, written()...))
		if s.PID != 7 || s.Number != 7 || s.Start != gc.Some(time.Duration(0)) || s.End.Or(0) != 12*time.Millisecond {
			t.Errorf("GC %d of %d, %v to %v", s.Number, s.PID, s.Start, s.End)
		}
		if s.Objects != 6 || s.Bytes != 148 || s.Aligned != 152 || s.Edges != 4 || s.Dependent != 2 || s.Statics != 1 || s.WeakRoots != 1 {
			t.Errorf("%+v", s)
		}
		if want := [heap.NumRootKinds]int64{1, 1, 1, 1, 1, 1, 1}; s.Roots != want {
			t.Errorf("roots %v", s.Roots)
		}
		var types []string
		for _, of := range s.Types {
			types = append(types, of.String()+" "+of.Module)
		}
		if diff := cmp.Diff([]string{"Shop.Order /app/shop.dll", "Shop.List`1[Shop.Order] /app/shop.dll", "System.String "}, types); diff != "" {
			t.Error(diff)
		}
		if u := s.Types[0]; u.Objects != 4 || u.Bytes != 96 || u.Aligned != 96 {
			t.Errorf("orders: %+v", u)
		}
		want := []heap.GenerationUse{
			{Name: "gen0", Free: gc.Some(int64(0))},
			{Name: "gen1", Free: gc.Some(int64(0))},
			{Name: "gen2", Objects: 5, Bytes: 126, Aligned: 128, Free: gc.Some(int64(128))},
			{Name: "loh", Free: gc.Some(int64(0))},
			{Name: "poh", Free: gc.Some(int64(0))},
			{Name: "frozen", Objects: 1, Bytes: 22, Aligned: 24},
		}
		if !slices.Equal(s.Generations, want) {
			t.Errorf("%+v", s.Generations)
		}
		if !s.Missing.Whole() || s.Graph == nil {
			t.Fatalf("missing %+v", s.Missing)
		}
		s.Collected(&gc.Collection{HeapAfter: gc.Some(int64(300)), Generations: []gc.Generation{{Fragmentation: gc.Some(int64(128))}}})
		if s.Missing.Bytes != gc.Some(int64(300-128-128)) {
			t.Errorf("%v bytes missing", s.Missing.Bytes)
		}
	}
}

func TestGraph(t *testing.T) {
	s := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, written()...))
	g := s.Graph
	if g.Len() != 6 || g.Address(5) != 0x9000 || g.Generation(5) != "frozen" || g.Generation(0) != "gen2" || g.Size(0) != 30 || g.Type(5).Name != "System.String" {
		t.Errorf("%d objects, the last at %#x in %s", g.Len(), g.Address(5), g.Generation(5))
	}
	for object, want := range [][]uint32{{1, 2, 4}, {}, {5, 2}, {}, {}, {}} {
		if got := g.References(uint32(object)); !slices.Equal(got, want) {
			t.Errorf("object %d refers to %v, want %v", object, got, want)
		}
	}
	if roots := g.Roots(); len(roots) != 7 || roots[0] != (heap.Root{Object: 0, Kind: heap.RootStatic, ID: 0x1000, Field: "orders"}) {
		t.Errorf("roots %+v", roots)
	}
	d := g.Dominators()
	if d.Live() != 5 || d.LiveBytes() != 124 {
		t.Errorf("%d alive, of %d bytes", d.Live(), d.LiveBytes())
	}
	retained := map[string]int64{}
	for of, n := range d.ByType() {
		retained[of.Name] = n
	}
	if diff := cmp.Diff(map[string]int64{"Shop.List`1[Shop.Order]": 100, "Shop.Order": 24 + 46 + 24, "System.String": 22}, retained); diff != "" {
		t.Error(diff)
	}
	var largest []uint32
	for _, p := range d.Largest(3) {
		largest = append(largest, d.Object(p))
	}
	if !slices.Equal(largest, []uint32{0, 2, 1}) {
		t.Errorf("largest: %v", largest)
	}
	list := d.Largest(1)[0]
	held := slices.Collect(d.Children(list))
	if len(held) != 2 || d.Held(list) != 4 || d.Holder(held[0]) != list || d.Holder(list) != 0 || d.Retained(held[0]) != 46 {
		t.Errorf("the list holds %v", held)
	}
}

// change replaces the first event of e's type.
func change[E clr.Event](by func(E)) func([]clr.Event) []clr.Event {
	return func(events []clr.Event) []clr.Event {
		for _, e := range events {
			if e, ok := e.(E); ok {
				by(e)
				return events
			}
		}
		return nil
	}
}

func TestMissing(t *testing.T) {
	for name, tt := range map[string]struct {
		change func([]clr.Event) []clr.Event
		want   heap.Missing
	}{
		"first event with objects": {
			change(func(v *clr.GCBulkNode) { v.Index = 2 }),
			heap.Missing{Events: 3}, // 0 and 1, and 1 comes again
		},
		"first event with roots": {
			func(events []clr.Event) []clr.Event {
				for _, e := range events {
					if v, is := e.(*clr.GCBulkRootEdge); is {
						v.Index = 1
					}
				}
				return events
			},
			heap.Missing{Events: 1},
		},
		"event with edges": {
			func(events []clr.Event) []clr.Event {
				return slices.DeleteFunc(slices.Clone(events), func(e clr.Event) bool { return e.EventKind() == clr.KindGCBulkEdge })
			},
			heap.Missing{Edges: 4},
		},
		"objects that are referred to": {
			change(func(v *clr.GCBulkNode) { v.Values = slices.Delete(v.Values, 1, 2) }),
			heap.Missing{Unknown: 7},
		},
		"more references than came":  {change(func(v *clr.GCBulkNode) { v.Values[1].EdgeCount = math.MaxUint64 }), heap.Missing{Edges: math.MaxInt64 - 4}},
		"fewer references than came": {change(func(v *clr.GCBulkNode) { v.Values[0].EdgeCount = 1 }), heap.Missing{Edges: -1}},
		"GCEnd": {
			func(events []clr.Event) []clr.Event { return events[:len(events)-2] },
			heap.Missing{Unended: true},
		},
		"another address": {change(func(v *clr.GCBulkNode) { v.Values[3].Address = 0x140 }), heap.Missing{Duplicates: 1}},
		"possible size":   {change(func(v *clr.GCBulkNode) { v.Values[3].Size = 1 << 60 }), heap.Missing{Impossible: 1}},
	} {
		events := tt.change(written())
		if events == nil {
			t.Fatalf("%s: no such event", name)
		}
		s := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, events...))
		if s.Missing != tt.want || s.Missing.Whole() || s.Graph != nil {
			t.Errorf("%s: %+v, want %+v", name, s.Missing, tt.want)
		}
	}
}

// A loss within a snapshot is one of its events; a loss that spans it is another thread's.
func TestLost(t *testing.T) {
	for _, tt := range []struct {
		from, to time.Duration // in ms
		lost     bool
	}{{5, 20, true}, {0, 5, true}, {0, 20, false}, {20, 30, false}} {
		s := one(t, read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, written()...))
		var loss trace.Loss
		loss.Add(1, tt.from*time.Millisecond, tt.to*time.Millisecond)
		s.Lost(&loss)
		if s.Missing.Lost != tt.lost || (s.Graph == nil) != tt.lost {
			t.Errorf("lost from %d to %d: %t", tt.from, tt.to, s.Missing.Lost)
		}
	}
}

// TestSeveral: snapshots are distinguished by their collections, types are of the process,
// and .NET Framework raises GCStart twice.
func TestSeveral(t *testing.T) {
	first, second := written(), written()
	second[0].(*clr.GCStart).Count, second[len(second)-2].(*clr.GCEnd).Count = 8, 8
	second = slices.DeleteFunc(second, func(e clr.Event) bool { return e.EventKind() == clr.KindBulkType })
	events := slices.Concat(first[:1], first, []clr.Event{&clr.GCStart{Count: 20, Depth: 2}, &clr.GCEnd{Count: 20}}, second)
	all := read(t, &heap.Snapshots{MaxObjects: heap.MaxObjects}, 8, events...)
	if len(all) != 2 || all[0].Number != 7 || all[1].Number != 8 || !all[1].Missing.Whole() || all[1].Types[0].Name != "Shop.Order" {
		t.Fatalf("%d snapshots", len(all))
	}
	// The end of the first is lost, and then the start of the third.
	third := written()[1:]
	m := &heap.Snapshots{}
	all = read(t, m, 8, slices.Concat(first[:len(first)-2], second, third)...)
	if len(all) != 2 || !all[0].Missing.Unended || all[1].Missing.Unended || m.Startless() != 6 {
		t.Errorf("%d snapshots, %d objects without a start", len(all), m.Startless())
	}
}

// TestMaxObjects: objects beyond the size of a graph are counted nevertheless.
func TestMaxObjects(t *testing.T) {
	first, second := written(), written()
	second[0].(*clr.GCStart).Count, second[len(second)-2].(*clr.GCEnd).Count = 8, 8
	all := read(t, &heap.Snapshots{MaxObjects: 11}, 8, slices.Concat(first, second)...)
	if len(all) != 2 || all[0].Graph == nil || all[0].TooLarge || all[1].Graph != nil || !all[1].TooLarge || !strings.HasPrefix(all[1].Lacks(), "it has more objects than fit in memory") {
		t.Fatalf("%d snapshots", len(all))
	}
	if s := all[1]; s.Objects != 6 || s.Bytes != 148 || !s.Missing.Whole() || s.Types[0].Objects != 4 || s.WeakRoots != 1 {
		t.Errorf("%+v", s)
	}
}

func TestDeclaring(t *testing.T) {
	events := written()
	events[2].(*clr.BulkType).Values = []clr.BulkTypeValue{
		{TypeID: order, Name: clr.NewUTF16("Entry[System.String,System.Int32]"), TypeParameters: []uint64{1, 2}},
		{TypeID: list, Name: clr.NewUTF16("Shop.Pair`2[System.Object[],Shop.Map`2+Entry[System.String,System.Int32]]"), TypeParameters: []uint64{text, order}},
		{TypeID: 99, Name: clr.NewUTF16("Wrong[Shop.Other+Order]"), TypeParameters: []uint64{text}},
	}
	var names []string
	for _, of := range one(t, read(t, &heap.Snapshots{}, 8, events...)).Types {
		names = append(names, of.String())
	}
	want := []string{"Shop.Map`2+Entry[System.String,System.Int32]", "Shop.Pair`2[System.Object[],Shop.Map`2+Entry[System.String,System.Int32]]", "System.String"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// TestNativeTypes: types of a NativeAOT program are named by their places in its file, whose
// path is that of the native module.
func TestNativeTypes(t *testing.T) {
	events := without[*clr.ModuleDCEnd](written())
	for _, e := range events {
		if types, is := e.(*clr.BulkType); is {
			for i := range types.Values {
				v := &types.Values[i]
				v.ModuleID, v.TypeNameID, v.Flags, v.Name, v.TypeParameters = 0, uint32(v.TypeID), clr.TypeFlagsModuleBaseAddress, nil, nil
			}
		}
	}
	events = append(events, &clr.ModuleDCEnd{ModuleID: 0, ModuleNativePath: clr.NewUTF16(`C:\app\shop.exe`)})
	var m heap.Snapshots
	s := one(t, read(t, &m, 8, events...))
	if !s.Native() || s.Nameless() != 0 {
		t.Errorf("native %v, %d types without names", s.Native(), s.Nameless())
	}
	for _, u := range s.Types {
		if want := fmt.Sprintf("+%#x", u.ID); u.String() != want || u.Module != `C:\app\shop.exe` {
			t.Errorf("%s of %s, want %s", u, u.Module, want)
		}
	}
	if s := one(t, read(t, new(heap.Snapshots), 8, written()...)); s.Native() {
		t.Error("a program with names is taken for native")
	}
}

// without returns the events of all other kinds.
func without[E clr.Event](events []clr.Event) []clr.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e clr.Event) bool { _, is := e.(E); return is })
}

// TestBorrow: types without names are named by another trace of the same process, which
// need not have a snapshot, and not by that of another process.
func TestBorrow(t *testing.T) {
	moduleOf := func(id uint64, path string) clr.Event {
		return &clr.ModuleDCEnd{ModuleID: id, ModuleILPath: clr.NewUTF16(path)}
	}
	typeOf := func(id uint64, name string) clr.Event {
		return &clr.BulkType{Values: []clr.BulkTypeValue{{TypeID: id, ModuleID: 1, Name: clr.NewUTF16(name)}}}
	}
	types := without[*clr.GCBulkNode](written())
	for _, test := range []struct {
		name   string
		events []clr.Event
		named  int
		err    error
	}{
		{"the same", types, 3, nil},
		{"without modules", without[*clr.ModuleDCEnd](types), 3, nil},
		{"one of the types", []clr.Event{typeOf(text, "System.String"), moduleOf(1, "/app/shop.dll")}, 1, nil},
		{"no types", []clr.Event{moduleOf(2, "/app/shop.dll")}, 0, heap.ErrOtherProcess},
		{"other types", []clr.Event{typeOf(1, "System.String")}, 0, heap.ErrOtherProcess},
		{"another module at the address", append(slices.Clone(types), moduleOf(1, "/app/other.dll")), 0, heap.ErrOtherProcess},
		{"modules elsewhere", append(without[*clr.ModuleDCEnd](types), moduleOf(2, "/app/shop.dll")), 0, heap.ErrOtherProcess},
		{"nothing", nil, 0, heap.ErrOtherProcess},
	} {
		var m, from heap.Snapshots
		s := one(t, read(t, &m, 8, without[*clr.BulkType](written())...))
		read(t, &from, 8, test.events...)
		if s.Nameless() != 3 {
			t.Fatalf("%d types have no names", s.Nameless())
		}
		named, err := m.Borrow(&from)
		if named != test.named || !errors.Is(err, test.err) || s.Nameless() != 3-named {
			t.Errorf("%s: %d named, %v; %d are left", test.name, named, err, s.Nameless())
		}
		if i := slices.IndexFunc(s.Types, func(u heap.TypeUse) bool { return u.ID == order }); named == 3 && s.Types[i].String() != "Shop.Order" {
			t.Errorf("%s: %s", test.name, s.Types[i])
		}
	}
}

// FuzzSnapshots: whatever events come, a graph is whole, and its figures add up.
func FuzzSnapshots(f *testing.F) {
	kinds := (*heap.Snapshots)(nil).Kinds()
	join := func(events []clr.Event) []byte {
		var b []byte
		for _, e := range events {
			payload := e.Append(nil, 0, 8)
			b = append(b, byte(slices.Index(kinds, e.EventKind())), byte(len(payload)), byte(len(payload)>>8))
			b = append(b, payload...)
		}
		return b
	}
	f.Add(join(written()), false)
	f.Add(join(append(written(), written()...)), false)
	f.Add(join(written()[3:]), true)
	f.Fuzz(func(t *testing.T, b []byte, narrow bool) {
		m := &heap.Snapshots{MaxObjects: heap.MaxObjects}
		p := pass.New(m)
		maker := tracetest.Maker{PID: 7}
		for at := time.Duration(0); len(b) >= 3; at++ {
			kind := kinds[int(b[0])%len(kinds)]
			size := min(int(b[1])|int(b[2])<<8, len(b)-3)
			ev := maker.At(at, kind.New())
			ev.Payload = b[3 : 3+size]
			if narrow {
				ev.PointerSize = 4
			}
			p.Feed(ev)
			b = b[3+size:]
		}
		p.End(&trace.Loss{})
		for _, s := range m.All() {
			var objects, bytes int64
			for _, of := range s.Types {
				objects, bytes = objects+of.Objects, bytes+of.Bytes
			}
			if objects != s.Objects || bytes != s.Bytes {
				t.Fatalf("%d objects of %d bytes, by type %d of %d", s.Objects, s.Bytes, objects, bytes)
			}
			if (s.Graph != nil) != s.Missing.Whole() {
				t.Fatalf("missing %+v, and a graph: %t", s.Missing, s.Graph != nil)
			}
			if s.Graph == nil {
				continue
			}
			d := s.Graph.Dominators()
			var sum int64
			for p := range d.Children(0) {
				sum += d.Retained(p)
			}
			if sum != d.LiveBytes() || sum > s.Bytes || d.Live() > s.Objects {
				t.Fatalf("%d bytes alive, %d retained, %d in all", d.LiveBytes(), sum, s.Bytes)
			}
		}
	})
}
