package handle

import (
	"time"

	"github.com/gctrail/gctrail/gc"
)

// An op is what an event does to the handles of a process.
type op struct {
	of   *handles
	do   opKind
	id   uint64   // of the handle; of opCount, the number of handles
	site *siteSum // of opCreate
	at   time.Duration
}

type opKind uint8

const (
	opCreate opKind = iota
	opDestroy
	opCount // by the runtime
)

// maxOps is how many operations are applied at a time, so that starting a goroutine for
// them costs little.
const maxOps = 4096

// next returns the operation that is to be applied next, for the caller to set, but not
// necessarily at once: a trace can have millions a second, so that a goroutine applies one
// batch while the next is read.
func (h *Handles) next() *op {
	if len(h.ops) == cap(h.ops) {
		h.handOver()
	}
	h.ops = h.ops[:len(h.ops)+1]
	return &h.ops[len(h.ops)-1]
}

// handOver has a goroutine apply the operations so far.
func (h *Handles) handOver() {
	if h.applied == nil {
		h.ops, h.applied = make([]op, 0, maxOps), make([]op, 0, maxOps)
		return
	}
	h.applying.Wait()
	batch := h.ops
	h.ops, h.applied = h.applied[:0], batch
	h.applying.Go(func() { h.apply(batch) })
}

// settle applies all operations.
func (h *Handles) settle() {
	h.applying.Wait()
	h.apply(h.ops)
	h.ops = h.ops[:0]
}

func (h *Handles) apply(ops []op) {
	for i := range ops {
		switch o := &ops[i]; o.do {
		case opCreate:
			h.created(o.of, o)
			if p := o.of.pins; p != nil {
				p.created(o.id, o.site.kind)
			}
		case opDestroy:
			h.destroyed(o.of, o)
			if p := o.of.pins; p != nil {
				p.destroyed(o.id)
			}
		case opCount:
			o.of.counted(int64(o.id))
		}
	}
}

func (h *Handles) created(p *handles, o *op) {
	s := o.site
	if int(s.number) > len(p.list) {
		p.list = append(p.list, s)
	}
	s.created++
	p.counts.Created++
	p.net++
	if !h.hasRoom(p, o.id) {
		p.counts.Untracked++
		return
	}
	pages := p.open.pages
	before := p.open.set(o.id, opened(s.number, o.at))
	h.pages += p.open.pages - pages
	if before.site != 0 {
		p.counts.Lost++
		p.net--
		p.siteOf(before).series.add(o.at, -1)
	} else {
		h.open++
	}
	s.series.add(o.at, 1)
}

// hasRoom reports whether one more handle can be followed.
func (h *Handles) hasRoom(p *handles, id uint64) bool {
	return h.open < maxOpen && (h.pages < maxPages || p.open.has(id)) || p.open.get(id).site != 0
}

func (h *Handles) destroyed(p *handles, o *op) {
	p.counts.Destroyed++
	p.net--
	pages := p.open.pages
	was := p.open.remove(o.id)
	h.pages += p.open.pages - pages
	if was.site == 0 {
		p.counts.Unknown++
		return
	}
	h.open--
	s := p.siteOf(was)
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
