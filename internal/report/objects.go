package report

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// A creation is of handles of a kind, by a method.
type creation struct {
	kind   clr.HandleKind
	method string
}

// handlesOf returns the handles of a process by kind, in descending order of open ones,
// each kind with the method that created most of them, and the method that creates most
// of the handles that pin.
func (d *Details) handlesOf(pid uint64) (list []findings.OpenHandles, pinnedFrom string) {
	open, pinning := make(map[creation]int64), make(map[creation]int64)
	for _, r := range d.handles.Rows(pid, true) {
		method := d.caller(r.Stack, isFramework)
		if method == "" {
			continue
		}
		open[creation{r.Kind, method}] += r.Open
		if r.Kind == clr.HandleKindPinned || r.Kind == clr.HandleKindAsyncPinned {
			pinning[creation{clr.HandleKindPinned, method}] += r.Created
		}
	}
	for _, r := range d.handles.Rows(pid, false) {
		from, n := most(open, r.Kind)
		list = append(list, findings.OpenHandles{
			Kind: r.Kind, Created: r.Created, Open: r.Open, Growth: r.Growth, From: filled(from), FromOpen: gc.SomeIf(n, from != ""),
		})
	}
	pinnedFrom, _ = most(pinning, clr.HandleKindPinned)
	return list, pinnedFrom
}

// most returns the method with the most handles of a kind, and their number.
func most(of map[creation]int64, kind clr.HandleKind) (method string, most int64) {
	for c, n := range of {
		if c.kind == kind && (n > most || n == most && n > 0 && c.method < method) {
			method, most = c.method, n
		}
	}
	return method, most
}

// pinnedTypes returns the objects pinned in collections, by type.
func (d *Details) pinnedTypes(pid uint64) []findings.PinnedType {
	rows := d.pins.Rows(pid)
	var all int64
	for i := range rows {
		all += rows[i].Count
	}
	return text.Each(rows[:min(len(rows), maxTypes)], func(r *handle.Pin) findings.PinnedType {
		return findings.PinnedType{
			Name: filled(r.Type), Pins: r.Count, Bytes: r.Bytes, Share: 100 * float64(r.Count) / float64(all),
			Collections: r.Collections, Longest: r.Longest,
			ByHandle: r.ByHandle, Gap: r.Gap,
		}
	})
}

// finalizedTypes returns the finalized objects, by type.
func (d *Details) finalizedTypes(pid uint64) []findings.FinalizedType {
	rows := d.finalizers.Rows(pid)
	var all int64
	for i := range rows {
		all += rows[i].Count
	}
	return text.Each(rows[:min(len(rows), maxTypes)], func(r *handle.Finalized) findings.FinalizedType {
		return findings.FinalizedType{Name: filled(r.Type), Count: r.Count, Share: 100 * float64(r.Count) / float64(all)}
	})
}

// writeHandles writes the open handles that findings quote.
func (c *Case) writeHandles(p *text.Page) {
	list := firstQuoted(c, func(f *findings.Finding) []findings.OpenHandles { return f.Handles })
	var g grid
	g.words("kind", 0, text.Each(list, func(h *findings.OpenHandles) string { return h.Kind.String() }))
	g.numbers("created", 0, text.Each(list, func(h *findings.OpenHandles) string { return units.Count(h.Created) }))
	g.numbers("left open", 0, text.Each(list, func(h *findings.OpenHandles) string { return units.Count(h.Open) }))
	g.numbers("growth/s", 2, text.Each(list, func(h *findings.OpenHandles) string { return units.Count(int64(h.Growth)) }))
	g.words("most from", 1, text.Each(list, func(h *findings.OpenHandles) string { return h.From.Or(units.Unknown) }))
	g.section(p, "GC handles by kind")
}

