package report

import (
	"fmt"
	"slices"

	"github.com/gctrail/gctrail/gc"
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
	type row = findings.AllocatedType
	var g grid
	g.numbers("allocated", 0, text.Each(types, func(t *row) string { return units.MB(t.Bytes) }))
	g.numbers("%", 0, text.Each(types, func(t *row) string { return fmt.Sprintf("%.1f", t.Share) }))
	g.numbers("95 % from", 2, text.Each(types, func(t *row) string { return units.MB(t.Low) }))
	g.numbers("to", 2, text.Each(types, func(t *row) string { return units.Optional(gc.SomeIf(t.High, !t.Open), units.MB) }))
	g.words("type", 0, text.Each(types, func(t *row) string { return t.Name }))
	g.words("most from", 1, text.Each(types, func(t *row) string { return orDash(t.From) }))
	g.section(p, fmt.Sprintf("%s, MB: estimated from %s", allocatedHeadings[types[0].Heap], c.Details.Source.Event()))
}

func writeCallers(p *text.Page, f *findings.Finding) {
	if len(f.Callers) <= 1 {
		return // Says names it
	}
	callers := f.Callers[:min(len(f.Callers), maxCallers)]
	var g grid
	g.numbers("calls", 0, text.Each(callers, func(c *findings.Caller) string { return units.Count(c.Count) }))
	g.words("method", 0, text.Each(callers, func(c *findings.Caller) string { return c.Method }))
	g.section(p, fmt.Sprintf("Callers that induce GCs (%s)", f.ID))
}
