package html

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

const leak = "../../testdata/net10-wks-leak.nettrace.gz"

// snapshotsOf returns snapshots without files.
func snapshotsOf(all []*heap.Snapshot) []Snapshot {
	snapshots := make([]Snapshot, len(all))
	for i, s := range all {
		snapshots[i].Snapshot = s
	}
	return snapshots
}

// addsUp checks that the rows and nodes of a snapshot are all of its objects.
func addsUp(t *testing.T, page *objects, s *pageSnapshot) {
	t.Helper()
	objects, bytes := s.Others.Objects, s.Others.Bytes
	for _, row := range s.Types {
		objects += row[1]
		bytes += row[2]
		var in int64
		for _, n := range row[4:] {
			in += n
		}
		if len(row) > 4 && in != row[2] {
			t.Errorf("%s: %d bytes in generations, want %d", page.Names[row[0]], in, row[2])
		}
	}
	if objects != s.Objects || bytes != s.Bytes {
		t.Errorf("%s: types have %d objects of %d bytes, want %d of %d", s.Label, objects, bytes, s.Objects, s.Bytes)
	}
	if !s.LiveBytes.Known() {
		return
	}
	type sum struct{ objects, bytes int64 }
	below := make([]sum, len(s.Tree)+1) // of the nodes right below each, the top first
	levels := make([]int, len(s.Tree)+1)
	for i, node := range s.Tree {
		if node[1] >= int64(i) {
			t.Fatalf("node %d is before its parent %d", i, node[1])
		}
		below[node[1]+1].objects += node[4]
		below[node[1]+1].bytes += node[5]
		if levels[i+1] = levels[node[1]+1] + 1; levels[i+1] > maxLevels+1 {
			t.Fatalf("node %d is at level %d", i, levels[i+1])
		}
		if node[0] != absent && node[5]*foldBelow < s.LiveBytes.Or(0)-foldBelow {
			t.Errorf("node %d of %d bytes is not folded", i, node[5])
		}
	}
	if below[0] != (sum{s.Live.Or(0), s.LiveBytes.Or(0)}) {
		t.Errorf("%s: roots hold %v, want %d of %d", s.Label, below[0], s.Live.Or(0), s.LiveBytes.Or(0))
	}
	for i, node := range s.Tree {
		if b := below[i+1]; node[0] != absent && (b.objects+node[2] != node[4] || b.bytes+node[3] != node[5]) {
			t.Errorf("%s: node %d has %d of %d and %v below, want %d of %d in all", s.Label, i, node[2], node[3], b, node[4], node[5])
		}
	}
}

// TestObjects: the page has all objects of each snapshot, their retained bytes, their paths,
// and the suspect.
func TestObjects(t *testing.T) {
	snapshots := dotnettest.Snapshots(t, leak)
	page := NewObjects(31720, snapshotsOf(snapshots)).data.(*objects)
	if len(page.Snapshots) != 3 || page.LeftOut != 0 || page.Unsuspected != "" || len(page.Suspects) != 1 {
		t.Fatalf("%d snapshots, %d left out, suspects %+v, %q", len(page.Snapshots), page.LeftOut, page.Suspects, page.Unsuspected)
	}
	suspect := page.Suspects[0]
	if page.Names[suspect.Type] != "Shop.Leak" || suspect.Confidence != "high" || !strings.HasPrefix(suspect.Says, "100 % of the growth hangs on one object: leak (static) → ") {
		t.Errorf("%+v", suspect)
	}
	for i := range page.Snapshots {
		s := &page.Snapshots[i]
		addsUp(t, page, s)
		d := snapshots[i].Graph.Dominators()
		if s.About != "" || s.Lacks != "" || s.LiveBytes.Or(0) != d.LiveBytes() {
			t.Errorf("%+v", s)
		}
		retained := d.ByType()
		for _, u := range snapshots[i].Types {
			found := slices.IndexFunc(s.Types, func(row []int64) bool {
				return page.Names[row[0]] == u.Type.String() && row[1] == u.Objects && row[2] == u.Bytes && row[3] == retained[u.Type]
			})
			if u.Objects > 0 && found < 0 {
				t.Errorf("%s: no row of %s", s.Label, u.Type)
			}
		}
	}
	var ways []string
	for _, p := range page.Snapshots[2].Paths {
		if int(p[len(p)-1]) == suspect.Type {
			var names []string
			for _, step := range p[3:] {
				names = append(names, page.Names[step])
			}
			ways = append(ways, fmt.Sprint(p[0], " ", strings.Join(names, " → ")))
		}
	}
	if want := []string{"5999 leak (static) → System.Collections.Generic.List`1[Shop.Leak] → Shop.Leak[] → Shop.Leak", "1 a variable → Shop.Leak"}; !slices.Equal(ways, want) {
		t.Errorf("%q, want %q", ways, want)
	}
}

