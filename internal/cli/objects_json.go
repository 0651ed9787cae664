package cli

import (
	"fmt"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/trace"
)

// objectsDoc is the output of objects --format json for a file.
type objectsDoc struct {
	Snapshots []snapshotDoc `json:"snapshots"`
	// Growth compares the snapshots of this file and of the files before it.
	Growth []growthDoc `json:"growth"`
}

// A snapshotDoc is a snapshot in JSON. What is not known is null.
type snapshotDoc struct {
	Number      gc.Opt[int64]    `json:"number"`
	PID         gc.Opt[int64]    `json:"pid"`
	Process     gc.Opt[string]   `json:"process"`
	Complete    bool             `json:"complete"`
	Sampled     bool             `json:"sampled"`
	Missing     gc.Opt[int64]    `json:"missing_bytes"`
	Objects     int64            `json:"objects"`
	Bytes       int64            `json:"bytes"`
	Aligned     int64            `json:"aligned_bytes"`
	Edges       gc.Opt[int64]    `json:"edges"`
	Dependent   int64            `json:"dependent_handles"`
	Statics     int64            `json:"statics"`
	WeakRoots   int64            `json:"weak_roots"`
	Live        gc.Opt[int64]    `json:"live_objects"`
	LiveBytes   gc.Opt[int64]    `json:"live_bytes"`
	Roots       map[string]int64 `json:"roots"`
	Generations []generationDoc  `json:"generations"`
	Types       []typeDoc        `json:"types"`
	Suspects    []suspectDoc     `json:"suspects"`
}

type generationDoc struct {
	Name    string        `json:"name"`
	Objects int64         `json:"objects"`
	Bytes   int64         `json:"bytes"`
	Free    gc.Opt[int64] `json:"free_bytes"`
}

type typeDoc struct {
	Type      gc.Opt[string] `json:"type"`
	Declaring gc.Opt[string] `json:"declaring"`
	Module    gc.Opt[string] `json:"module"`
	ID        gc.Opt[string] `json:"type_id"`
	Objects   int64          `json:"objects"`
	Bytes     int64          `json:"bytes"`
	Retained  gc.Opt[int64]  `json:"retained_bytes"`
}

func newSnapshotDoc(s *snapshotOf, limit int) snapshotDoc {
	doc := snapshotDoc{
		Process: word(s.process.Name), Complete: s.Missing.Whole(), Sampled: s.Sampled, Missing: s.Missing.Bytes,
		Objects: s.Objects, Bytes: s.Bytes, Aligned: s.Aligned, Dependent: s.Dependent, Statics: s.Statics, WeakRoots: s.WeakRoots,
		Edges: gc.SomeIf(s.Edges, s.Missing.Whole()), Number: s.number(), PID: s.pid(), Roots: make(map[string]int64), Suspects: []suspectDoc{},
	}
	for k, n := range s.Roots {
		doc.Roots[heap.RootKind(k).String()] = n
	}
	doc.Generations = text.Each(s.Generations, func(g *heap.GenerationUse) generationDoc { return generationDoc{g.Name, g.Objects, g.Bytes, g.Free} })
	if s.tree != nil {
		doc.Live, doc.LiveBytes = gc.Some(s.tree.Live()), gc.Some(s.tree.LiveBytes())
	}
	types := s.Groups(heap.Query{By: heap.ByType}, s.tree)
	if limit > 0 && limit < len(types) {
		types = types[:limit]
	}
	doc.Types = text.Each(types, func(t *heap.Group) typeDoc {
		id := gc.SomeIf(fmt.Sprintf("0x%x", t.Type.ID), t.Type.ID != 0)
		return typeDoc{word(t.Type.Name), word(t.Type.Declaring), word(t.Type.Module), id, t.Objects, t.Bytes.Or(0), t.Retained}
	})
	return doc
}

func (s *snapshotOf) number() gc.Opt[int64] { return gc.SomeIf(int64(s.Number), s.Number > 0) }

func (s *snapshotOf) pid() gc.Opt[int64] {
	return gc.SomeIf(int64(s.PID), s.PID != trace.UnknownID)
}

// word returns a word, unknown if it is empty.
func word(s string) gc.Opt[string] { return gc.SomeIf(s, s != "") }
