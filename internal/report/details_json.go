package report

import (
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
)

// typesJSON returns the types that a finding quotes.
func (c *Case) typesJSON(f *findings.Finding) []AllocatedType {
	types := []AllocatedType{}
	for i := range f.Types {
		t := &f.Types[i]
		types = append(types, AllocatedType{
			Type: t.Name, Heap: filled(t.Heap.String()), Source: c.Details.Source.String(),
			Bytes: t.Bytes, LowBytes: t.Low, HighBytes: gc.SomeIf(t.High, !t.Open), SharePct: t.Share,
			From: filled(t.From), FromBytes: gc.SomeIf(t.FromBytes, t.From != ""),
		})
	}
	return types
}

func heapsJSON(f *findings.Finding) []HeapThread {
	list := []HeapThread{}
	for _, r := range f.Heaps {
		list = append(list, HeapThread{r.Heap, Millis(r.Working), Millis(r.Waiting), Millis(r.Waking), r.Last, Millis(r.WaitedFor)})
	}
	return list
}
