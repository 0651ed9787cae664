package nettrace

import "encoding/binary"

// A view is what a walker needs to know of the trace before a block. It does not
// change once walkers have it: where more is defined, that is another view.
type view struct {
	kinds   []*kind // kindTable.dense
	plain   []bool  // kindTable.plain
	sync    uint64  // ticks of the trace's start
	second  uint64  // ticks
	session bounds
	pid     uint64
	shown   bool // to walkers
}

// key returns what Reader.key does.
func (v *view) key(ticks uint64) uint64 { return (ticks - v.sync) ^ 1<<63 }

// A summary is what a walker finds in an event block.
type summary struct {
	view     *view  // with which the block was walked
	regular  bool   // the rest is set; else readEvents has to read the block
	batch    *batch // the wanted events; nil if there are none
	tallies  []tally
	runs     []run
	start    uint64 // sort key of the first event
	earliest uint64 // sort key
	latest   uint64 // sort key
	opens    bool   // the first event is sorted
	sorted   uint64 // sort key of the last sorted event; 0 if there is none
}

// A tally is the number of a block's events of a kind.
type tally struct {
	kind *kind
	n    uint64
}

// A run is the events of a capture thread with consecutive numbers.
type run struct {
	capture     uint64
	first, last uint32 // numbers
	from, to    uint64 // ticks of the first and last event
}

const (
	// maxRuns bounds the runs of a block that is walked, as each event that begins
	// one looks through them.
	maxRuns = 64
	// maxWalked bounds the size of a block that is walked, and leastWanted is how many
	// of its bytes there are for each wanted event: they bound the memory of
	// summaries.
	maxWalked   = 512 << 10
	leastWanted = 8
)

// A walker reads event blocks of V4 with compressed headers, as the runtime writes
// them. It depends on nothing but the view and the block, so that several walkers
// can read blocks at a time, and it gives up where something is unusual: then
// Reader.readEvents reads the block, which would find the same in all others.
type walker struct {
	blockReader
	view *view
	sum  *summary

	counts []uint64 // events of the block by metadata id; 0 between blocks
	met    []uint32 // metadata ids of the block

	run         int    // index of the current run
	last        uint64 // ticks of the last event
	number      uint32 // of the last event
	first, most uint64 // ticks from the start of the block's times to its earliest and latest event
	opened      uint64 // ticks from there to the event with which the current run began or continued
}

// walk makes s the summary of a block. Its batch is one of those that are free.
func (w *walker) walk(b *block, v *view, s *summary, free *batches) {
	*s = summary{view: v, tallies: s.tallies[:0], runs: s.runs[:0]}
	if b.cut || len(b.data) > maxWalked {
		return
	}
	in, err := readBlock(b.data, b.off, 4)
	if err != nil || !in.compressed || in.times != unbounded && in.times.within(v.session) != in.times {
		return
	}
	w.blockReader, w.view, w.sum = in, v, s
	w.times = in.times.within(v.session)
	w.first, w.most = ^uint64(0), 0
	w.counts = append(w.counts, make([]uint64, max(0, len(v.kinds)-len(w.counts)))...)
	batch := free.take()
	batch.block, batch.base = b.data, b.off
	s.regular = w.events(batch) && in.spans(w.first, w.most)
	w.tally()
	s.earliest, s.latest = v.key(w.times.from+w.first), v.key(w.times.from+w.most)
	if s.regular && len(batch.items) > 0 {
		batch.keep(4)
		s.batch = batch
	} else {
		free.add(batch)
	}
}

// tally moves the counts of the block's events to its summary.
func (w *walker) tally() {
	for _, id := range w.met {
		w.sum.tallies = append(w.sum.tallies, tally{w.view.kinds[id], w.counts[id]})
		w.counts[id] = 0
	}
	w.met = w.met[:0]
}

// events reads all events.
func (w *walker) events(b *batch) bool {
	if !w.next() || !w.moved {
		return false
	}
	w.sum.start = w.view.key(w.ticks)
	w.sum.opens = w.sorted
	for first := true; first || w.next(); first = false {
		switch {
		case w.moved:
			if !first && !w.endRun() || !w.beginRun() {
				return false
			}
		case w.ticks < w.last:
			return false
		}
		if w.sorted && !w.sortedAt(first) {
			return false
		}
		k := w.count(w.metadataID)
		if k == nil || k.want && !w.queue(k, b) {
			return false
		}
		if w.view.plain[w.metadataID] {
			w.brief()
		}
		w.last, w.number = w.ticks, w.seq
	}
	return w.err == nil && w.endRun()
}

