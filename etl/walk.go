package etl

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// take queues the events of a batch and of the following batches of its buffer, up to the
// first batch with wanted events.
func (r *Reader) take(b *batch) {
	for {
		r.walk(b)
		switch {
		case b.err == nil:
		case b.atEnd() && errors.Is(b.err, io.ErrUnexpectedEOF):
			r.shortened(b)
		default:
			r.damaged(b, "buffer", b.err)
		}
		if b.rest > 0 {
			r.loader.prefetch(b)
		}
		if len(b.items) > 0 {
			b.held = len(b.items)
			b.owed = b.cost()
			r.pending += b.owed
			r.heap.push(b)
			return
		}
		if b.rest == 0 {
			r.loader.recycle(b)
			return
		}
		n := r.loader.after(b)
		r.loader.recycle(b)
		b = n
	}
}

// atEnd reports whether the batch's buffer is truncated by the end of its file.
func (b *batch) atEnd() bool {
	return b.file.survey.short && b.entry.off+int64(b.entry.size) == b.file.size
}

// walk reads the events of a batch: it counts each, and makes items of the wanted ones.
// It stops at the end, or before an incomplete event.
func (r *Reader) walk(b *batch) {
	d, p := b.data, b.start
	f := b.file
	sorted := true
	for len(d)-p >= 8 {
		e := d[p:]
		format := formatOf(e)
		if format == nil {
			r.stopped(b, p)
			p = len(d)
			break
		}
		if len(e) < int(format.size) {
			break
		}
		size := int(le.Uint16(e[format.sizeAt:]))
		if size < int(format.size) {
			r.damaged(b, "event", binread.Malformed("event of %d bytes", size))
			b.rest = 0
			p = len(d)
			break
		}
		if size > len(e) {
			break
		}
		if format.form != formSkipped {
			e = e[:size:size]
			if k := r.kindOf(format, e); k != nil {
				ticks := f.ticks(int64(le.Uint64(e[format.timeAt:])))
				late := !r.timely(b, p, size, &ticks)
				b.seen = max(b.seen, ticks)
				k.count++
				if k.role != roleNone && !late {
					r.note(b, k, format, e, ticks)
				}
				if k.want || r.opts.Stacks && k.role >= roleRuntime {
					if n := len(b.items); n > 0 && ticks < b.items[n-1].ticks {
						sorted = false
					}
					b.items = append(b.items, item{ticks, uint32(p), k.index, late})
				}
			}
		}
		p += (size + 7) &^ 7
	}
	r.latest = max(r.latest, b.seen)
	if p < len(d) && b.rest == 0 && b.err == nil && len(d)-p >= 8 {
		r.damaged(b, "event", io.ErrUnexpectedEOF)
	}
	if !sorted {
		slices.SortStableFunc(b.items, func(x, y item) int { return cmp.Compare(x.ticks, y.ticks) })
	}
	b.tail = min(p, len(d))
}

// timely reports whether the time of the event of size bytes at p of a batch's data can
// be right. Otherwise it replaces the time by one near the event's place.
func (r *Reader) timely(b *batch, p, size int, ticks *int64) bool {
	next, hasNext := timeAfter(b.data, p, size)
	next = b.file.ticks(next)
	before := b.times.last
	if b.times.right(*ticks, next, hasNext) {
		return true
	}
	if !hasNext {
		next = r.loader.following(b.entry.cpu)
	}
	r.missorted(b, p, *ticks, next)
	*ticks = before
	return false
}

// timeAfter returns the time of the event that follows the one of size bytes at
// off, if there is one in d that has a time.
func timeAfter(d []byte, off, size int) (int64, bool) {
	off += (size + 7) &^ 7
	if off >= len(d) {
		return 0, false
	}
	return firstTime(d[off:])
}

// kindOf returns the kind of e, or nil if events of that kind are not emitted.
func (r *Reader) kindOf(f *format, e []byte) *kind {
	k := f.keyOf(e)
	if k.form == formPerfInfo {
		k.form = formSystem
	}
	if k.form == formSystem && k.w[0] == hookFileHeader {
		return nil
	}
	return r.kinds.get(&k)
}

// hookFileHeader is the hook id of the event that carries the file header.
const hookFileHeader = 0

// note records the statements of e about processes, threads and loss.
func (r *Reader) note(b *batch, k *kind, f *format, e []byte, ticks int64) {
	switch k.role {
	case roleRuntime:
		if pid, _ := f.threadOf(e); pid != trace.UnknownID {
			r.processes.raised(pid, ticks)
		}
	case roleProcess:
		r.processes.kernel(&k.desc, f.payload(e, &extended{}), int(f.pointer), ticks)
	case roleKernelProcess:
		r.processes.started(&k.desc, f.payload(e, &extended{}), ticks)
	case roleThread:
		r.threads.add(&k.desc, f.payload(e, &extended{}), ticks, r.due(b))
	case roleLost:
		r.reported(b, &k.desc, ticks)
	}
}

// due returns the time before which nothing will be emitted any more.
func (r *Reader) due(b *batch) int64 {
	ticks := b.entry.ticks
	if len(r.heap.Heap) > 0 {
		ticks = min(ticks, r.heap.Heap[0].Time)
	}
	if w := &r.waiting; !w.empty() {
		ticks = min(ticks, w.at(w.head).item.ticks)
	}
	return ticks
}

// stopped records damage if no event begins at p, unless the rest is unused: Windows
// fills that with ones.
func (r *Reader) stopped(b *batch, p int) {
	b.rest = 0
	if len(bytes.Trim(b.data[p:], "\xff")) == 0 {
		return
	}
	r.damaged(b, "event", binread.Malformed("no event begins at %#x of the buffer, %d bytes are skipped",
		b.plain-int64(len(b.data)-p), len(b.data)-p))
}
