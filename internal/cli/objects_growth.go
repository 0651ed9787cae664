package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

// A growthOf is the growth of a process from the first to the last of several snapshots.
type growthOf struct {
	of       []*snapshotOf
	all      []*heap.Snapshot // the same
	types    []heap.TypeGrowth
	suspects []heap.Suspect
}

// byProcess divides snapshots by process. Files of .gcdump without a process id are of one
// process.
func byProcess(all []*snapshotOf) [][]*snapshotOf {
	var processes [][]*snapshotOf
	for _, s := range all {
		i := slices.IndexFunc(processes, func(of []*snapshotOf) bool { return of[0].PID == s.PID })
		if i < 0 {
			processes = append(processes, []*snapshotOf{s})
			continue
		}
		processes[i] = append(processes[i], s)
	}
	return processes
}

// grownIn returns the growth in each process of which there are several snapshots.
func grownIn(all []*snapshotOf) []growthOf {
	var compared []growthOf
	for _, of := range byProcess(all) {
		if len(of) < 2 {
			continue
		}
		snapshots := heap.Comparable(text.Each(of, func(s **snapshotOf) *heap.Snapshot { return (*s).Snapshot }))
		of = slices.DeleteFunc(of, func(s *snapshotOf) bool { return !slices.Contains(snapshots, s.Snapshot) })
		compared = append(compared, growthOf{of, snapshots, heap.Grown(snapshots[0], snapshots[len(snapshots)-1]), heap.Suspects(snapshots)})
	}
	return compared
}

// head writes what stands above the types that grew.
func (g *growthOf) head(p *text.Page) {
	first, last := g.of[0], g.of[len(g.of)-1]
	p.Heading("%s: growth from %s to %s, %s", called(last.process), first.Label(), last.Label(), text.Plural(int64(len(g.of)), "snapshot", "snapshots"))
	for i := range g.suspects {
		p.Prose("Suspect: ", g.suspects[i].String()+".")
	}
	if len(g.suspects) == 0 {
		p.Prose("Suspects: ", heap.Unsuspected(g.all)+".")
	}
}

var growthFields = []list.Field[heap.TypeGrowth]{
	{Name: "objects", Heading: "objects", Type: figure.Int, Value: func(r *heap.TypeGrowth) figure.Value { return list.Count(r.Objects) }},
	{Name: "bytes", Heading: "MB", Type: figure.Bytes, Value: func(r *heap.TypeGrowth) figure.Value { return list.Bytes(r.Bytes) }},
	{Name: "type", Heading: "type", Left: true, Type: figure.Text, Value: func(r *heap.TypeGrowth) figure.Value { return list.Word(r.Type.String()) }},
}

// placeFields are the columns of growth by path, or by holder.
func placeFields(by heap.Grouping) []list.Field[heap.PlaceGrowth] {
	return []list.Field[heap.PlaceGrowth]{
		{Name: "objects", Heading: "objects", Type: figure.Int, Value: func(r *heap.PlaceGrowth) figure.Value { return list.Count(r.Objects) }},
		{Name: "bytes", Heading: "MB", Type: figure.Bytes, Value: func(r *heap.PlaceGrowth) figure.Value { return list.Bytes(r.Bytes) }},
		{Name: "retained_bytes", Heading: "retained MB", Type: figure.Bytes, Value: func(r *heap.PlaceGrowth) figure.Value { return list.Bytes(r.Retained) }},
		{Name: by.String(), Heading: by.String(), Left: true, Type: figure.Text, Value: func(r *heap.PlaceGrowth) figure.Value { return list.Word(strings.Join(r.Path(), " → ")) }},
	}
}

// writeGrowth writes a table of the growth between the snapshots that were listed.
func (o *objectsOptions) writeGrowth(std *stdio, out *output, by heap.Grouping) error {
	grown := heap.GrownHolders
	switch by {
	case heap.ByType:
		return writeGrown(o, std, out, growthFields, func(g *growthOf) []heap.TypeGrowth {
			return slices.DeleteFunc(g.types, func(t heap.TypeGrowth) bool { return t.Bytes <= 0 })
		})
	case heap.ByPath:
		grown = heap.GrownPaths
	}
	return writeGrown(o, std, out, placeFields(by), func(g *growthOf) []heap.PlaceGrowth {
		rows := grown(g.all[0], g.all[len(g.all)-1], o.typeFilter())
		return slices.DeleteFunc(rows, func(r heap.PlaceGrowth) bool { return r.Bytes <= 0 })
	})
}

