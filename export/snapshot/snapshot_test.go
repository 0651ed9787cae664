package snapshot_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gctrail/gctrail/export/snapshot"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// read returns the last snapshot of a trace.
func read(t *testing.T, path string) *heap.Snapshot {
	t.Helper()
	all := dotnettest.Snapshots(t, path)
	if len(all) == 0 || all[len(all)-1].Graph == nil {
		t.Fatalf("%s: %d snapshots", path, len(all))
	}
	return all[len(all)-1]
}

// An object is one of a graph, in a form that can be compared.
type object struct {
	Type, Generation string
	Size             int64
	Address          uint64
	References       []uint64
	Roots            []string
}

// objects returns the objects of a graph in order of address.
func objects(g *heap.Graph) []object {
	all := make([]object, g.Len())
	for i := range all {
		n := uint32(i)
		all[i] = object{Type: g.Type(n).String(), Generation: g.Generation(n), Size: g.Size(n), Address: g.Address(n)}
		for _, to := range g.References(n) {
			all[i].References = append(all[i].References, g.Address(to))
		}
	}
	for _, r := range g.Roots() {
		r.Method = "" // a .gcdump has none
		all[r.Object].Roots = append(all[r.Object].Roots, r.Kind.String()+" "+r.String())
	}
	for i := range all {
		slices.Sort(all[i].Roots)
	}
	slices.SortFunc(all, func(a, b object) int { return cmp.Compare(a.Address, b.Address) })
	return all
}

// TestGCDump: a file has the objects, with their generations, references and roots, that
// were written.
func TestGCDump(t *testing.T) {
	for _, path := range traces(t) {
		s := read(t, path)
		var b bytes.Buffer
		if err := snapshot.WriteGCDump(&b, s); err != nil {
			t.Fatal(err)
		}
		again, err := heap.ReadGCDump(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if again.Graph == nil || again.PID != s.PID || again.Bytes != s.Bytes || again.Statics != s.Statics {
			t.Fatalf("%s: %+v, want %+v", path, again, s)
		}
		if diff := gocmp.Diff(objects(s.Graph), objects(again.Graph)); diff != "" {
			t.Errorf("%s:\n%s", path, diff)
		}
		if diff := gocmp.Diff(s.Generations, again.Generations, unexported); diff != "" {
			t.Errorf("%s:\n%s", path, diff)
		}
	}
}

// TestGCDumpAgain reads a file of PerfView's, writes it and reads it again: both snapshots are
// equal, and writing the second gives the same bytes.
func TestGCDumpAgain(t *testing.T) {
	first := new(bytes.Buffer)
	first.Write(tracetest.Gunzip(t, "../../testdata/net8-wks-rich.gcdump.gz"))
	var files [][]byte
	var snapshots []*heap.Snapshot
	for range 3 {
		s, err := heap.ReadGCDump(first)
		if err != nil {
			t.Fatal(err)
		}
		first.Reset()
		if err := snapshot.WriteGCDump(first, s); err != nil {
			t.Fatal(err)
		}
		files, snapshots = append(files, slices.Clone(first.Bytes())), append(snapshots, s)
	}
	if snapshots[0].Dependent == 0 || snapshots[0].Statics == 0 {
		t.Fatalf("%+v", snapshots[0])
	}
	if !bytes.Equal(files[0], files[1]) || !bytes.Equal(files[1], files[2]) {
		t.Error("the files differ")
	}
	if diff := gocmp.Diff(snapshots[0], snapshots[1], unexported, cmpopts.IgnoreFields(heap.Snapshot{}, "Graph")); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff(objects(snapshots[0].Graph), objects(snapshots[1].Graph)); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff(snapshots[0].Graph.Ranges(), snapshots[1].Graph.Ranges()); diff != "" {
		t.Error(diff)
	}
}

// unexported compares what callers of package heap see.
var unexported = gocmp.FilterPath(func(p gocmp.Path) bool {
	field, is := p.Last().(gocmp.StructField)
	return is && !token.IsExported(field.Name())
}, gocmp.Ignore())

// TestDevTools: the numbers of a file are the graph's.
func TestDevTools(t *testing.T) {
	for _, path := range traces(t) {
		s := read(t, path)
		var b bytes.Buffer
		if err := snapshot.WriteDevTools(&b, s); err != nil {
			t.Fatal(err)
		}
		var file struct {
			Snapshot struct {
				Meta struct {
					NodeFields []string `json:"node_fields"`
					EdgeFields []string `json:"edge_fields"`
				}
				Nodes int `json:"node_count"`
				Edges int `json:"edge_count"`
			}
			Nodes, Edges []int64
			Strings      []string
		}
		if err := json.Unmarshal(b.Bytes(), &file); err != nil {
			t.Fatal(err)
		}
		nodes, edges := len(file.Snapshot.Meta.NodeFields), len(file.Snapshot.Meta.EdgeFields)
		if len(file.Nodes) != nodes*file.Snapshot.Nodes || len(file.Edges) != edges*file.Snapshot.Edges {
			t.Fatalf("%s: %d numbers of nodes, %d of edges", path, len(file.Nodes), len(file.Edges))
		}
		first := file.Snapshot.Nodes - s.Graph.Len()
		next := int64(0) // edge
		for n := range file.Snapshot.Nodes {
			node := file.Nodes[n*nodes:][:nodes]
			to := file.Edges[next*int64(edges):][:node[4]*int64(edges)]
			next += node[4]
			if n < first {
				continue
			}
			object := uint32(n - first)
			if name := file.Strings[node[1]]; name != s.Graph.Type(object).String() || node[3] != s.Graph.Size(object) {
				t.Fatalf("%s: object %d is a %s of %d bytes", path, object, name, node[3])
			}
			for k, want := range s.Graph.References(object) {
				if got := to[k*edges+2]; got != int64(first+int(want))*int64(nodes) {
					t.Fatalf("%s: reference %d of object %d leads to %d", path, k, object, got)
				}
			}
		}
		if next != int64(file.Snapshot.Edges) {
			t.Errorf("%s: nodes have %d edges", path, next)
		}
	}
}

// TestIncomplete: a snapshot without objects is not written.
func TestIncomplete(t *testing.T) {
	var b bytes.Buffer
	for _, err := range []error{snapshot.WriteGCDump(&b, new(heap.Snapshot)), snapshot.WriteDevTools(&b, new(heap.Snapshot))} {
		if !errors.Is(err, snapshot.ErrIncomplete) || b.Len() > 0 {
			t.Errorf("%v, %d bytes", err, b.Len())
		}
	}
}

// traces returns the traces with snapshots: one of the repository, and all of GCTRAIL_SHARED.
func traces(t *testing.T) []string {
	shared, err := filepath.Glob(filepath.Join(os.Getenv("GCTRAIL_SHARED"), "traces", "heap", "*rich.nettrace.xz"))
	if err != nil {
		t.Fatal(err)
	}
	return append(shared, "../../testdata/net10-wks-leak.nettrace.gz")
}
