package report

import (
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/internal/text"
)

// typesJSON returns the types that a finding quotes.
func (c *Case) typesJSON(f *findings.Finding) []AllocatedType {
	return text.Each(f.Types, func(t *findings.AllocatedType) AllocatedType {
		return AllocatedType{
			Type: t.Name, Heap: filled(t.Heap.String()), Source: c.Details.Source.String(),
			Bytes: t.Bytes, LowBytes: t.Low, HighBytes: gc.SomeIf(t.High, !t.Open), SharePct: t.Share,
			From: filled(t.From), FromBytes: gc.SomeIf(t.FromBytes, t.From != ""),
		}
	})
}

func heapsJSON(f *findings.Finding) []HeapThread {
	return text.Each(f.Heaps, func(r *join.Row) HeapThread {
		return HeapThread{r.Heap, Millis(r.Working), Millis(r.Waiting), Millis(r.Waking), r.Last, Millis(r.WaitedFor)}
	})
}

func handlesJSON(f *findings.Finding) []HandleGrowth {
	return text.Each(f.Handles, func(h *findings.OpenHandles) HandleGrowth {
		return HandleGrowth{h.Kind.String(), h.Created, h.Open, h.Growth, filled(h.From), gc.SomeIf(h.FromOpen, h.From != "")}
	})
}

func pinsJSON(f *findings.Finding) []PinnedType {
	return text.Each(f.Pins, func(t *findings.PinnedType) PinnedType {
		return PinnedType{filled(t.Name), t.Pins, t.Bytes, t.Share, t.Collections, t.Longest, t.ByHandle, t.Gap}
	})
}

func finalizedJSON(f *findings.Finding) []FinalizedType {
	return text.Each(f.Finalized, func(t *findings.FinalizedType) FinalizedType { return FinalizedType{filled(t.Name), t.Count, t.Share} })
}

// callersJSON returns the callers that a finding quotes.
func callersJSON(f *findings.Finding) []Caller {
	return text.Each(f.Callers[:min(len(f.Callers), maxCallers)], func(c *findings.Caller) Caller { return Caller{c.Method, c.Count} })
}