// writeGrown writes the rows of each process with several snapshots.
func writeGrown[R any](o *objectsOptions, std *stdio, out *output, fields []list.Field[R], rows func(*growthOf) []R) error {
	l := o.listing
	l.sort = "" // by a column of the snapshots
	w := newRowWriter(&l, std, out, fields)
	w.begun = len(o.listed)
	for _, g := range grownIn(o.listed) {
		if err := w.section(g.head, rows(&g)); err != nil {
			return err
		}
	}
	return nil
}

// A growthDoc is the growth of a process, in JSON.
type growthDoc struct {
	PID   gc.Opt[int64]   `json:"pid"`
	From  gc.Opt[int64]   `json:"from_number"`
	To    gc.Opt[int64]   `json:"to_number"`
	Types []typeGrowthDoc `json:"types"`
	// Paths and Holders are empty if a part of a snapshot is missing.
	Paths    []placeGrowthDoc `json:"paths"`
	Holders  []placeGrowthDoc `json:"holders"`
	Suspects []suspectDoc     `json:"-"` // of the last snapshot
}

type typeGrowthDoc struct {
	Type    string `json:"type"`
	Objects int64  `json:"objects"`
	Bytes   int64  `json:"bytes"`
}

type placeGrowthDoc struct {
	Path     []string `json:"path"`
	Objects  int64    `json:"objects"`
	Bytes    int64    `json:"bytes"`
	Retained int64    `json:"retained_bytes"`
}

// placeDocs returns the first places, as many as a table has if there is no limit.
func placeDocs(grown []heap.PlaceGrowth, limit int) []placeGrowthDoc {
	return text.Each(grown[:min(cmp.Or(limit, defaultTop), len(grown))], func(g *heap.PlaceGrowth) placeGrowthDoc {
		return placeGrowthDoc{g.Path(), g.Objects, g.Bytes, g.Retained}
	})
}

type suspectDoc struct {
	Says       string   `json:"says"`
	Path       []string `json:"path"`
	Retained   int64    `json:"retained_bytes"`
	Grew       int64    `json:"grew_bytes"`
	Confidence string   `json:"confidence"`
}

// newGrowthDocs returns the growth between the listed snapshots.
func newGrowthDocs(listed []*snapshotOf, limit int) []growthDoc {
	docs := []growthDoc{}
	for _, g := range grownIn(listed) {
		first, last := g.of[0], g.of[len(g.of)-1]
		doc := growthDoc{PID: last.pid(), From: first.number(), To: last.number(), Types: []typeGrowthDoc{}, Suspects: g.docs()}
		doc.Paths = placeDocs(heap.GrownPaths(first.Snapshot, last.Snapshot, nil), limit)
		doc.Holders = placeDocs(heap.GrownHolders(first.Snapshot, last.Snapshot, nil), limit)
		for _, t := range g.types {
			if limit == 0 || len(doc.Types) < limit {
				doc.Types = append(doc.Types, typeGrowthDoc{t.Type.String(), t.Objects, t.Bytes})
			}
		}
		docs = append(docs, doc)
	}
	return docs
}

func (g *growthOf) docs() []suspectDoc {
	return text.Each(g.suspects, func(s *heap.Suspect) suspectDoc {
		return suspectDoc{s.String(), s.PathWords(), s.Retained, s.Grew, s.Confidence()}
	})
}

// suspectsIn returns the suspects of the growth that ends with a snapshot.
func suspectsIn(growth []growthDoc, s *snapshotDoc) []suspectDoc {
	for i := range growth {
		if growth[i].PID == s.PID && growth[i].To == s.Number {
			return growth[i].Suspects
		}
	}
	return []suspectDoc{}
}
