package handle

import (
	"cmp"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/symbol"
)

// The bounds of Handles: how many open ones it follows, in how many pages of its tables, and
// how many pairs of kind and stack it keeps apart.
const (
	maxOpen  = 1 << 20
	maxPages = 1 << 16
	maxSites = 1 << 16
)

// Handles tracks the creation and destruction of GC handles. The zero value is
// ready for use, by one goroutine.
type Handles struct {
	// Stacks, if not nil, distinguishes handles by the stack that created them.
	Stacks *symbol.Stacks

	// Pins, if not nil, are given the events that they read, and are complete when the trace
	// has ended. Together the two cost less than one after the other.
	Pins *Pins

	processes pass.Table[handles]
	batch     *opBatch // of operations that are not applied yet
	queue     opQueue
	room      room
	set       clr.SetGCHandle
	destroy   clr.DestroyGCHandle
}

// A handles holds the state of one process that reading its events needs. The goroutine that
// applies operations changes nothing of it, nor anything near it in memory: when two processors
// used the same cache lines, a list of handles took 1.6 times as long.
type handles struct {
	pid   uint64
	sites map[site]uint32 // by site, its index in list
	list  []*siteSum
	last  [16]lastSite // by kind, the site of the last one that was created
	*followed
}

// A lastSite is a site with its index, if it is known.
type lastSite struct {
	site
	index uint32
	known bool
}

// A followed holds the state of one process that operations change.
type followed struct {
	pins   *pins // nil without Handles.Pins
	open   table[openHandle]
	counts Counts
	net    int64 // created less destroyed, including handles from before the trace
	strays bool  // pins may follow a handle that open does not have as one that pins
}

// A room counts how much of the bounds the handles of all processes take. It has cache lines of its
// own, because operations change it, too.
type room struct {
	_           [cacheLine]byte
	open, pages int
	_           [cacheLine]byte
}

// cacheLine is the memory that one processor at a time can change, of the usual ones.
const cacheLine = 64

// An openHandle was created in the trace and not destroyed. It has no uint64, because there
// can be a million, and 64 of twelve bytes are just one of the sizes of memory.
type openHandle struct {
	site      uint32 // 1 + its index in the process's list
	high, low uint32 // of the time
}

func opened(site uint32, at time.Duration) openHandle {
	return openHandle{site, uint32(at >> 32), uint32(at)}
}

// at returns when the handle was created.
func (o openHandle) at() time.Duration { return time.Duration(o.high)<<32 | time.Duration(o.low) }

// A site is where handles of a kind are created.
type site struct {
	kind  clr.HandleKind
	stack symbol.StackID
}

type siteSum struct {
	site
	created, destroyed int64
	series             series
}

// Counts counts a process's handles of all kinds.
type Counts struct {
	PID       uint64 // trace.UnknownID if unknown
	Created   int64
	Destroyed int64
	// Unknown counts the handles of Destroyed that were created before the
	// trace, or whose creation was lost.
	Unknown int64
	// Lost counts handles that were created twice without being destroyed:
	// events are missing.
	Lost int64
	// Untracked counts handles created while too many were open to track.
	Untracked int64
	// Runtime is the runtime's own count at the last collection. Open is the
	// number of handles created in the trace until then, less those destroyed: it is
	// negative where more were destroyed than are known to be created. Before is
	// the number of handles at the beginning, from the runtime's first count and the
	// events before it: it is negative where their destruction was lost. They are unknown
	// before the first collection.
	Runtime, Open, Before gc.Opt[int64]
}

// A Row counts the handles of one kind, or of one kind and stack.
type Row struct {
	PID                uint64 // trace.UnknownID if unknown
	Kind               clr.HandleKind
	Stack              symbol.StackID
	Created, Destroyed int64
	// Open counts the handles that were created in the trace and not destroyed in it.
	Open int64
	// Oldest is when the first of Open was created; it has no meaning if Open
	// is 0.
	Oldest time.Duration
	// Growth is the increase of Open in handles per second over the second half
	// of the trace's handle events, 0 if it did not grow steadily.
	Growth float64
	// Points are the numbers of open handles over time.
	Points []Point
}

// Kinds returns the kinds of events that Handles read one by one.
func (h *Handles) Kinds() []clr.Kind {
	if h.Pins != nil {
		return h.Pins.Kinds() // with GCHeapStats
	}
	return []clr.Kind{clr.KindGCHeapStats}
}

// Runs returns the kinds of events that Handles read in runs.
func (*Handles) Runs() []clr.Kind { return []clr.Kind{clr.KindSetGCHandle, clr.KindDestroyGCHandle} }

