package tui

import (
	"cmp"
	"slices"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/watch"
)

// A sorting is an order of processes, with the highest figures first.
type sorting struct {
	name    string
	heading string // of the column that it is by
	compare func(a, b *watch.Process) int
}

var sortings = []sorting{
	{"paused", "paused %", by(func(p *watch.Process) float64 { return p.Paused.Or(0) })},
	{"max", "max ms", by(func(p *watch.Process) float64 { return float64(p.Longest.Or(0)) })},
	{"rate", "GC/s", by(func(p *watch.Process) float64 { return p.Rate })},
	{"gcs", "GCs", by(func(p *watch.Process) float64 { return float64(p.Collections) })},
	{"alloc", "alloc MB/s", by(func(p *watch.Process) float64 { return p.Allocating.PerSecond })},
	{"heap", "heap MB", by(heapOf)},
	{"resident", "resident MB", by(func(p *watch.Process) float64 { return float64(p.Memory.RSS.Or(0)) })},
	{"name", "name", func(a, b *watch.Process) int { return cmp.Compare(a.Name, b.Name) }},
	{"pid", "pid", func(a, b *watch.Process) int { return cmp.Compare(idOf(a), idOf(b)) }},
}

// Sorts returns the names of the orders of processes.
func Sorts() []string {
	return text.Each(sortings, func(s *sorting) string { return s.name })
}

// by returns an order by a figure, the highest first.
func by(figure func(*watch.Process) float64) func(a, b *watch.Process) int {
	return func(a, b *watch.Process) int { return cmp.Compare(figure(b), figure(a)) }
}

// sort sorts processes: watched ones, then ended ones, then ones that cannot be watched.
func (s *sorting) sort(rows []*watch.Process, reversed bool) {
	slices.SortStableFunc(rows, func(a, b *watch.Process) int {
		order := s.compare(a, b)
		if reversed {
			order = -order
		}
		return cmp.Or(rank(a)-rank(b), order, a.ID-b.ID)
	})
}

func rank(p *watch.Process) int {
	return map[watch.State]int{watch.Watched: 0, watch.Ended: 1, watch.Found: 2}[p.State]
}

func heapOf(p *watch.Process) float64 { return float64(p.Heap.After.Or(0)) }

func idOf(p *watch.Process) int { return cmp.Or(p.PID, p.InnerPID) }
