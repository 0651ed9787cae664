package nettrace

import (
	"cmp"
	"math"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/trace"
)

// eventBlock queues the wanted events of a block. The events before a place
// that cannot be read are kept.
func (r *Reader) eventBlock(b *walkedBlock) error {
	if r.repeats.again(b.Data) {
		return binread.Malformed("the same block was met before")
	}
	if !r.anchored {
		r.anchor(&b.Block)
	}
	if r.walked(b) {
		return nil
	}
	q := &r.queue
	batch := q.free.take()
	batch.block, batch.base = b.Data, b.Off
	lost := r.loss.Events
	err := r.readEvents(&b.Block, batch)
	if err == nil {
		r.believe(b.Off)
	}
	if err != nil || b.Cut {
		r.loss.Events = lost // the numbers of a damaged block may be anything
	}
	r.unreadV3(err)
	if len(batch.items) == 0 {
		q.free.add(batch)
	} else {
		batch.keep(r.in.Version)
		q.add(batch)
	}
	return err
}

func (r *Reader) readEvents(b *eventpipe.Block, batch *batch) error {
	in, err := eventpipe.ReadBlock(b.Data, b.Off, r.in.Version)
	if err != nil {
		return err
	}
	latest, sorted := r.latest, r.sorted
	times := in.Times.Within(r.session)
	first, last := uint64(math.MaxUint64), uint64(0) // of the events' times, from the block's first on
	var seq *sequence
	var thread uint64
	introduced := in.Version != 6 || r.threads.has(thread)
	for in.Next() {
		h := &in.Header
		if in.Version == 3 && h.MetadataID == 0 {
			if err := r.define(eventpipe.ParseMetadataV4(in.Bytes(), in.Pos())); err != nil {
				return err
			}
			continue
		}
		if !times.Holds(h.Ticks) {
			batch.faults.outside++
			r.seqs.damage.add(eventpipe.AllTimes)
			seq = nil
			continue
		}
		since := h.Ticks - in.Times.From
		first, last = min(first, since), max(last, since)
		if h.Moved {
			seq = r.seqs.event(h.Capture, h.Seq, h.Ticks)
		}
		seq.at(h.Seq, h.Ticks)
		if h.Thread != thread && in.Version == 6 {
			thread, introduced = h.Thread, r.threads.has(h.Thread)
		}
		if !introduced {
			batch.faults.threads++
			batch.faults.thread = h.Thread
		}
		k := r.kinds.get(h.MetadataID)
		if k == nil {
			batch.faults.kinds++
			batch.faults.kind = h.MetadataID
			continue
		}
		if key := r.key(h.Ticks); k.plain && key >= r.jump.key && !h.Sorted && h.Labels == 0 {
			k.count++
			r.latest = max(r.latest, key)
			continue
		}
		r.queued(k, h, batch, in.Span())
	}
	r.settle(b, &in, batch, first, last, latest, sorted)
	return cmp.Or(in.Err, batch.faults.err())
}

