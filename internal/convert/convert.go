package convert

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/parquet"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/export/snapshot"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// ErrNothing reports that the trace has no data for the format. A format of allocations
// alone has then written nothing; others have written an empty result.
var ErrNothing = errors.New("nothing to convert")

// An Input is a trace that is read once, for its collections and for other models.
type Input interface {
	trace.Source
	Collections(*gc.Model, ...pass.Model) iter.Seq2[*gc.Collection, error]
	Name() string
}

// A Converter converts one trace.
type Converter struct {
	format   *Format
	selected *selection.Selection
	all      bool // parts, else the first only

	name     string
	info     *trace.Info
	table    symbol.Table
	types    symbol.Types
	allocs   alloc.Model
	heaps    heap.Snapshots
	requests request.Model
	loss     *trace.Loss
	found    findings.Set
	results  []findings.Result
	model    gc.Model

	allocated []*export.Allocations
	phases    []*background.Collection
	phase     background.Model
	events    *parquet.Events
	err       error // of events
	writers   []export.Writer
	dump      *heap.Snapshot // of a .gcdump file, instead of a trace

	// Collections counts the written collections, and Samples the written samples of
	// allocations.
	Collections, Samples int64
	// LeftOut counts collections that the format has no room for.
	LeftOut int64
	// Requests counts the written spans, and RequestsLeftOut the ones that there was no room
	// for.
	Requests, RequestsLeftOut int64
	// Redacted keeps the name of the trace out of the output.
	Redacted bool
	// GC selects the heap snapshots of collections with this number; 0 selects all.
	GC uint32
	// Heap selects the stacks of a heap snapshot, which a format otherwise has only of a trace
	// without allocations. They are ways in the dominator tree, or the shortest from roots
	// if ByPath is set.
	Heap, ByPath bool
	// Snapshot is the written heap snapshot, and Snapshots counts the selected ones. A format
	// with all snapshots omits Incomplete ones, because it has no place for the missing parts.
	Snapshot              *heap.Snapshot
	Snapshots, Incomplete int
	// Live counts the objects that stacks have of the heap snapshot, which are alive.
	Live int64
	// PIDs are the processes whose events are written; nil for all.
	PIDs map[uint64]bool
}

// maxPhases bounds the background collections whose phases are retained.
const maxPhases = 1 << 16

// New returns a Converter of a selection. It writes every part of the format if all is
// set, and otherwise only the first.
func New(f *Format, o *selection.Selection, all bool) *Converter {
	c := &Converter{format: f, selected: o, all: all}
	c.phase.Done = func(b *background.Collection) {
		if len(c.phases) < maxPhases {
			c.phases = append(c.phases, b)
		}
	}
	if c.format.Snapshots() {
		c.heaps.MaxObjects = heap.MaxObjects
	}
	if c.Stacks() {
		c.allocs.KeepTimes = c.format.timed
		c.allocs.Stacks, c.allocs.Types = symbol.NewStacks(&c.table), &c.types
	}
	return c
}

// parts returns the parts to write.
func (c *Converter) parts() []part {
	if c.all {
		return c.format.parts
	}
	return c.format.parts[:1]
}

// Events reports whether events of all kinds are needed.
func (c *Converter) Events() bool {
	return slices.ContainsFunc(c.parts(), func(p part) bool { return p.events != nil })
}

// Stacks reports whether the stacks of events are needed.
func (c *Converter) Stacks() bool {
	return c.format.timed || slices.ContainsFunc(c.parts(), func(p part) bool { return p.allocations != nil || p.profile != nil })
}

// OnlySnapshot reports whether a heap snapshot is written, and nothing else.
func (c *Converter) OnlySnapshot() bool {
	return slices.ContainsFunc(c.parts(), func(p part) bool { return p.snapshot != nil })
}

// OnlyAllocations reports whether nothing of collections is written.
func (c *Converter) OnlyAllocations() bool {
	return !slices.ContainsFunc(c.parts(), func(p part) bool { return p.collections != nil })
}

// Wants returns the filter of a reader: it reports whether events of a kind are needed.
func (c *Converter) Wants() func(*trace.Descriptor) bool {
	return pass.Wants(append(c.models(), &c.model)...)
}

// Names returns the table of methods that stacks are resolved with, for the perf maps
// that came with the trace.
func (c *Converter) Names() *symbol.Table { return &c.table }

// models returns the models that read the trace beside its collections.
func (c *Converter) models() []pass.Model {
	var models []pass.Model
	if c.format.phases {
		models = append(models, &c.phase)
	}
	if c.format.requests {
		models = append(models, c.requests.Models()...)
	}
	if c.format.processors {
		models = append(models, c.model.Processors())
	}
	if c.format.Snapshots() {
		models = append(models, &c.heaps)
	}
	if c.allocs.Stacks == nil {
		return models
	}
	models = append(models, pass.Raw(symbol.Wants, c.table.Feed), pass.Raw(symbol.WantsTypes, c.types.Feed),
		pass.When(c.during, &c.allocs))
	if c.Events() {
		models = append(models, pass.Raw(nil, c.event))
	}
	return models
}

// during reports whether a time is selected.
func (c *Converter) during(at time.Duration) bool {
	return c.selected.AllTimes() || c.selected.HasTime(c.info, at)
}

// event writes an event.
func (c *Converter) event(ev *trace.Event) {
	if c.err == nil && (c.PIDs == nil || c.PIDs[ev.PID]) && c.during(ev.Time()) {
		c.err = c.events.Add(c.info.Start, ev)
	}
}