// writePins writes the pinned types that findings quote.
func (c *Case) writePins(p *text.Page) {
	list := firstQuoted(c, func(f *findings.Finding) []findings.PinnedType { return f.Pins })
	var g grid
	g.numbers("pins", 0, text.Each(list, func(t *findings.PinnedType) string { return units.Count(t.Pins) }))
	g.numbers("%", 0, text.Each(list, func(t *findings.PinnedType) string { return units.Share(t.Share) }))
	g.sizes("size", 0, text.Each(list, func(t *findings.PinnedType) stats.Bytes { return exact(gc.Some(t.Bytes)) }))
	g.numbers("GCs", 1, text.Each(list, func(t *findings.PinnedType) string { return units.Count(t.Collections) }))
	g.numbers("in a row", 2, text.Each(list, func(t *findings.PinnedType) string { return units.Count(t.Longest) }))
	g.numbers("by handle", 3, text.Each(list, func(t *findings.PinnedType) string { return units.Optional(t.ByHandle, units.Count[int64]) }))
	g.sizes("held apart", 4, text.Each(list, func(t *findings.PinnedType) stats.Bytes { return exact(t.Gap) }))
	g.words("type", 0, text.Each(list, func(t *findings.PinnedType) string { return t.Name.Or(units.Unknown) }))
	g.section(p, "Pinned objects by type")
}

// writeFinalized writes the finalized types that findings quote.
func (c *Case) writeFinalized(p *text.Page) {
	list := firstQuoted(c, func(f *findings.Finding) []findings.FinalizedType { return f.Finalized })
	var g grid
	g.numbers("finalized", 0, text.Each(list, func(t *findings.FinalizedType) string { return units.Count(t.Count) }))
	g.numbers("%", 0, text.Each(list, func(t *findings.FinalizedType) string { return units.Share(t.Share) }))
	g.words("type", 0, text.Each(list, func(t *findings.FinalizedType) string { return t.Name.Or(units.Unknown) }))
	g.section(p, "Finalized objects by type")
}

// maxQuotedHeaps is how many heaps of server GC a report shows.
const maxQuotedHeaps = 8

// writeHeaps writes the activities of server GC's threads in pauses, for the heaps that
// findings quote.
func (c *Case) writeHeaps(p *text.Page) {
	heaps := firstQuoted(c, func(f *findings.Finding) []join.Row { return f.Heaps })
	if len(heaps) == 0 {
		return
	}
	shown := heaps[:min(len(heaps), maxQuotedHeaps)]
	times := func(of func(*join.Row) time.Duration) []gc.Opt[time.Duration] {
		return text.Each(shown, func(r *join.Row) gc.Opt[time.Duration] { return gc.Some(of(r)) })
	}
	var g grid
	g.numbers("heap", 0, text.Each(shown, func(r *join.Row) string { return fmt.Sprint(r.Heap) }))
	g.times("working", 0, times(func(r *join.Row) time.Duration { return r.Working }))
	g.times("waiting", 0, times(func(r *join.Row) time.Duration { return r.Waiting }))
	g.times("waking", 0, times(func(r *join.Row) time.Duration { return r.Waking }))
	g.numbers("came last", 1, text.Each(shown, func(r *join.Row) string { return units.Count(r.Last) }))
	g.times("others waited", 0, times(func(r *join.Row) time.Duration { return r.WaitedFor }))
	g.section(p, fmt.Sprintf("Threads of server GC in %s of pauses", units.Duration(c.Details.Joins.Pause())))
	if more := len(heaps) - len(shown); more > 0 {
		p.Line("%s others waited less for.", text.Plural(int64(more), "more heap that", "more heaps that"))
	}
}

// firstQuoted returns the first finding's quotes of one kind. One is enough, because all
// findings with such quotes have the same.
func firstQuoted[T any](c *Case, quoted func(*findings.Finding) []T) []T {
	for i := range c.Findings {
		if list := quoted(&c.Findings[i]); len(list) > 0 {
			return list
		}
	}
	return nil
}

func orDash(s string) string { return cmp.Or(s, units.Unknown) }