// beginRun begins a run, or continues one of the same thread.
func (w *walker) beginRun() bool {
	w.opened = w.ticks - w.times.from
	w.first = min(w.first, w.opened)
	if w.view.key(w.ticks) < w.sum.sorted {
		return false
	}
	runs := w.sum.runs
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].capture == w.capture {
			if runs[i].last+1 == w.seq {
				w.run = i
				return true
			}
			break
		}
	}
	w.run = len(runs)
	w.sum.runs = append(runs, run{capture: w.capture, first: w.seq, from: w.ticks})
	return len(runs) < maxRuns
}

// endRun ends a run with the last event, or interrupts it.
func (w *walker) endRun() bool {
	since := w.last - w.times.from
	w.most = max(w.most, since)
	r := &w.sum.runs[w.run]
	r.last, r.to = w.number, w.last
	return since <= w.times.span && since >= w.opened
}

// sortedAt notes that an event is sorted, unless it is in doubt: see Reader.sortedAt.
func (w *walker) sortedAt(first bool) bool {
	key := w.view.key(w.ticks)
	w.sum.sorted = max(w.sum.sorted, key)
	return first || w.ticks-w.times.from <= max(w.most, w.last-w.times.from)+w.view.second
}

// count counts an event. It returns its kind, nil if that is unusual.
func (w *walker) count(id uint32) *kind {
	if int64(id) >= int64(len(w.view.kinds)) {
		return nil
	}
	k := w.view.kinds[id]
	if k == nil || k.names {
		return nil
	}
	if w.counts[id] == 0 {
		w.met = append(w.met, id)
	}
	w.counts[id]++
	return k
}

// queue adds an event to the batch.
func (w *walker) queue(k *kind, b *batch) bool {
	if len(b.items) >= len(w.data)/leastWanted {
		return false
	}
	b.items = append(b.items, item{w.view.key(w.ticks), w.span(), k.index, w.stack, b.context(&w.header, w.view.pid)})
	return true
}

// brief reads the unwanted events that follow, as long as their headers have nothing
// but a time, kind, stack and size of the payload, as most have. It ends before an
// event that is anything else.
func (w *walker) brief() {
	const own = flagMetadata | flagStack | flagPayload
	h, data, counts, plain := &w.header, w.data, w.counts, w.view.plain
	off, id, seq, stack, ticks, size := w.off, h.metadataID, h.seq, h.stack, h.ticks, h.payload
	for len(data)-off >= maxCompressed {
		flags := data[off]
		if flags == 0 {
			n, end, later := alike(data, off, size)
			if n > 0 && ticks+later >= ticks {
				counts[id] += n
				seq, off, ticks = seq+uint32(n), end, ticks+later
				continue
			}
		}
		if flags&^own != 0 {
			break
		}
		i, kindID, stackID, n := off+1, id, stack, size
		if flags&flagMetadata != 0 {
			if v := data[i]; v < 0x80 {
				kindID, i = uint32(v), i+1
			} else {
				kindID, i = w.uvarint32(i)
			}
		}
		if flags&flagStack != 0 {
			stackID, i = w.uvarint32(i)
		}
		var delta uint64
		if v := data[i]; v < 0x80 {
			delta, i = uint64(v), i+1
		} else if next := data[i+1]; next < 0x80 {
			delta, i = uint64(v&0x7f)|uint64(next)<<7, i+2
		} else {
			delta, i = w.uvarint64(i)
		}
		if flags&flagPayload != 0 {
			if v := data[i]; v < 0x80 {
				n, i = int(v), i+1
			} else {
				var v uint32
				v, i = w.uvarint32(i)
				n = int(v)
			}
		}
		if w.overlong || len(data)-i < n || ticks+delta < ticks || uint64(kindID) >= uint64(len(plain)) || !plain[kindID] {
			break
		}
		if counts[kindID] == 0 {
			w.met = append(w.met, kindID)
		}
		counts[kindID]++
		id, stack, size, off = kindID, stackID, n, i+n
		ticks += delta
		seq++
	}
	w.off, h.metadataID, h.seq, h.stack, h.ticks, h.payload = off, id, seq, stack, ticks, size
}

// alike skips events at off that differ from the one before only in their time,
// by less than 16,384 ticks. It returns their number, the end, and the sum of
// the differences.
func alike(data []byte, off, size int) (n uint64, end int, later uint64) {
	for last := len(data) - 4 - size; off <= last; n++ {
		h := binary.LittleEndian.Uint32(data[off:])
		switch {
		case h&0x80ff == 0:
			later += uint64(h>>8) & 0x7f
			off += 2 + size
		case h&0x8080ff == 0x8000:
			later += uint64(h>>8&0x7f | h>>9&0x3f80)
			off += 3 + size
		default:
			return n, off, later
		}
	}
	return n, off, later
}