// Event processes one event.
func (h *Handles) Event(e *pass.Event) {
	if e.Kind == clr.KindGCHeapStats {
		if v, ok := pass.Decode[clr.GCHeapStats](e); ok {
			h.add(h.process(e.Process), uint64(v.GCHandleCount), e.Time, opCount)
		}
	}
	if h.Pins != nil {
		h.settle()
		h.Pins.Event(e)
	}
}

// End ends the trace.
func (h *Handles) End() { h.settle() }

// Events processes events in a row. Of their payloads there is one version.
func (h *Handles) Events(r *pass.Events) {
	p := h.process(r.Process)
	stack, interned := symbol.NoStack, h.Stacks == nil
	for i := range r.Len() {
		switch r.Kind(i) {
		case clr.KindSetGCHandle:
			if v := &h.set; v.Decode(0, r.Payload(i), r.PointerSize) == nil {
				if !interned {
					stack, interned = h.Stacks.Intern(r.Event), true
				}
				h.add(p, v.HandleID, r.Time(i), opCreate+opKind(p.site(site{v.Kind, stack})))
			}
		case clr.KindDestroyGCHandle:
			if v := &h.destroy; v.Decode(0, r.Payload(i), r.PointerSize) == nil {
				h.add(p, v.HandleID, r.Time(i), opDestroy)
			}
		}
	}
}

func (h *Handles) process(of *pass.Process) *handles {
	p, isNew := h.processes.At(of.Index)
	if isNew {
		*p = handles{pid: of.PID, sites: make(map[site]uint32), followed: &followed{counts: Counts{PID: of.PID}}}
		if h.Pins != nil {
			p.pins = h.Pins.process(of)
		}
	}
	return p
}

// site returns the index of a site, or if there is no room for it, that of its kind with all
// other stacks.
func (p *handles) site(k site) uint32 {
	last := &p.last[int(k.kind)%len(p.last)]
	if last.site != k || !last.known {
		*last = lastSite{k, p.find(k), true}
	}
	return last.index
}

// find looks a site up for site, which does so only if the previous handle of the kind had
// another one.
func (p *handles) find(k site) uint32 {
	i, ok := p.sites[k]
	if !ok && len(p.sites) >= maxSites {
		k.stack = symbol.OtherStacks
		i, ok = p.sites[k]
	}
	if !ok {
		i = uint32(len(p.list))
		p.sites[k] = i
		p.list = append(p.list, &siteSum{site: k})
	}
	return i
}

// Processes returns the counts of each process that created or destroyed
// handles.
func (h *Handles) Processes() []Counts {
	h.settle()
	var all []Counts
	for p := range h.processes.All() {
		if p.counts.Created+p.counts.Destroyed > 0 {
			all = append(all, p.counts)
		}
	}
	return all
}

// Rows returns a process's handles by kind, in descending order of open ones; by kind and
// stack if stacks is set.
func (h *Handles) Rows(pid uint64, stacks bool) []Row {
	h.settle()
	p := h.processes.Find(func(p *handles) bool { return p.pid == pid })
	if p == nil {
		return nil
	}
	var merged []symbol.StackID
	if stacks && h.Stacks != nil {
		merged = h.Stacks.Merged()
	}
	group := func(k site) site {
		if merged == nil {
			return site{kind: k.kind}
		}
		return site{k.kind, merged[k.stack]}
	}
	rows := make(map[site]*Row)
	inTime := make(map[site]*series)
	open := p.openBySite()
	for i, s := range p.list {
		g := group(s.site)
		row := rows[g]
		if row == nil {
			row = &Row{PID: pid, Kind: g.kind, Stack: g.stack}
			rows[g] = row
			inTime[g] = new(series)
		}
		row.Created += s.created
		row.Destroyed += s.destroyed
		inTime[g].merge(&s.series)
		if o := open[i]; o.count > 0 {
			if row.Open == 0 || o.oldest < row.Oldest {
				row.Oldest = o.oldest
			}
			row.Open += o.count
		}
	}
	all := make([]Row, 0, len(rows))
	for g, row := range rows {
		row.Points = inTime[g].points()
		row.Growth = growth(row.Points)
		all = append(all, *row)
	}
	slices.SortFunc(all, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Open, a.Open), cmp.Compare(b.Created, a.Created), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Stack, b.Stack))
	})
	return all
}

// An openSum sums up open handles.
type openSum struct {
	count  int64
	oldest time.Duration // when the first of them was created
}

// openBySite sums up the open handles of each site of the process's list.
func (p *handles) openBySite() []openSum {
	sums := make([]openSum, len(p.list))
	for o := range p.open.values() {
		s := &sums[o.site-1]
		if at := o.at(); s.count == 0 || at < s.oldest {
			s.oldest = at
		}
		s.count++
	}
	return sums
}
