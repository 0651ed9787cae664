package nettrace

import (
	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// blockCompressed is set in the flags of a block whose headers are compressed.
const blockCompressed = 1

// blockHeader passes the header of a V4 or V6 event or metadata block: its
// size, counting itself, flags, and the range of times in the block.
func blockHeader(c *binread.Cursor) (compressed bool, err error) {
	size := int(c.U16())
	flags := c.U16()
	c.Skip(size - 4)
	return flags&blockCompressed != 0, c.Err()
}

// eventBlock queues the wanted events of a block. The events before a place
// that cannot be read are kept.
func (r *Reader) eventBlock(b *block) error {
	q := &r.queue
	batch := q.batch()
	r.in.detach(batch.data)
	batch.data, batch.base = b.data, b.off
	err := r.readEvents(b, batch)
	if len(batch.items) == 0 {
		q.recycle(batch)
	} else {
		q.add(batch)
	}
	return err
}

func (r *Reader) readEvents(b *block, batch *batch) error {
	c := binread.At(b.data, b.off)
	if r.in.version == 3 {
		return r.fixed(&c, batch, (*header).uncompressedV3)
	}
	compressed, err := blockHeader(&c)
	switch {
	case err != nil:
		return err
	case compressed:
		return r.compressed(&c, batch)
	case r.in.version == 6:
		return r.fixed(&c, batch, (*header).uncompressedV6)
	default:
		return r.fixed(&c, batch, (*header).uncompressedV4)
	}
}

// compressed reads events with compressed headers to the end of the block.
func (r *Reader) compressed(c *binread.Cursor, batch *batch) error {
	var h header
	var seq *sequence
	v6 := r.in.version == 6
	for c.Len() > 0 {
		h.compressed(c, v6)
		at := c.Off()
		c.Skip(h.payload)
		if !c.OK() {
			return c.Err()
		}
		if h.moved {
			seq = r.seqs.event(h.capture, h.seq, h.ticks)
		}
		seq.at(&h)
		r.queued(&h, batch, span{uint32(at), uint32(h.payload)})
	}
	return batch.undefined()
}

// fixed reads events with uncompressed headers to the end of the block.
func (r *Reader) fixed(c *binread.Cursor, batch *batch, read func(*header, *binread.Cursor) int) error {
	var h header
	v3 := r.in.version == 3
	for c.Len() > 0 {
		start := c.Off()
		size := read(&h, c)
		at := c.Off()
		c.Skip(h.payload)
		h.stack = pick(v3, uint32(c.Off()), h.stack)
		rest := start + 4 + size - c.Off()
		c.Skip(rest)
		if !c.OK() {
			return c.Err()
		}
		if r.in.version == 4 {
			c.Skip(min(-c.Off()&3, c.Len()))
		}
		if v3 && h.metadataID == 0 {
			if err := r.define(metadataRecord(batch.data[at:at+h.payload], batch.base+int64(at))); err != nil {
				return err
			}
			continue
		}
		if !v3 && h.metadataID != 0 {
			r.seqs.event(h.capture, h.seq, h.ticks).at(&h)
		}
		r.queued(&h, batch, span{uint32(at), uint32(h.payload)})
	}
	return batch.undefined()
}

// queued counts an event, and if it is wanted makes it an item of the batch.
func (r *Reader) queued(h *header, batch *batch, payload span) {
	k := r.kinds.get(h.metadataID)
	if k == nil {
		batch.strays++
		batch.stray = h.metadataID
		return
	}
	key := r.key(h.ticks)
	r.latest = max(r.latest, key)
	late := key < r.sorted
	if h.sorted {
		r.sorted = max(r.sorted, key)
	}
	if h.labels != 0 {
		k = r.overridden(k, h.labels)
	}
	k.count++
	if k.names {
		r.nameProcess(h.thread, batch.data[payload.off:payload.off+payload.n])
	}
	if k.want {
		batch.items = append(batch.items, item{key, k, payload, h.stack, r.context(h, batch) | pick[uint32](late, lateItem, 0)})
	}
}

// undefined reports events whose metadata id was never defined.
func (b *batch) undefined() error {
	if b.strays == 0 {
		return nil
	}
	return malformed("%d events of undefined metadata ids, such as %d", b.strays, b.stray)
}

// context returns the index of the context of an event, a new one if it
// differs from the event before it.
func (r *Reader) context(h *header, b *batch) uint32 {
	if b.same(h) {
		return uint32(len(b.contexts) - 1)
	}
	b.thread, b.cpu, b.activity, b.related, b.label = h.thread, h.cpu, h.activity, h.related, h.labels
	ctx := context{pid: r.info.PID, tid: h.thread, cpu: h.cpu}
	switch {
	case r.in.version == 6:
		if th, ok := r.threads[h.thread]; ok {
			ctx.pid, ctx.tid = pick(th.pid != 0, th.pid, ctx.pid), th.tid
		}
		ctx.labels = r.labels[h.labels]
	case h.activity != [16]byte{} || h.related != [16]byte{}:
		ctx.labels = &labels{Labels: trace.Labels{ActivityID: h.activity, RelatedActivityID: h.related}}
	}
	b.contexts = append(b.contexts, ctx)
	return uint32(len(b.contexts) - 1)
}

// overridden returns the kind of an event whose label list replaces parts of
// its metadata.
func (r *Reader) overridden(k *kind, list uint32) *kind {
	l := r.labels[list]
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
	m := r.newKind(&desc)
	r.merged[key] = m
	r.kinds.all = append(r.kinds.all, m)
	return m
}

// metadataBlock reads the definitions of a V4 or V6 metadata block.
func (r *Reader) metadataBlock(b *block) error {
	c := binread.At(b.data, b.off)
	if r.in.version == 6 {
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
	compressed, err := blockHeader(&c)
	if err != nil {
		return err
	}
	var h header
	for c.Len() > 0 {
		start := c.Off()
		end := -1
		if compressed {
			h.compressed(&c, false)
		} else {
			end = start + 4 + h.uncompressedV4(&c)
		}
		at := c.Pos()
		payload := c.Bytes(h.payload)
		if !compressed {
			c.Skip(end - c.Off())
			c.Skip(min(-c.Off()&3, c.Len()))
		}
		if !c.OK() {
			return c.Err()
		}
		if err := r.define(metadataRecord(payload, at)); err != nil {
			return err
		}
	}
	return nil
}

// define takes in a metadata record. An id that is defined again means the new
// kind from then on.
func (r *Reader) define(id uint32, d *trace.Descriptor, err error) error {
	if err != nil {
		return err
	}
	return r.kinds.set(id, r.newKind(d))
}

func (r *Reader) newKind(d *trace.Descriptor) *kind {
	if r.opts.Complete != nil && r.in.version == 6 {
		r.opts.Complete(d)
	}
	return &kind{desc: d, want: r.opts.Want == nil || r.opts.Want(d), names: namesProcess(d)}
}

// pick returns a if yes, else b.
func pick[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}