// TestObjectsOfLoss: of a snapshot of which a part is missing, the page has what arrived, and
// nothing that depends on the rest.
func TestObjectsOfLoss(t *testing.T) {
	snapshots := dotnettest.Snapshots(t, leak)
	snapshots[1].Missing.Lost, snapshots[1].Graph = true, nil
	if page := NewObjects(31720, snapshotsOf(snapshots)).data.(*objects); len(page.Suspects) != 1 {
		t.Errorf("two snapshots are whole, which show what grew: %+v, %q", page.Suspects, page.Unsuspected)
	}
	page := NewObjects(31720, snapshotsOf(snapshots[:2])).data.(*objects)
	s := &page.Snapshots[1]
	addsUp(t, page, s)
	if s.About != "at least " || s.Lacks != "events that the trace lost. What objects retain is unknown." || s.Live.Known() || s.LiveBytes.Known() || len(s.Tree)+len(s.Paths) > 0 {
		t.Errorf("%+v", s)
	}
	for _, row := range s.Types {
		if row[3] != -1 || len(row) > 4 {
			t.Errorf("%v", row)
		}
	}
	for _, r := range s.Roots {
		if r.Retained.Known() {
			t.Errorf("%+v", r)
		}
	}
	for _, g := range s.Generations {
		if g.Free.Known() {
			t.Errorf("%+v", g)
		}
	}
	if len(page.Suspects) > 0 || page.Unsuspected != "unknown, because a part of a snapshot is missing" {
		t.Errorf("%+v, %q", page.Suspects, page.Unsuspected)
	}
}

// manyTypes returns a snapshot with a chain of objects, each of a type of its own or of two
// types by turns.
func manyTypes(t *testing.T, objects, types int) *heap.Snapshot {
	t.Helper()
	m := heap.Snapshots{MaxObjects: heap.MaxObjects}
	p := pass.New(&m)
	maker := tracetest.Maker{PID: 7, TID: 1}
	feed := func(e clr.Event) {
		ev := maker.At(time.Millisecond, e)
		ev.PointerSize, ev.Payload = 8, e.Append(nil, ev.Desc.Version, 8)
		p.Feed(ev)
	}
	feed(&clr.GCStart{Count: 7, Depth: 2})
	feed(&clr.GCBulkRootStaticVar{Values: []clr.GCBulkRootStaticVarValue{{ObjectID: 0x1000, FieldName: clr.NewUTF16("first")}}})
	nodes, edges := make([]clr.GCBulkNodeValue, objects), make([]clr.GCBulkEdgeValue, objects-1)
	for i := range nodes {
		nodes[i] = clr.GCBulkNodeValue{Address: uint64(0x1000 + 24*i), Size: 24, TypeID: uint64(0x10000 + 8*(i%types)), EdgeCount: 1}
	}
	nodes[objects-1].EdgeCount = 0
	for i := range edges {
		edges[i].Value = nodes[i+1].Address
	}
	feed(&clr.GCBulkNode{Values: nodes})
	feed(&clr.GCBulkEdge{Values: edges})
	feed(&clr.GCEnd{Count: 7, Depth: 2})
	p.End(&trace.Loss{})
	return m.All()[0]
}

