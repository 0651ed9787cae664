package heap_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// most bounds the rows of each table of a golden file.
const most = 5

// TestTables compares the tables of a snapshot of a real trace and of a .gcdump, and the growth
// in traces of programs that leak, with a golden file.
func TestTables(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"leak", "leak-async", "leak-handle", "leak-table", "cache-once"} {
		all := dotnettest.Snapshots(t, "../../testdata/net10-wks-"+name+".nettrace.gz")
		fmt.Fprintf(&b, "%s: %d snapshots\n", name, len(all))
		if name == "leak" {
			writeSnapshot(&b, all[len(all)-1])
		}
		writeGrowth(&b, all)
	}
	s, err := heap.ReadGCDump(bytes.NewReader(tracetest.Gunzip(t, "../../testdata/net8-wks-rich.gcdump.gz")))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, "rich.gcdump")
	writeSnapshot(&b, s)
	extent.Golden(t, "testdata/tables.txt", b.String())
}

func writeSnapshot(b *strings.Builder, s *heap.Snapshot) {
	fmt.Fprintf(b, "  %s of %d from %v to %v: %d objects, %d bytes, %d aligned, %d edges, %d dependent, %d static, %d weak, roots %v, missing %+v\n",
		s.Label(), s.PID, s.Start, s.End, s.Objects, s.Bytes, s.Aligned, s.Edges, s.Dependent, s.Statics, s.WeakRoots, s.Roots, s.Missing)
	for _, g := range s.Generations {
		fmt.Fprintf(b, "    %+v\n", g)
	}
	if s.Graph == nil {
		fmt.Fprintf(b, "  %slacks %s\n", s.About(), s.Lacks())
		return
	}
	d := s.Graph.Dominators()
	fmt.Fprintf(b, "  %d objects of %d bytes live\n", d.Live(), d.LiveBytes())
	for i := range heap.Groupings() {
		for order := heap.OrderRetained; order <= heap.OrderHeld; order++ {
			if by := heap.Grouping(i); by == heap.ByObject || order == heap.OrderRetained {
				writeGroups(b, fmt.Sprintf("by %v, order %d", by, order), s.Groups(heap.Query{By: by, Order: order, Max: most}, d))
			}
		}
	}
	for _, kind := range heap.RootKinds() {
		writeGroups(b, "roots of kind "+kind, s.Groups(heap.Query{Root: kind}, d))
	}
	system := func(of *heap.Type) bool { return strings.HasPrefix(of.Name, "System.Collections") }
	writeGroups(b, "large ones of gen2", s.Groups(heap.Query{Generation: "gen2", MinSize: 1000}, d))
	writeGroups(b, "collections by path", s.Groups(heap.Query{By: heap.ByPath, Type: system}, d))
	for i, q := range []heap.TreeQuery{{Depth: 3, Max: 8}, {Share: 0.05}, {Type: system, Least: 1000, Max: 12}} {
		fmt.Fprintf(b, "  trees %d\n", i)
		writeTree(b, d.Tree(q), "    ")
		writeTree(b, s.Graph.PathTree(q), "    ")
	}
	gaps := s.Graph.Gaps()
	fmt.Fprintf(b, "  %d gaps\n", len(gaps))
	pinners := s.Graph.Pinners(gaps)
	for _, p := range pinners[:min(most, len(pinners))] {
		fmt.Fprintf(b, "    %s: %d of %d bytes by %v, %s\n", p.Generation, p.Gaps, p.Bytes, p.Type, p.Root)
	}
}

func writeGroups(b *strings.Builder, title string, groups []heap.Group) {
	fmt.Fprintf(b, "  %s: %d\n", title, len(groups))
	for _, g := range groups[:min(most, len(groups))] {
		fmt.Fprintf(b, "    %s: %d of %v bytes, retaining %v, %d roots\n",
			strings.Join(strings.Fields(fmt.Sprint(g.Name, " ", g.Type, " ", g.Generation, " ", g.Key, " ", heap.PathWords(g.Root, g.Path))), " "), g.Objects, g.Bytes, g.Retained, g.Roots)
	}
}

func writeTree(b *strings.Builder, n *heap.TreeNode, indent string) {
	name := "the top"
	switch {
	case n.Root != nil:
		name = n.Root.String()
	case n.Type != nil:
		name = n.Type.String()
	}
	fmt.Fprintf(b, "%s%s: %d of %d bytes, with others %d of %d, omitted %+v\n", indent, name, n.Objects, n.Bytes, n.TotalObjects, n.TotalBytes, n.Omitted)
	for _, child := range n.Children {
		writeTree(b, child, indent+"  ")
	}
}

func writeGrowth(b *strings.Builder, all []*heap.Snapshot) {
	first, last := all[0], all[len(all)-1]
	grown := heap.Grown(first, last)
	fmt.Fprintf(b, "  %d types grew\n", len(grown))
	for _, g := range grown[:min(most, len(grown))] {
		fmt.Fprintf(b, "    %v: %d of %d bytes\n", g.Type, g.Objects, g.Bytes)
	}
	for i, places := range [][]heap.PlaceGrowth{heap.GrownPaths(first, last, nil), heap.GrownHolders(first, last, nil)} {
		fmt.Fprintf(b, "  %d places of kind %d grew\n", len(places), i)
		for _, p := range places[:min(most, len(places))] {
			fmt.Fprintf(b, "    %s: %d of %d bytes, retaining %d\n", strings.Join(p.Path(), ", "), p.Objects, p.Bytes, p.Retained)
		}
	}
	for _, s := range heap.Suspects(all) {
		fmt.Fprintf(b, "  %s: share %.4f\n", s.String(), s.Share)
	}
	fmt.Fprintf(b, "  %s\n", heap.Unsuspected(all))
}
