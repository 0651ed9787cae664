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

func handlesJSON(f *findings.Finding) []HandleGrowth {
	list := []HandleGrowth{}
	for i := range f.Handles {
		h := &f.Handles[i]
		list = append(list, HandleGrowth{h.Kind.String(), h.Created, h.Open, h.Growth, filled(h.From), gc.SomeIf(h.FromOpen, h.From != "")})
	}
	return list
}

func pinsJSON(f *findings.Finding) []PinnedType {
	list := []PinnedType{}
	for i := range f.Pins {
		t := &f.Pins[i]
		list = append(list, PinnedType{filled(t.Name), t.Pins, t.Bytes, t.Share, t.Collections, t.Longest, t.ByHandle, t.Gap})
	}
	return list
}

func finalizedJSON(f *findings.Finding) []FinalizedType {
	list := []FinalizedType{}
	for i := range f.Finalized {
		t := &f.Finalized[i]
		list = append(list, FinalizedType{filled(t.Name), t.Count, t.Share})
	}
	return list
}

// callersJSON returns the callers that a finding quotes.
func callersJSON(f *findings.Finding) []Caller {
	callers := []Caller{}
	for _, c := range f.Callers[:min(len(f.Callers), maxCallers)] {
		callers = append(callers, Caller{c.Method, c.Count})
	}
	return callers
}