// TestObjectsBounds: all that is beyond the bounds is counted, and a page of it is small.
func TestObjectsBounds(t *testing.T) {
	for types, others := range map[int]int64{2: 0, maxTypes + 500: 500} {
		s := manyTypes(t, 20_000, types)
		if s.Graph == nil {
			t.Fatalf("%+v", s.Missing)
		}
		snapshots := make([]*heap.Snapshot, maxSnapshots+3)
		for i := range snapshots {
			of := *s
			of.Number = uint32(i + 1)
			snapshots[i] = &of
		}
		of := NewObjects(7, snapshotsOf(snapshots))
		page := of.data.(*objects)
		if page.LeftOut != 3 || len(page.Snapshots) != maxSnapshots || page.Snapshots[0].Label != "GC 1" || page.Snapshots[1].Label != "GC 5" {
			t.Errorf("%d left out, %d shown: %s, %s", page.LeftOut, len(page.Snapshots), page.Snapshots[0].Label, page.Snapshots[1].Label)
		}
		for i := range page.Snapshots {
			shown := &page.Snapshots[i]
			addsUp(t, page, shown)
			if shown.Others.Types != others || len(shown.Tree) > 2*maxNodes || len(shown.Paths) > maxPaths {
				t.Errorf("%d other types, want %d; %d nodes, %d paths", shown.Others.Types, others, len(shown.Tree), len(shown.Paths))
			}
		}
		trace := &Trace{Report: json.RawMessage(`{"processes":[]}`), Objects: []*Part{of}}
		trace.Add(&gc.Collection{Process: &gc.Process{PID: 7}, Number: 1})
		blocks, err := (&Page{Traces: []*Trace{trace}}).Blocks()
		if n := len(blocks["objects"]); err != nil || n > 1_000_000 || n < 1_000 {
			t.Errorf("%d types: %d bytes, %v", types, n, err)
		}
	}
}

// TestObjectsBlock: a page has the snapshots of the processes that have some, in a line each.
func TestObjectsBlock(t *testing.T) {
	tr := &Trace{Report: json.RawMessage(`{"processes":[]}`), Objects: []*Part{NewObjects(31720, snapshotsOf(dotnettest.Snapshots(t, leak)))}}
	for _, pid := range []uint64{1, 31720, 2} {
		tr.Add(&gc.Collection{Process: &gc.Process{PID: pid}, Number: 1})
	}
	var out strings.Builder
	if err := (&Page{Traces: []*Trace{tr}}).Write(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(blockOf(t, out.String(), "objects"))), "\n")
	var has []bool
	for _, p := range headerOf(t, out.String()).Traces[0].Processes {
		has = append(has, p.Objects)
	}
	if len(lines) != 1 || !slices.Equal(has, []bool{false, true, false}) || !strings.Contains(lines[0], `"Shop.Leak"`) {
		t.Errorf("%d lines, %v", len(lines), has)
	}
}

// TestObjectsOfFiles: snapshots in several files have one table of types, and the names of
// their files.
func TestObjectsOfFiles(t *testing.T) {
	one := dotnettest.Snapshots(t, leak)
	same := NewObjects(31720, snapshotsOf([]*heap.Snapshot{one[0], one[2]})).data.(*objects)
	several := NewObjects(31720, []Snapshot{{one[0], "/tmp/before.nettrace"}, {dotnettest.Snapshots(t, leak)[2], `C:\after.nettrace`}}).data.(*objects)
	if !slices.Equal(several.Names, same.Names) || !slices.EqualFunc(several.Snapshots[1].Types, same.Snapshots[1].Types, slices.Equal) {
		t.Errorf("%d names in two files, and %d in one", len(several.Names), len(same.Names))
	}
	var labels []string
	for i := range several.Snapshots {
		addsUp(t, several, &several.Snapshots[i])
		labels = append(labels, several.Snapshots[i].Label)
	}
	if want := []string{"GC 5 of before.nettrace", "GC 7 of after.nettrace"}; !slices.Equal(labels, want) {
		t.Errorf("%q, want %q", labels, want)
	}
}
