package heap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// A dumpWriter writes a .gcdump file as PerfView does.
type dumpWriter struct {
	bytes.Buffer
	classes map[string]int // offsets
}

func (w *dumpWriter) put(values ...any) {
	for _, v := range values {
		if s, is := v.(string); is {
			w.put(int32(len(s)), []byte(s)) // all in ASCII
			continue
		}
		if err := binary.Write(w, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
}

func (w *dumpWriter) begin(class string, version, least int32) {
	w.put(uint8(4))
	if at, known := w.classes[class]; known {
		w.put(uint8(2), uint32(at))
		return
	}
	w.classes[class] = w.Len()
	w.put(uint8(4), uint8(1), version, least, class, uint8(6))
}

// A dumpNode is a node of a file: its type, size and children.
type dumpNode struct {
	typ, size int32
	children  []int32
	address   uint64
}

// compact appends a number as the blob has it.
func compact(b []byte, v int32) []byte {
	n := 1
	for ; n < 5 && (v < -1<<(7*n-1) || v >= 1<<(7*n-1)); n++ {
	}
	for i := n - 1; i >= 0; i-- {
		group := byte(v>>(7*i)) & 0x7f
		if i > 0 {
			group |= 0x80
		}
		b = append(b, group)
	}
	return b
}

// gcdump returns a file of nodes.
func gcdump(version int32, deferred, sampled, segments bool, nodes []dumpNode) []byte {
	w := &dumpWriter{classes: make(map[string]int)}
	w.put([]byte("\x14\x00\x00\x00!FastSerialization.1"))
	w.begin("GCHeapDump", version, 8)
	least := int32(0)
	if deferred {
		least = 1
	}
	w.begin("Graphs.MemoryGraph", 1, least)
	types := []string{"UNDEFINED", "[.NET Roots]", "[static vars]", "[static var Shop.List<Shop.Order>.<Shop.IStore.Orders>k__BackingField]", "[other roots]", "[StrongHandle]", "[Dependent Handles]", "Shop.List<Shop.Order>", "Shop.Order", "[]c"}
	w.put(int64(0), int32(1), int32(len(types)))
	for i, name := range types {
		w.put(name, int32(24*(i/7)), strings.Repeat("/app/shop.dll", i/7)) // the first object of a type gives it its size
	}
	var blob []byte
	w.put(int32(len(nodes)))
	for i, n := range nodes {
		w.put(uint32(len(blob)))
		blob = compact(blob, n.typ<<1|1)
		blob = compact(blob, n.size)
		blob = compact(blob, int32(len(n.children)))
		for _, c := range n.children {
			blob = compact(blob, c-int32(i))
		}
	}
	w.put(int32(len(blob)), blob)
	var forward []uint32
	if deferred {
		w.put(int32(0), int32(1), int32(7), uint8(1), "suffix", uint8(6))
		forward = append(forward, uint32(w.Len()))
	}
	w.put(int32(len(nodes)))
	for _, n := range nodes {
		w.put(n.address)
	}
	w.put(uint8(8), uint8(1), uint8(6))
	multiplier := float32(1)
	if sampled {
		multiplier = 2
	}
	w.put(uint8(1), multiplier, multiplier, uint8(1))
	if segments {
		w.begin("DotNetHeapInfo", 1, 1)
		w.put(int64(0x2000), int32(2))
		w.begin("GCHeapDumpSegment", 1, 1)
		w.put([]uint64{0x1000, 0x2000, 0x2000, 0x1800, 0x1100, 0, 0}, uint8(6)) // gen2, gen1 and gen0 in one
		w.begin("GCHeapDumpSegment", 1, 1)
		w.put([]uint64{0x8000, 0x9000, 0, 0, 0, 0, 0x9000}, uint8(6), uint8(6))
	} else {
		w.put(uint8(1))
	}
	w.put(int32(-1), int64(0), int32(-1), "shop", int32(7), int64(0), int64(0))
	if sampled {
		w.put(int32(len(types)))
		for range types {
			w.put(float32(3))
		}
	} else {
		w.put(int32(0))
	}
	w.put(uint8(6), uint8(6))
	table := uint32(w.Len())
	w.put(int32(len(forward)), forward)
	trailer := uint32(w.Len())
	w.put(table, trailer)
	return w.Bytes()
}

// shop is the nodes of a list with two orders, an order that depends on something, one that
// nothing keeps alive, and a type whose name begins like the name of a root.
func shop() []dumpNode {
	return []dumpNode{
		{typ: 0},
		{typ: 1, children: []int32{2, 4}},
		{typ: 2, children: []int32{3}},
		{typ: 3, children: []int32{7}},
		{typ: 4, children: []int32{5, 6}},
		{typ: 5, children: []int32{8, 0}},
		{typ: 6, children: []int32{10, 4}}, // a loop among the roots
		{typ: 7, size: 32, children: []int32{8, 9}, address: 0x8010},
		{typ: 8, size: 24, children: []int32{8}, address: 0x1000},
		{typ: 8, size: 24, address: 0x1200},
		{typ: 8, size: 24, address: 0x1900},
		{typ: 9, size: 1 << 20, address: 0x5000},
	}
}

func TestGCDump(t *testing.T) {
	for _, deferred := range []bool{false, true} {
		s, err := heap.ReadGCDump(bytes.NewReader(gcdump(10, deferred, false, true, shop())))
		if err != nil {
			t.Fatal(err)
		}
		if s.PID != 7 || s.Objects != 5 || s.Bytes != 104+1<<20 || s.Edges != 3 || s.Statics != 1 || s.Dependent != 1 || s.Sampled || !s.Missing.Whole() {
			t.Errorf("%+v", s)
		}
		var generations []string
		for _, g := range s.Generations {
			generations = append(generations, fmt.Sprintf("%s: %d", g.Name, g.Objects))
		}
		if diff := cmp.Diff([]string{"gen0: 1", "gen1: 1", "gen2: 1", "loh: 0", "poh: 1", "frozen: 1"}, generations); diff != "" {
			t.Error(diff)
		}
		var roots []string
		for _, r := range s.Graph.Roots() {
			roots = append(roots, fmt.Sprintf("%s %s %s", r.Kind, r.Field, s.Graph.Type(r.Object)))
		}
		slices.Sort(roots)
		if diff := cmp.Diff([]string{"handle  Shop.Order", "other  Shop.Order", "static <Shop.IStore.Orders>k__BackingField Shop.List<Shop.Order>"}, roots); diff != "" {
			t.Error(diff)
		}
		d := s.Graph.Dominators()
		if d.Live() != 4 || d.LiveBytes() != 104 || d.Retained(d.Largest(1)[0]) != 56 {
			t.Errorf("%d alive of %d bytes", d.Live(), d.LiveBytes())
		}
	}
}

// A sample says how many objects there are, but not which refers to which.
func TestSampledGCDump(t *testing.T) {
	s, err := heap.ReadGCDump(bytes.NewReader(gcdump(10, false, true, false, shop())))
	if err != nil {
		t.Fatal(err)
	}
	if !s.Sampled || s.Graph != nil || s.Objects != 15 || s.Bytes != 3*(104+1<<20) || s.Generations != nil {
		t.Errorf("%+v", s)
	}
}

// TestRealGCDump: PerfView wrote the file of a snapshot with as many objects and bytes.
func TestRealGCDump(t *testing.T) {
	s, err := heap.ReadGCDump(bytes.NewReader(tracetest.Gunzip(t, "../../testdata/net8-wks-rich.gcdump.gz")))
	if err != nil {
		t.Fatal(err)
	}
	d := s.Graph.Dominators()
	got := []int64{s.Objects, s.Bytes, s.Edges, d.Live(), d.LiveBytes(), s.Statics, s.Dependent}
	if want := []int64{15833, 1445173, 23894, 15801, 1443289, 49, 56}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestDamagedGCDump: a file that is cut has an error, and one with a wrong byte has that, or
// says that something is missing, or has other figures; it ends in any case.
func TestDamagedGCDump(t *testing.T) {
	file := gcdump(10, true, false, true, shop())
	end := bytes.LastIndex(file, []byte("\x06\x06"))
	for n := range end - 4 {
		if _, err := heap.ReadGCDump(bytes.NewReader(file[:n])); err == nil {
			t.Errorf("no error for %d of %d bytes", n, len(file))
		}
	}
	for i := range file {
		for _, b := range []byte{0, 1, 0x7f, 0xff} {
			damaged := bytes.Clone(file)
			damaged[i] = b
			if s, err := heap.ReadGCDump(bytes.NewReader(damaged)); err == nil && s.Graph != nil {
				s.Graph.Dominators()
			}
		}
	}
	for _, tt := range []struct {
		file []byte
		want error
	}{
		{gcdump(8, false, false, false, nil), trace.ErrUnsupportedVersion},
		{[]byte("\x14\x00\x00\x00!FastSerialization.2"), trace.ErrNotTrace},
		{file[:100], io.ErrUnexpectedEOF},
		{append(bytes.Clone(file[:len(file)-1]), 0xff), trace.ErrMalformed}, // the forward references are nowhere
	} {
		if _, err := heap.ReadGCDump(bytes.NewReader(tt.file)); !errors.Is(err, tt.want) {
			t.Errorf("%v, want %v", err, tt.want)
		}
	}
}

func FuzzReadGCDump(f *testing.F) {
	f.Add(gcdump(10, true, false, true, shop()))
	f.Add(gcdump(9, false, true, false, shop()))
	f.Add(gcdump(9, false, false, false, []dumpNode{{typ: 1, size: math.MaxInt32, children: []int32{0, 0}, address: math.MaxUint64}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := heap.ReadGCDump(bytes.NewReader(b))
		if (s == nil) == (err == nil) {
			t.Fatalf("a snapshot: %t, and %v", s != nil, err)
		}
		if err == nil && s.Graph != nil {
			if d := s.Graph.Dominators(); d.LiveBytes() > s.Bytes {
				t.Fatalf("%d of %d bytes are alive", d.LiveBytes(), s.Bytes)
			}
		}
	})
}
