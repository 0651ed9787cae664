package report

import (
	"fmt"
	"slices"

	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

var allocatedHeadings = [...]string{
	alloc.HeapUnknown: "Allocated types",
	alloc.Small:       "Allocated types, small objects",
	alloc.Large:       "Allocated types, LOH",
	alloc.Pinned:      "Allocated types, POH",
}

// writeDetails writes the types, callers and objects that findings quote.
func (c *Case) writeDetails(p *text.Page) {
	for _, types := range c.quotedTypes() {
		c.writeTypes(p, types)
	}
	for i := range c.Findings {
		writeCallers(p, &c.Findings[i])
	}
	c.writeHandles(p)
	c.writePins(p)
	c.writeFinalized(p)
	c.writeHeaps(p)
}

// quotedTypes returns the types that findings quote, each heap once.
func (c *Case) quotedTypes() [][]findings.AllocatedType {
	var all [][]findings.AllocatedType
	for i := range c.Findings {
		types := c.Findings[i].Types
		if len(types) == 0 || slices.ContainsFunc(all, func(s []findings.AllocatedType) bool { return s[0].Heap == types[0].Heap }) {
			continue
		}
		all = append(all, types)
	}
	return all
}

func (c *Case) writeTypes(p *text.Page, types []findings.AllocatedType) {
	p.Section("%s, MB: estimated from %s", allocatedHeadings[types[0].Heap], c.Details.Source.Event())
	var rows [][]string
	for i := range types {
		t := &types[i]
		high := units.MB(t.High)
		if t.Open {
			high = units.Unknown
		}
		rows = append(rows, []string{units.MB(t.Bytes), fmt.Sprintf("%.1f", t.Share), units.MB(t.Low), high, t.Name, orDash(t.From)})
	}
	p.Table([]text.Column{
		{Heading: "allocated"},
		{Heading: "%"},
		{Heading: "95 % from", Rank: 2},
		{Heading: "to", Rank: 2},
		{Heading: "type", Left: true},
		{Heading: "most from", Left: true, Rank: 1},
	}, rows)
}

func writeCallers(p *text.Page, f *findings.Finding) {
	if len(f.Callers) <= 1 {
		return // Says names it
	}
	p.Section("Callers that induce GCs (%s)", f.ID)
	var rows [][]string
	for _, c := range f.Callers[:min(len(f.Callers), maxCallers)] {
		rows = append(rows, []string{units.Count(c.Count), c.Method})
	}
	p.Table([]text.Column{{Heading: "calls"}, {Heading: "method", Left: true}}, rows)
}
