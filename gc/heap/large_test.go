package heap_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// BenchmarkLarge builds the dominator tree of 20 million objects, and reports the peak memory
// of the process. Run it alone: go test -run - -bench Large -benchtime 1x ./gc/heap
func BenchmarkLarge(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // as gctrail objects does
	for b.Loop() {
		const n = 20_000_000
		m := heap.Snapshots{MaxObjects: heap.MaxObjects}
		p := pass.New(&m)
		feedLarge(p, n)
		p.End(&trace.Loss{})
		s := m.All()[0]
		if s.Graph == nil {
			b.Fatalf("missing %+v", s.Missing)
		}
		d := s.Graph.Dominators()
		if d.Live() != n || len(s.Groups(heap.Query{}, d)) != 50 {
			b.Fatalf("%d objects are alive", d.Live())
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	_, after, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kilobytes float64
	fmt.Sscan(string(after), &kilobytes)
	b.ReportMetric(kilobytes/1e3, "peak-MB")
}

// feedLarge feeds a heap of n objects of 50 types: a tree of three references each, and from
// every third object one to an earlier object.
func feedLarge(p *pass.Pass, n int) {
	maker := tracetest.Maker{PID: 7, TID: 1}
	feed := func(e clr.Event) {
		ev := maker.At(0, e)
		ev.PointerSize, ev.Payload = 8, e.Append(nil, ev.Desc.Version, 8)
		p.Feed(ev)
	}
	address := func(i int) uint64 { return 0x1000 + 48*uint64(i) }
	feed(&clr.GCStart{Count: 7, Depth: 2})
	nodes, edges := &clr.GCBulkNode{}, &clr.GCBulkEdge{}
	flush := func(least int) {
		if len(nodes.Values) >= least {
			feed(nodes)
			nodes = &clr.GCBulkNode{Index: nodes.Index + 1, Values: nodes.Values[:0]}
		}
		if len(edges.Values) >= least {
			feed(edges)
			edges = &clr.GCBulkEdge{Index: edges.Index + 1, Values: edges.Values[:0]}
		}
	}
	for i := range n {
		count := len(edges.Values)
		for child := 3*i + 1; child <= 3*i+3 && child < n; child++ {
			edges.Values = append(edges.Values, clr.GCBulkEdgeValue{Value: address(child)})
		}
		if i%3 == 0 {
			edges.Values = append(edges.Values, clr.GCBulkEdgeValue{Value: address(i / 2)})
		}
		nodes.Values = append(nodes.Values, clr.GCBulkNodeValue{Address: address(i), Size: 40, TypeID: 16 * uint64(1+i%50), EdgeCount: uint64(len(edges.Values) - count)})
		flush(2000)
	}
	flush(1)
	feed(&clr.GCBulkRootStaticVar{Values: []clr.GCBulkRootStaticVarValue{{ObjectID: address(0), FieldName: clr.NewUTF16("all")}}})
	feed(&clr.GCGenerationRange{Generation: 2, RangeStart: address(0), RangeUsedLength: address(n)})
	feed(&clr.GCEnd{Count: 7, Depth: 2})
}
