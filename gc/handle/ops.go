package handle

import (
	"time"

	"github.com/gctrail/gctrail/gc"
)

// An op is what an event does to the handles of a process.
type op struct {
	id   uint64 // of the handle; of opCount, the number of handles
	at   time.Duration
	does opKind
}

func (o *op) set(id uint64, at time.Duration, does opKind) { o.id, o.at, o.does = id, at, does }

// An opKind is opCreate and the index of a site in the process's list, or less than opCreate.
type opKind uint32

const (
	opDestroy opKind = iota
	opCount          // by the runtime
	opCreate
)

// maxOps is how many operations are applied at a time, so that starting a goroutine for
// them costs little.
const maxOps = 4096

// next returns the operation on the handles of p that is to be applied next, for the caller to
// set, but not necessarily at once: a trace can have millions a second, so that a goroutine
// applies one batch while the next is read.
func (h *Handles) next(p *handles) *op {
	if h.of != p {
		h.settle()
		h.of = p
	}
	if len(h.ops) == cap(h.ops) {
		h.handOver()
	}
	h.ops = h.ops[:len(h.ops)+1]
	return &h.ops[len(h.ops)-1]
}

// handOver has a goroutine apply the operations so far. It is given the list of sites as far
// as they use it, because the list may grow meanwhile.
func (h *Handles) handOver() {
	if h.applied == nil {
		h.ops, h.applied = make([]op, 0, maxOps), make([]op, 0, maxOps)
		return
	}
	h.applying.Wait()
	of, sites, batch := h.of, h.of.list, h.ops
	h.ops, h.applied = h.applied[:0], batch
	h.applying.Go(func() { h.apply(of, sites, batch) })
}

// settle applies all operations.
func (h *Handles) settle() {
	h.applying.Wait()
	if len(h.ops) > 0 {
		h.apply(h.of, h.of.list, h.ops)
		h.ops = h.ops[:0]
	}
}

func (h *Handles) apply(p *handles, sites []*siteSum, ops []op) {
	for i := range ops {
		switch o := &ops[i]; o.does {
		case opDestroy:
			h.destroyed(p, sites, o)
		case opCount:
			p.counted(int64(o.id))
		default:
			h.created(p, sites, o)
		}
	}
}

func (h *Handles) created(p *handles, sites []*siteSum, o *op) {
	index := o.does - opCreate
	s := sites[index]
	s.created++
	p.counts.Created++
	p.net++
	if p.pins != nil {
		p.pins.created(o.id, s.kind)
	}
	if !h.hasRoom(p, o.id) {
		p.counts.Untracked++
		p.strays = p.strays || pinning(s.kind)
		return
	}
	pages := p.open.pages
	before := p.open.set(o.id, opened(uint32(index)+1, o.at))
	h.pages += p.open.pages - pages
	if before.site != 0 {
		p.counts.Lost++
		p.net--
		was := sites[before.site-1]
		was.series.add(o.at, -1)
		p.strays = p.strays || pinning(was.kind)
	} else {
		h.open++
	}
	s.series.add(o.at, 1)
}

// hasRoom reports whether one more handle can be followed.
func (h *Handles) hasRoom(p *handles, id uint64) bool {
	return h.open < maxOpen && (h.pages < maxPages || p.open.has(id)) || p.open.get(id).site != 0
}

func (h *Handles) destroyed(p *handles, sites []*siteSum, o *op) {
	p.counts.Destroyed++
	p.net--
	pages := p.open.pages
	was := p.open.remove(o.id)
	h.pages += p.open.pages - pages
	var s *siteSum
	if was.site != 0 {
		s = sites[was.site-1]
	}
	if p.pins != nil && (p.strays || s != nil && pinning(s.kind)) {
		p.pins.destroyed(o.id)
	}
	if s == nil {
		p.counts.Unknown++
		return
	}
	h.open--
	s.destroyed++
	s.series.add(o.at, -1)
}

// counted processes the runtime's count.
func (p *handles) counted(n int64) {
	c := &p.counts
	if !c.Before.Known() {
		c.Before = gc.Some(n - p.net)
	}
	c.Runtime, c.Open = gc.Some(n), gc.Some(p.net)
}
