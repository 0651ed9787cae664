package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/elsewhere"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// The bounds of a report on a process's allocations and callers.
const (
	maxTypes   = 5 // of each heap
	maxCallers = 10
	maxInduced = 1 << 14 // stacks
	maxObjects = 1 << 23 // of all heap snapshots: half a gigabyte of memory
	maxSpans   = 1 << 18 // of requests: 20 MB, beyond which nothing is said of them
)

// Details reads events other than collections': allocations, pins, finalization, handles,
// the phases of background collections, and the causes of induced collections.
type Details struct {
	selected   *selection.Selection
	info       *trace.Info
	table      symbol.Table
	types      symbol.Types
	allocs     alloc.Model
	handles    handle.Handles
	pins       handle.Pins
	finalizers handle.Finalizers
	background background.Model
	phases     map[uint64]*Phases // by process
	join       join.Model
	joins      map[uint64]*join.Sum // by process
	snapshots  heap.Snapshots
	requests   request.Model
	elsewhere  elsewhere.Model
	loss       *trace.Loss
	induced    map[induced]int
}

// An induced holds the common properties of some induced collections.
type induced struct {
	pid      uint64
	event    clr.Kind
	unforced bool
	stack    symbol.StackID
}

// NewDetails returns Details of the part of a trace that is selected.
func NewDetails(o *selection.Selection, info *trace.Info) *Details {
	d := &Details{
		selected: o, info: info,
		phases: make(map[uint64]*Phases), joins: make(map[uint64]*join.Sum), induced: make(map[induced]int),
	}
	d.allocs.Stacks, d.allocs.Types = symbol.NewStacks(&d.table), &d.types
	d.allocs.LargeLimits = findings.ProposedLOHThresholds()
	d.handles.Pins = &d.pins
	d.handles.Stacks, d.finalizers.Types = d.allocs.Stacks, &d.types
	d.background.Done, d.join.Done = d.addPhases, d.addJoins
	d.snapshots.MaxObjects = maxObjects
	d.requests.MaxSpans = maxSpans
	if !o.AllTimes() {
		d.elsewhere.Keep = func(at time.Duration) bool { return o.HasTime(info, at) }
	}
	return d
}

// Models returns the models that Details consist of, which read the trace: names of code and
// types and heap snapshots in all of it, as a later snapshot needs the names of an earlier
// one, and the rest in the time that is selected.
func (d *Details) Models() []pass.Model {
	if d == nil {
		return nil
	}
	models := []pass.Model{pass.Raw(symbol.Wants, d.table.Feed), pass.Raw(symbol.WantsTypes, d.types.Feed)}
	for _, m := range []pass.Model{&d.allocs, &d.handles, &d.finalizers, &d.background, &d.join, (*inducers)(d)} {
		if !d.selected.AllTimes() {
			m = pass.When(func(at time.Duration) bool { return d.selected.HasTime(d.info, at) }, m)
		}
		models = append(models, m)
	}
	return slices.Concat(models, []pass.Model{&d.snapshots}, d.requests.Models(), d.elsewhere.Models())
}

// Names returns the table of methods that Details resolve stacks with, for the perf
// maps that came with the trace.
func (d *Details) Names() *symbol.Table { return &d.table }

// Options returns the options of a reader for Gather with Details.
func Options() open.Options { return optionsOf(new(gc.Model)) }

// optionsOf returns the options of a reader for Details and other models.
func optionsOf(models ...pass.Model) open.Options {
	all := append(NewDetails(new(selection.Selection), nil).Models(), models...)
	all = append(all, new(gc.Model).Processors())
	return open.Options{Want: pass.Wants(all...), Runs: pass.Runs(all...), Stacks: true}
}

// inducers are the model of what induces collections.
type inducers Details

func (*inducers) Kinds() []clr.Kind { return []clr.Kind{clr.KindGCTriggered, clr.KindGCStart} }

func (i *inducers) Event(e *pass.Event) {
	if e.Kind == clr.KindGCTriggered {
		if v, ok := pass.Decode[clr.GCTriggered](e); ok {
			(*Details)(i).induce(e, v.Reason)
		}
		return
	}
	if v, ok := pass.Decode[clr.GCStart](e); ok {
		(*Details)(i).induce(e, v.Reason)
	}
}

// induce counts an induced collection for the stack that induced it.
func (d *Details) induce(e *pass.Event, reason clr.GCReason) {
	if e.StackLen() == 0 {
		return
	}
	k := induced{pid: e.PID, event: e.Kind, stack: symbol.OtherStacks}
	switch reason {
	case clr.GCReasonInduced, clr.GCReasonInducedCompacting, clr.GCReasonInducedAggressive:
	case clr.GCReasonInducedNotForced:
		k.unforced = true
	default:
		return
	}
	if len(d.induced) < maxInduced {
		k.stack = d.allocs.Stacks.Intern(e.Event)
	}
	d.induced[k]++
}

// addJoins adds the activities of the threads of server GC in a collection.
func (d *Details) addJoins(c *join.Collection) { d.joinsOf(c.PID).Add(c) }

func (d *Details) joinsOf(pid uint64) *join.Sum {
	s := d.joins[pid]
	if s == nil {
		s = new(join.Sum)
		d.joins[pid] = s
	}
	return s
}

// collection takes in a collection that is selected: what its heaps marked.
func (d *Details) collection(c *gc.Collection) {
	if len(c.Marks) == 0 || c.Heaps.Or(0) < 2 {
		return
	}
	s := d.joinsOf(c.Process.PID)
	for _, m := range c.Marks {
		s.Mark(m.Heap, m.Root, m.Bytes.Or(0))
	}
}

