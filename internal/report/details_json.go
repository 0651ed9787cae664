package report

import (
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
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
