package nettrace

import (
	"github.com/gctrail/gctrail/internal/eventpipe"
)

// A view holds the state of the trace that a walker needs before a block. It never
// changes, so that walkers can use it without a lock; new definitions make a new view.
type view struct {
	kinds   []*kind // kindTable.dense
	plain   []bool  // kindTable.plain
	wanted  []uint32
	sync    uint64 // ticks of the trace's start
	second  uint64 // ticks
	session eventpipe.Times
	pid     uint64
	shown   bool // to walkers
}

// key is Reader.key for a view.
func (v *view) key(ticks uint64) uint64 { return (ticks - v.sync) ^ 1<<63 }

// A summary is the result of walking an event block.
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
	// maxRuns bounds the runs of a block that is walked, because each event that begins
	// one searches all of them.
	maxRuns = 64
	// maxWalked bounds the size of a block that is walked, and leastWanted is how many of
	// its bytes there are for each wanted event. Both bound the memory of summaries.
	maxWalked   = 512 << 10
	leastWanted = 8
)

// A walker reads event blocks of V4 with compressed headers, as the runtime writes
// them. It depends on nothing but the view and the block, so that several walkers
// can run in parallel. It gives up on a block with anything unusual, which
// Reader.readEvents then reads; that method gives the same result for every block.
type walker struct {
	eventpipe.BlockReader
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

// walk makes s the summary of a block. It takes the batch for it from free.
func (w *walker) walk(b *eventpipe.Block, v *view, s *summary, free *batches) {
	*s = summary{view: v, tallies: s.tallies[:0], runs: s.runs[:0]}
	if b.Cut || len(b.Data) > maxWalked {
		return
	}
	in, err := eventpipe.ReadBlock(b.Data, b.Off, 4)
	if err != nil || !in.Compressed || in.Times != eventpipe.AllTimes && in.Times.Within(v.session) != in.Times {
		return
	}
	w.BlockReader, w.view, w.sum = in, v, s
	w.Times = in.Times.Within(v.session)
	w.first, w.most = ^uint64(0), 0
	w.counts = append(w.counts, make([]uint64, max(0, len(v.kinds)-len(w.counts)))...)
	batch := free.take()
	batch.block, batch.base = b.Data, b.Off
	s.regular = w.events(batch) && in.Matches(w.first, w.most)
	w.tally()
	s.earliest, s.latest = v.key(w.Times.From+w.first), v.key(w.Times.From+w.most)
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
	if !w.Next() || !w.Moved {
		return false
	}
	w.sum.start = w.view.key(w.Ticks)
	w.sum.opens = w.Sorted
	for first := true; first || w.Next(); first = false {
		switch {
		case w.Moved:
			if !first && !w.endRun() || !w.beginRun() {
				return false
			}
		case w.Ticks < w.last:
			return false
		}
		if w.Sorted && !w.sortedAt(first) {
			return false
		}
		k := w.count(w.MetadataID)
		if k == nil || k.want && !w.queue(k, b) {
			return false
		}
		switch {
		case w.view.plain[w.MetadataID]:
			w.met = w.CountPlain(w.view.plain, w.counts, w.met)
		case w.view.wanted[w.MetadataID] != 0:
			b.items, w.met = w.AppendWanted(b.items, len(b.block)/leastWanted, w.view.sync, w.view.wanted, w.counts, w.met)
		}
		w.last, w.number = w.Ticks, w.Seq
	}
	return w.Err == nil && w.endRun()
}

// beginRun begins a run, or continues one of the same thread.
func (w *walker) beginRun() bool {
	w.opened = w.Ticks - w.Times.From
	w.first = min(w.first, w.opened)
	if w.view.key(w.Ticks) < w.sum.sorted {
		return false
	}
	runs := w.sum.runs
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].capture == w.Capture {
			if runs[i].last+1 == w.Seq {
				w.run = i
				return true
			}
			break
		}
	}
	w.run = len(runs)
	w.sum.runs = append(runs, run{capture: w.Capture, first: w.Seq, from: w.Ticks})
	return len(runs) < maxRuns
}

// endRun ends a run with the last event, or interrupts it.
func (w *walker) endRun() bool {
	since := w.last - w.Times.From
	w.most = max(w.most, since)
	r := &w.sum.runs[w.run]
	r.last, r.to = w.number, w.last
	return since <= w.Times.Span && since >= w.opened
}

// sortedAt records that an event is sorted, unless it is in doubt: see Reader.sortedAt.
func (w *walker) sortedAt(first bool) bool {
	key := w.view.key(w.Ticks)
	w.sum.sorted = max(w.sum.sorted, key)
	return first || w.Ticks-w.Times.From <= max(w.most, w.last-w.Times.From)+w.view.second
}

// count counts an event. It returns its kind, nil if the event is unusual.
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
	if len(b.items) >= len(b.block)/leastWanted {
		return false
	}
	span := w.Span()
	b.items = append(b.items, item{
		Ticks: int64(w.Ticks - w.view.sync), Off: span.Off, Len: span.N, Desc: k.index, Stack: w.Stack,
		Context: b.context(&w.Header, w.view.pid),
	})
	return true
}