// of returns the details of a process, when the trace was read.
func (d *Details) of(p *gc.Process) findings.Details {
	source := d.allocs.BestSource(p.PID)
	found := findings.Details{
		Source: source, Types: d.typesOf(p.PID, source),
		Collects: d.callers(p.PID, false), Unforced: d.callers(p.PID, true),
		Pins: d.pinnedTypes(p.PID), Finalized: d.finalizedTypes(p.PID), Joins: d.joins[p.PID],
	}
	found.Handles, found.PinnedFrom = d.handlesOf(p.PID)
	found.LargeBelow = d.allocs.LargeBelow(p.PID, source)
	found.Snapshots = findings.NewSnapshots(d.snapshotsOf(p.PID))
	found.Requests, found.Elsewhere = d.requestsOf(p.PID), d.elsewhere.Of(p.PID)
	return found
}

// requestsOf sums up the requests of a process that began in the time that is selected, nil if
// there are none, or more than are kept.
func (d *Details) requestsOf(pid uint64) *request.Summary {
	for _, p := range d.requests.Processes(d.loss) {
		if p.PID == pid && d.requests.LeftOut() == 0 {
			all, _ := p.Summaries(d.begins)
			return all
		}
	}
	return nil
}

// begins reports whether a span begins in the time that is selected.
func (d *Details) begins(s *request.Span) bool {
	return d.selected.AllTimes() || d.selected.HasTime(d.info, s.Start)
}

// lost takes the loss of the trace, when it was read.
func (d *Details) lost(loss *trace.Loss) {
	if d == nil {
		return
	}
	d.loss = loss
	for _, s := range d.snapshots.All() {
		s.Lost(loss)
	}
}

// snapshotsOf returns the heap snapshots of a process that are selected.
func (d *Details) snapshotsOf(pid uint64) []*heap.Snapshot {
	return slices.DeleteFunc(d.snapshots.All(), func(s *heap.Snapshot) bool {
		return s.PID != pid || !d.selected.AllTimes() && !d.selected.HasTime(d.info, s.Start.Or(0))
	})
}

// typesOf returns the largest types of each heap, in descending order of bytes, each with
// the method that allocates most of it.
func (d *Details) typesOf(pid uint64, source alloc.Source) []findings.AllocatedType {
	type on struct {
		typ  string
		heap alloc.Heap
	}
	whole := make(map[alloc.Heap]int64)
	for _, r := range d.allocs.Rows(pid, source, alloc.ByHeap) {
		whole[r.Heap] = r.Bytes
	}
	var types []findings.AllocatedType
	count := make(map[alloc.Heap]int)
	from := make(map[on]map[string]int64)
	for _, r := range d.allocs.Rows(pid, source, alloc.ByType) {
		if r.Type == "" || r.Type == alloc.OtherTypes || count[r.Heap] == maxTypes {
			continue
		}
		count[r.Heap]++
		types = append(types, findings.AllocatedType{
			Name: r.Type, Heap: r.Heap, Estimate: r.Estimate, Share: 100 * float64(r.Bytes) / float64(max(1, whole[r.Heap])),
		})
		from[on{r.Type, r.Heap}] = make(map[string]int64)
	}
	for _, r := range d.allocs.Rows(pid, source, alloc.ByType|alloc.ByStack) {
		if sums := from[on{r.Type, r.Heap}]; sums != nil {
			sums[d.caller(r.Stack, isFramework)] += r.Bytes
		}
	}
	for i := range types {
		t := &types[i]
		for method, n := range from[on{t.Name, t.Heap}] {
			if method != "" && (n > t.FromBytes || n == t.FromBytes && method < t.From) {
				t.From, t.FromBytes = method, n
			}
		}
	}
	return types
}

// callers returns the methods that induce collections of a process. The stacks
// of GCTriggered go first: with server GC, GCStart comes from a thread of the
// collector.
func (d *Details) callers(pid uint64, unforced bool) []findings.Caller {
	for _, event := range [...]clr.Kind{clr.KindGCTriggered, clr.KindGCStart} {
		counts := make(map[string]int)
		for k, n := range d.induced {
			if k.pid != pid || k.unforced != unforced || k.event != event {
				continue
			}
			if method := d.caller(k.stack, isCollect); method != "" {
				counts[method] += n
			}
		}
		if len(counts) == 0 {
			continue
		}
		callers := make([]findings.Caller, 0, len(counts))
		for method, n := range counts {
			callers = append(callers, findings.Caller{Method: method, Count: n})
		}
		slices.SortFunc(callers, func(a, b findings.Caller) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Method, b.Method))
		})
		return callers
	}
	return nil
}

// caller returns the innermost method of a stack that passOver does not skip, else the
// innermost; empty if none has a name.
func (d *Details) caller(id symbol.StackID, passOver func(method string) bool) string {
	innermost := ""
	for f := range d.allocs.Stacks.Frames(id) {
		switch {
		case !f.Resolved():
		case !passOver(f.Method):
			return f.Method
		case innermost == "":
			innermost = f.Method
		}
	}
	return innermost
}

// isFramework reports whether a method belongs to the libraries of .NET, because a program can
// change only its own methods.
func isFramework(method string) bool {
	return strings.HasPrefix(method, "System.") || strings.HasPrefix(method, "Microsoft.") || strings.HasPrefix(method, "Internal.") ||
		strings.HasPrefix(method, "Interop+") || strings.HasPrefix(method, "dynamicClass.")
}

// isCollect reports whether a method induces a collection.
func isCollect(method string) bool { return strings.HasPrefix(method, "System.GC.") }
