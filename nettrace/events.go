package nettrace

import (
	"cmp"
	"math"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// eventBlock queues the wanted events of a block. The events before a place
// that cannot be read are kept.
func (r *Reader) eventBlock(b *block) error {
	if r.repeats.again(b.data) {
		return malformed("the same block was met before")
	}
	if !r.anchored {
		r.anchor(b)
	}
	if r.walked(b) {
		return nil
	}
	q := &r.queue
	batch := q.free.take()
	batch.block, batch.base = b.data, b.off
	lost := r.loss.Events
	err := r.readEvents(b, batch)
	if err == nil {
		r.believe(b.off)
	} else {
		r.loss.Events = lost // the numbers of a damaged block may be anything
	}
	r.unreadV3(err)
	if len(batch.items) == 0 {
		q.free.add(batch)
	} else {
		batch.keep(r.in.version)
		q.add(batch)
	}
	return err
}

func (r *Reader) readEvents(b *block, batch *batch) error {
	in, err := readBlock(b.data, b.off, r.in.version)
	if err != nil {
		return err
	}
	times := in.times.within(r.session)
	first, last := uint64(math.MaxUint64), uint64(0) // of the events' times, from the block's first on
	var seq *sequence
	var thread uint64
	introduced := in.version != 6 || r.threads.has(thread)
	for in.next() {
		h := &in.header
		if in.version == 3 && h.metadataID == 0 {
			if err := r.define(metadataRecord(in.bytes(), in.pos())); err != nil {
				return err
			}
			continue
		}
		if !times.holds(h.ticks) {
			batch.faults.outside++
			r.seqs.damage++
			seq = nil
			continue
		}
		since := h.ticks - in.times.from
		first, last = min(first, since), max(last, since)
		if h.moved {
			seq = r.seqs.event(h.capture, h.seq, h.ticks)
		}
		seq.at(h.seq, h.ticks)
		if h.thread != thread && in.version == 6 {
			thread, introduced = h.thread, r.threads.has(h.thread)
		}
		if !introduced {
			batch.faults.threads++
			batch.faults.thread = h.thread
		}
		k := r.kinds.get(h.metadataID)
		if k == nil {
			batch.faults.kinds++
			batch.faults.kind = h.metadataID
			continue
		}
		if key := r.key(h.ticks); k.plain && key >= r.jump.key && !h.sorted && h.labels == 0 {
			k.count++
			r.latest = max(r.latest, key)
			continue
		}
		r.queued(k, h, batch, in.span())
	}
	if in.err == nil && !b.cut && batch.faults.outside == 0 && !in.spans(first, last) {
		batch.faults.untimed = true
		r.lost(0, times.from, times.from+times.span)
	}
	return cmp.Or(in.err, batch.faults.err())
}

// faults counts the events of a block that do not fit the rest of the trace.
type faults struct {
	outside int    // their time is not in the range of the block's header
	untimed bool   // the first or the last of them is not where that range begins or ends
	kinds   int    // their metadata id was never defined
	kind    uint32 // the last such id
	threads int    // their thread was never introduced
	thread  uint64 // the last such index
}

// err reports the faults, nil if there are none.
func (f *faults) err() error {
	switch {
	case f.outside > 0:
		return malformed("%d events at times outside the block's", f.outside)
	case f.untimed:
		return malformed("events at other times than the block's")
	case f.kinds > 0:
		return malformed("%d events of undefined metadata ids, such as %d", f.kinds, f.kind)
	case f.threads > 0:
		return malformed("%d events of undefined threads, such as %d", f.threads, f.thread)
	}
	return nil
}

// queued counts an event, and adds it to the batch if it is wanted.
func (r *Reader) queued(k *kind, h *header, batch *batch, payload span) {
	key := r.key(h.ticks)
	if key < r.jump.key {
		r.contradicted(batch)
	}
	late := key < r.sorted
	if h.sorted {
		r.sortedAt(key, r.latest, batch.base)
	}
	r.latest = max(r.latest, key)
	if h.labels != 0 {
		k = r.overridden(k, h.labels)
	}
	k.count++
	if k.names {
		r.nameProcess(h.thread, payload.of(batch.block))
	}
	if k.want {
		batch.items = append(batch.items, item{key, payload, k.index, h.stack, r.context(h, batch) | pick[uint32](late, lateItem, 0)})
	}
}

// context returns the index of the context of an event, a new one if it
// differs from the event before it.
func (r *Reader) context(h *header, b *batch) uint32 {
	if r.in.version != 6 {
		return b.context(h, r.info.PID)
	}
	if b.same(h) {
		return uint32(len(b.contexts) - 1)
	}
	ctx := context{pid: r.info.PID, tid: trace.UnknownID, cpu: h.cpu, labels: r.labels.lists[h.labels]}
	if th, ok := r.threads[h.thread]; ok {
		ctx.pid, ctx.tid = pick(th.pid != 0, th.pid, ctx.pid), th.tid
	}
	return b.add(h, ctx)
}

// overridden returns the kind of an event whose label list replaces parts of
// its metadata.
func (r *Reader) overridden(k *kind, list uint32) *kind {
	l := r.labels.lists[list]
	if l == nil || l.set == 0 {
		return k
	}
	key := mergedKind{k, l.override}
	if m := r.merged[key]; m != nil {
		return m
	}
	if len(r.merged) == maxMerged {
		return k
	}
	if r.merged == nil {
		r.merged = make(map[mergedKind]*kind)
	}
	desc := l.apply(*k.desc)
	m, err := r.addKind(&desc)
	if err != nil {
		return k
	}
	r.merged[key] = m
	return m
}

// metadataBlock reads the definitions of a V4 or V6 metadata block.
func (r *Reader) metadataBlock(b *block) error {
	if r.in.version == 6 {
		c := binread.At(b.data, b.off)
		c.Skip(int(c.U16()))
		for c.Len() > 0 && c.OK() {
			size := int(c.U16())
			at := c.Pos()
			row := c.Bytes(size)
			if !c.OK() {
				break
			}
			if err := r.define(metadataRow(row, at)); err != nil {
				return err
			}
		}
		return c.Err()
	}
	in, err := readBlock(b.data, b.off, r.in.version)
	if err != nil {
		return err
	}
	for in.next() {
		if err := r.define(metadataRecord(in.bytes(), in.pos())); err != nil {
			return err
		}
	}
	return in.err
}

// define processes a metadata record. An id that is defined again means the new
// kind from then on.
func (r *Reader) define(id uint32, d *trace.Descriptor, err error) error {
	if err != nil {
		return err
	}
	k := r.kinds.find(d)
	if k == nil {
		if k, err = r.addKind(d); err != nil {
			return err
		}
	}
	r.view = nil
	return r.kinds.set(id, k)
}

// addKind adds a kind of events.
func (r *Reader) addKind(d *trace.Descriptor) (*kind, error) {
	k := &kind{fields: d.Fields, names: namesProcess(d)}
	if err := r.kinds.add(d, k); err != nil {
		return nil, err
	}
	if r.opts.Complete != nil && r.in.version == 6 {
		r.opts.Complete(d)
	}
	k.desc, k.want = d, r.opts.Want == nil || r.opts.Want(d)
	k.plain = !k.want && !k.names
	return k, nil
}

// pick returns a if yes, else b.
func pick[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}
