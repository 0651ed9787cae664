package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

// The lists of free space.
const (
	freeGaps = "gaps"
	freePins = "pins"
)

var freeLists = []string{freeGaps, freePins}

// A freeRow is a gap of a snapshot, or several that objects of one type keep open.
type freeRow struct {
	of *snapshotOf
	heap.Pinner
	start, pinned uint64 // addresses; pinned is 0 for none
	next          string // the type of the object behind the gap
	path          []string
}

func freeFields(lists string) []list.Field[freeRow] {
	word := func(name, heading string, value func(*freeRow) string) list.Field[freeRow] {
		return list.Field[freeRow]{Name: name, Heading: heading, Left: true, Type: figure.Text, Value: func(r *freeRow) figure.Value { return list.Word(value(r)) }}
	}
	hex := func(address uint64) string {
		if address == 0 {
			return ""
		}
		return fmt.Sprintf("0x%x", address)
	}
	fields := []list.Field[freeRow]{
		{Name: "pid", Type: figure.Int, Value: func(r *freeRow) figure.Value { return list.PID(r.of.PID) }},
		{Name: "number", Type: figure.Int, Value: func(r *freeRow) figure.Value { return list.If(r.of.Number > 0, list.Count(r.of.Number)) }},
		{Name: "free_bytes", Heading: "MB", Type: figure.Bytes, Value: func(r *freeRow) figure.Value { return list.Bytes(r.Bytes) }},
	}
	if lists == freePins {
		fields = append(fields, list.Field[freeRow]{Name: "gaps", Heading: "gaps", Type: figure.Int, Value: func(r *freeRow) figure.Value { return list.Count(r.Gaps) }})
	}
	fields = append(fields, word("generation", "generation", func(r *freeRow) string { return r.Generation }))
	if lists == freeGaps {
		fields = append(fields,
			word("address", "address", func(r *freeRow) string { return hex(r.start) }),
			word("next", "", func(r *freeRow) string { return r.next }),
			word("pinned", "pinned", func(r *freeRow) string { return hex(r.pinned) }),
			word("path", "", func(r *freeRow) string { return strings.Join(r.path, " → ") }))
	}
	return append(fields,
		word("pinned_by", "pinned by", func(r *freeRow) string { return r.Root }),
		word("type", "type", func(r *freeRow) string {
			if r.Type == nil {
				return ""
			}
			return r.Type.String()
		}))
}

func (o *objectsOptions) freeConflict() error {
	if o.by.value != heap.ByType.String() || o.types != "" || o.tree || o.root.value != "" || o.format.value == "json" {
		return errors.New("--free lists the space between objects; leave out --by, --root, --type, --tree and --format json")
	}
	return nil
}

// freeRows returns the free space of a snapshot with a graph, the largest rows first.
func (o *objectsOptions) freeRows(of *snapshotOf) []freeRow {
	gaps := slices.DeleteFunc(of.Graph.Gaps(), func(g heap.Gap) bool {
		return g.Bytes < o.minSize || o.generation.value != "" && g.Generation != o.generation.value
	})
	if o.free.value == freePins {
		return text.Each(of.Graph.Pinners(gaps), func(p *heap.Pinner) freeRow { return freeRow{of: of, Pinner: *p} })
	}
	slices.SortStableFunc(gaps, func(a, b heap.Gap) int { return cmp.Compare(b.Bytes, a.Bytes) })
	g, wayTo := of.Graph, of.Graph.Ways()
	rows := make([]freeRow, len(gaps))
	for i := range gaps {
		gap, r := &gaps[i], &rows[i]
		r.of, r.start, r.Generation, r.Bytes = of, gap.Start, gap.Generation, gap.Bytes
		if gap.HasNext {
			r.next = g.Type(gap.Next).String()
		}
		if gap.Pinned {
			object := gap.Pin.Object
			r.pinned, r.Type, r.Root = g.Address(object), g.Type(object), gap.Pin.String()
			r.path = heap.PathWords(wayTo(object))
		}
	}
	return rows
}

// writeFree writes the free space of snapshots.
func (o *objectsOptions) writeFree(std *stdio, out *output, snapshots []*snapshotOf) error {
	w := newRowWriter(&o.listing, std, out, freeFields(o.free.value))
	w.begun = len(o.listed)
	w.below = func(r *freeRow) []string {
		if len(r.path) < 3 {
			return nil // the columns say it
		}
		return []string{"    from " + strings.Join(r.path[:len(r.path)-1], " → ")}
	}
	o.listed = append(o.listed, snapshots...)
	for _, of := range snapshots {
		var rows []freeRow
		if of.Graph != nil {
			rows = o.freeRows(of)
		}
		head := func(p *text.Page) {
			of.head(p)
			if of.Generations == nil {
				p.Prose("Free between objects: ", "unknown, because the trace does not have the ranges of generations. Record one that has them with: gctrail dump -p PID")
			}
		}
		if err := w.section(head, rows); err != nil {
			return err
		}
	}
	return nil
}