// settle records the damage of a block that was read, and bounds the times of its unread
// events. Its events have times from first to last after the block's first; latest and sorted are
// the reader's values before the block.
func (r *Reader) settle(b *eventpipe.Block, in *eventpipe.BlockReader, batch *batch, first, last, latest, sorted uint64) {
	times := in.Times.Within(r.session)
	if in.Times != eventpipe.AllTimes && in.Times == times && first == 0 && batch.faults.outside == 0 {
		r.unsure = times // an event has the first of them, so that they can be trusted
	}
	switch {
	case b.Cut:
	case in.Err != nil:
		if r.unsure != eventpipe.AllTimes {
			r.lost(0, times.From, times.From+times.Span)
		}
		// one-collect's blocks begin at the end of the block before, the runtime's at
		// their first event.
		if first != 0 && (in.Version != 6 || r.key(in.Times.From) > latest+uint64(r.info.Clock.Frequency)) {
			r.disbelieve(batch, latest, sorted)
		}
	case batch.faults.outside == 0 && !in.Matches(first, last):
		batch.faults.untimed = true
		r.unsure = eventpipe.AllTimes
		r.lost(0, times.From, times.From+times.Span)
	}
	if batch.faults.kinds > 0 { // which are not missing by their numbers
		from, to := r.key(in.Times.From+first), r.key(in.Times.From+last)
		if in.Err != nil { // the last times before the damage may be anything
			to = min(to, max(from, r.latest)+uint64(r.info.Clock.Frequency))
		}
		r.lost(0, r.unkey(from), r.unkey(to))
	}
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
		return binread.Malformed("%d events at times outside the block's", f.outside)
	case f.untimed:
		return binread.Malformed("events at other times than the block's")
	case f.kinds > 0:
		return binread.Malformed("%d events of undefined metadata ids, such as %d", f.kinds, f.kind)
	case f.threads > 0:
		return binread.Malformed("%d events of undefined threads, such as %d", f.threads, f.thread)
	}
	return nil
}

// queued counts an event, and adds it to the batch if it is wanted.
func (r *Reader) queued(k *kind, h *eventpipe.Header, batch *batch, payload eventpipe.Span) {
	key := r.key(h.Ticks)
	if key < r.jump.key {
		r.contradicted(batch)
	}
	late := key < r.sorted
	if h.Sorted {
		r.sortedAt(key, r.latest, batch.base)
	}
	r.latest = max(r.latest, key)
	if h.Labels != 0 {
		k = r.overridden(k, h.Labels)
	}
	k.count++
	if k.names {
		r.nameProcess(h.Thread, payload.Of(batch.block))
	}
	if k.want {
		batch.items = append(batch.items, item{
			Ticks: signed(key), Off: payload.Off, Len: payload.N, Desc: k.index, Stack: h.Stack,
			Context: r.context(h, batch) | pick[uint32](late, lateItem, 0),
		})
	}
}

// context returns the index of the context of an event, a new one if it
// differs from the event before it.
func (r *Reader) context(h *eventpipe.Header, b *batch) uint32 {
	if r.in.Version != 6 {
		return b.context(h, r.info.PID)
	}
	if b.same(h) {
		return uint32(len(b.contexts) - 1)
	}
	ctx := context{pid: r.info.PID, tid: trace.UnknownID, cpu: h.CPU, labels: r.labels.lists[h.Labels]}
	if th, ok := r.threads[h.Thread]; ok { // one-collect writes 0 for unknown values
		ctx.pid, ctx.tid = pick(th.pid != 0, th.pid, ctx.pid), pick(th.tid != 0, th.tid, ctx.tid)
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
func (r *Reader) metadataBlock(b *eventpipe.Block) error {
	if r.in.Version == 6 {
		c := binread.At(b.Data, b.Off)
		c.Skip(int(c.U16()))
		for c.Len() > 0 && c.OK() {
			size := int(c.U16())
			at := c.Pos()
			row := c.Bytes(size)
			if !c.OK() {
				break
			}
			if err := r.define(eventpipe.ParseMetadataV6(row, at)); err != nil {
				return err
			}
		}
		return c.Err()
	}
	in, err := eventpipe.ReadBlock(b.Data, b.Off, r.in.Version)
	if err != nil {
		return err
	}
	for in.Next() {
		if err := r.define(eventpipe.ParseMetadataV4(in.Bytes(), in.Pos())); err != nil {
			return err
		}
	}
	return in.Err
}

// define processes a metadata record. An id that is defined again refers to the new kind
// from then on.
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
	if r.opts.Complete != nil && r.in.Version == 6 {
		r.opts.Complete(d)
	}
	k.desc, k.want = d, r.opts.Want == nil || r.opts.Want(d)
	k.plain = !k.want && !k.names
	r.kinds.runs[k.index] = k.want && r.opts.Runs != nil && r.opts.Runs(d)
	return k, nil
}

// pick returns a if yes, else b.
func pick[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}
