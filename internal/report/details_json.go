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
		j := AllocatedType{
			Type: t.Name, Heap: filled(t.Heap.String()), Source: c.Details.Source.String(),
			Bytes: t.Bytes, LowBytes: t.Low, HighBytes: gc.Some(t.High), SharePct: t.Share, From: filled(t.From),
		}
		if t.Open {
			j.HighBytes = gc.Opt[int64]{}
		}
		if t.From != "" {
			j.FromBytes = gc.Some(t.FromBytes)
		}
		types = append(types, j)
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
		j := HandleGrowth{Kind: h.Kind.String(), Created: h.Created, Open: h.Open, GrowthPerSecond: h.Growth, From: filled(h.From)}
		if h.From != "" {
			j.FromOpen = gc.Some(h.FromOpen)
		}
		list = append(list, j)
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
