package nettrace

import (
	"slices"

	"github.com/gctrail/gctrail/internal/eventpipe"
)

// A walkedBlock is a block, with its summary if a walker has read it.
type walkedBlock struct {
	eventpipe.Block
	summary *summary
}

// walked processes an event block by its summary. It returns false, and has no effect, if
// readEvents has to read the block.
func (r *Reader) walked(b *walkedBlock) bool {
	if r.careful || r.in.Version != 4 || !r.anchored {
		return false
	}
	r.look(b.Off)
	s := b.summary
	if s != nil && s.view != r.view {
		r.reject(s)
		s = nil
	}
	if s == nil {
		s = &r.summary
		r.walker.walk(&b.Block, r.view, s, &r.queue.free)
	}
	if s.regular && r.apply(s) {
		return true
	}
	r.reject(s)
	return false
}

// reject frees the memory of a summary.
func (r *Reader) reject(s *summary) {
	if s.batch != nil {
		r.queue.free.add(s.batch)
		s.batch = nil
	}
}

// look makes a view of the trace before the block at off, and gives it to the walkers.
// Because that copies the kinds, it is done again only after as much input.
func (r *Reader) look(off int64) {
	if r.view == nil {
		r.view = &view{
			kinds: r.kinds.dense, plain: r.kinds.plain, wanted: r.kinds.wanted,
			sync: r.sync, second: uint64(r.info.Clock.Frequency), session: r.session, pid: r.info.PID,
		}
	}
	if r.ahead == nil || r.view.shown || off-r.shown < int64(len(r.view.kinds))*kindCopy {
		return
	}
	v := *r.view
	v.kinds, v.plain, v.wanted, v.shown = slices.Clone(v.kinds), slices.Clone(v.plain), slices.Clone(v.wanted), true
	r.view, r.shown = &v, off
	r.ahead.view.Store(&v)
}

// kindCopy is about the size of a kind in a view.
const kindCopy = 16

// apply processes a summary as readEvents would the block. It returns false, and has no
// effect, if earlier blocks make events unusual.
func (r *Reader) apply(s *summary) bool {
	switch {
	case r.jump.key != 0, s.earliest < r.sorted:
		return false
	case s.opens && r.latest != r.key(r.session.From) && s.start > r.latest+uint64(r.info.Clock.Frequency):
		return false
	}
	for i := range s.runs {
		run := &s.runs[i]
		r.seqs.event(run.capture, run.first, run.from).at(run.last, run.to)
	}
	for _, t := range s.tallies {
		t.kind.count += t.n
	}
	r.sorted = max(r.sorted, s.sorted)
	r.latest = max(r.latest, s.latest)
	if s.batch != nil {
		r.queue.add(s.batch)
		s.batch = nil
	}
	return true
}