// Write reads the trace to its end and writes each part to one of the writers. The error
// is ErrNothing if nothing was written.
func (c *Converter) Write(r Input, to []io.Writer) error {
	c.name, c.info = c.nameOf(r.Name()), r.Info()
	c.found.Options = findings.Options{Only: func(of *gc.Collection) bool { return c.selected.HasCollection(r.Info(), of) }}
	for i, p := range c.parts() {
		if p.events != nil {
			c.events = p.events(to[i])
		}
	}
	begin := sync.OnceFunc(func() { c.begin(to) }) // when the trace's start is known
	for of, err := range r.Collections(&c.model, c.models()...) {
		if err != nil {
			return err
		}
		if c.err != nil {
			return c.err
		}
		begin()
		c.found.Add(of)
		if c.format.requests {
			c.requests.Collected(of)
		}
		if !c.selected.HasCollection(r.Info(), of) {
			continue
		}
		c.Collections++
		for _, w := range c.writers {
			if err := w.Add(of); err != nil {
				return err
			}
		}
	}
	begin()
	c.loss = r.Loss()
	for _, s := range c.heaps.All() {
		s.Lost(r.Loss())
	}
	c.results = c.found.Judge(findings.TraceOf(r))
	c.allocated = c.allocations()
	return c.end(to)
}

// WriteHeapDump writes the snapshot of a .gcdump file of a name, as Write does a trace's.
func (c *Converter) WriteHeapDump(name string, s *heap.Snapshot, to []io.Writer) error {
	c.name, c.info, c.dump = c.nameOf(name), new(trace.Info), s
	c.begin(to)
	return c.end(to)
}

// nameOf returns the name of a trace in the output.
func (c *Converter) nameOf(trace string) string {
	if c.Redacted {
		return "redacted trace"
	}
	return trace
}

// begin makes the writers of collections.
func (c *Converter) begin(to []io.Writer) {
	c.found.Options.From, c.found.Options.To = c.selected.Span(c.info)
	for i, p := range c.parts() {
		if p.collections != nil {
			c.writers = append(c.writers, p.collections(to[i], c))
		}
	}
}

// end closes the writers, and writes the formats that need the whole trace.
func (c *Converter) end(to []io.Writer) error {
	for _, w := range c.writers {
		if err := w.Close(); err != nil {
			return err
		}
	}
	if c.events != nil {
		if err := cmp.Or(c.err, c.events.Close()); err != nil {
			return err
		}
	}
	for i, p := range c.parts() {
		if err := p.finish(to[i], c); err != nil {
			return err
		}
	}
	if c.Samples == 0 && c.Collections == 0 && c.Snapshots == 0 && c.Requests == 0 {
		return ErrNothing
	}
	return nil
}

// snapshots returns the selected heap snapshots.
func (c *Converter) snapshots() []*heap.Snapshot {
	if c.dump != nil {
		return []*heap.Snapshot{c.dump}
	}
	return slices.DeleteFunc(c.heaps.All(), func(s *heap.Snapshot) bool {
		return c.GC != 0 && s.Number != c.GC || !c.selected.HasProcess(c.process(s.PID)) || !c.during(s.Start.Or(0))
	})
}

// last chooses the last selected heap snapshot.
func (c *Converter) last() error {
	all := c.snapshots()
	c.Snapshots = len(all)
	if c.Snapshots == 0 {
		return ErrNothing
	}
	c.Snapshot = all[c.Snapshots-1]
	return nil
}

// profile returns the stacks of allocations, or of the last selected heap snapshot.
func (c *Converter) profile() (profile.Profile, error) {
	if !c.Heap && c.Samples > 0 {
		c.Snapshots = len(c.snapshots())
		return profile.Allocations(c.allocated), nil
	}
	if err := c.last(); err != nil {
		return profile.Profile{}, err
	}
	if c.Snapshot.Graph == nil {
		return profile.Profile{}, snapshot.ErrIncomplete
	}
	tree := c.tree()
	c.Live = tree.TotalObjects
	return profile.Heap(c.process(c.Snapshot.PID), tree), nil
}

// maxStacks bounds the places of a heap that are written. Viewers are slow with more, and
// the largest places come first.
const maxStacks = 1 << 17

// tree returns the objects of the chosen snapshot by their places.
func (c *Converter) tree() *heap.TreeNode {
	q := heap.TreeQuery{Max: maxStacks}
	if c.ByPath {
		return c.Snapshot.Graph.PathTree(q)
	}
	return c.Snapshot.Graph.Dominators().Tree(q)
}

// allocations returns the allocations of each selected process.
func (c *Converter) allocations() []*export.Allocations {
	var all []*export.Allocations
	for _, t := range c.allocs.Totals() {
		p := c.process(t.PID)
		if t.Source != c.allocs.BestSource(t.PID) || !c.selected.HasProcess(p) {
			continue
		}
		c.Samples += t.Samples
		of := &export.Allocations{Process: p, Source: t.Source, Stacks: c.allocs.Stacks}
		if c.format.timed {
			of.Timeline = c.allocs.Timeline(t.PID, t.Source)
		} else {
			of.Rows = c.allocs.Rows(t.PID, t.Source, alloc.ByType|alloc.ByStack)
		}
		all = append(all, of)
	}
	return all
}

func (c *Converter) process(pid uint64) *gc.Process {
	for _, p := range c.model.Processes() {
		if p.PID == pid {
			return p
		}
	}
	return &gc.Process{PID: pid, Name: c.info.Processes[pid].Name}
}

func (c *Converter) start() time.Time { return c.info.Start }

// covered returns the time that stacks cover: that of a heap snapshot is a moment, which a
// .gcdump does not have.
func (c *Converter) covered() (start time.Time, length time.Duration) {
	switch {
	case c.dump != nil:
		return time.Time{}, 0
	case c.Snapshot != nil:
		return c.start().Add(c.Snapshot.Start.Or(0)), 0
	}
	return c.start(), c.selected.Length(c.info)
}
