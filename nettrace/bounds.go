package nettrace

import (
	"math"
	"time"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/trace"
)

const (
	// beforeStart is how much older than the start of its trace an event may
	// be.
	beforeStart = time.Second
	// readApart is the part of a second by which an event may precede the start, because
	// a writer may read the clock and the time of day one after the other. No event in
	// the runtime's traces does.
	readApart = 1000
	// maxLength bounds how long after the start of its trace an event may be.
	maxLength = 20 * 365 * 24 * time.Hour
	// maxFrequency bounds a clock's ticks per second. The fastest clocks count
	// nanoseconds, or cycles of a processor.
	maxFrequency = 1e10
)

// sessionBounds returns the range of times that a trace with this start has.
func sessionBounds(sync uint64, frequency int64) eventpipe.Times {
	before := uint64(beforeStart/time.Second) * uint64(frequency)
	span := float64(frequency) * (beforeStart + maxLength).Seconds()
	return eventpipe.Times{From: sync - before, Span: uint64(min(span, math.MaxInt64))}
}

// anchor compares the start of the trace with the times of its first events. If most of
// them are impossible or older than the start, the start must be damaged, and anchor
// moves it to the earliest of them. The times of a block that cannot be read to its end may
// be anything, so the next one is compared.
func (r *Reader) anchor(b *eventpipe.Block) {
	var events, foreign int
	var earliest, earliestForeign uint64
	in, err := eventpipe.ReadBlock(b.Data, b.Off, r.in.Version)
	if err != nil {
		return
	}
	for in.Next() {
		if in.MetadataID == 0 && in.Version == 3 {
			continue
		}
		if r.session.Holds(in.Ticks) {
			if events == foreign || int64(in.Ticks-earliest) < 0 {
				earliest = in.Ticks
			}
		} else {
			if foreign == 0 || int64(in.Ticks-earliestForeign) < 0 {
				earliestForeign = in.Ticks
			}
			foreign++
		}
		events++
	}
	if in.Err != nil && !b.Cut {
		return
	}
	r.anchored = events > 0
	switch {
	case foreign > events/2:
		earliest = earliestForeign
	case foreign == events:
		return
	case int64(earliest-r.sync) >= -r.info.Clock.Frequency/readApart:
		r.info.First = max(0, r.info.Clock.Duration(int64(earliest-r.sync)))
		return
	}
	r.damaged(b.Off, "trace object", binread.Malformed("start at %d ticks, first event at %d", r.sync, earliest))
	r.startAt(earliest)
}

// startAt sets the ticks of the trace's start.
func (r *Reader) startAt(ticks uint64) {
	r.sync, r.seqs.start, r.view = ticks, ticks, nil
	r.session = sessionBounds(ticks, r.info.Clock.Frequency)
	r.latest = r.key(r.session.From)
	r.sorted = r.latest
}

// A jump is a sorted event that is more than a second later than all before it. It is
// accepted if the next block, or a sequence point, is not older. Otherwise its time is
// damaged, and so are the times of all later events in its block.
type jump struct {
	key    uint64 // sort key of the event; 0 if nothing is doubted
	latest uint64 // sort key of the latest event before it
	sorted uint64 // Reader.sorted if the event is believed
	block  int64  // the block that the event is in
}

// maxDoubts bounds the doubted jumps, because each may cost a scan of all waiting events.
const maxDoubts = 1000

// sortedAt records that no later event is older than this sort key.
func (r *Reader) sortedAt(key, latest uint64, block int64) {
	switch {
	case r.jump.key != 0:
		r.jump.sorted = max(r.jump.sorted, key)
	case latest != r.key(r.session.From) && key > latest+uint64(r.info.Clock.Frequency) && r.doubts < maxDoubts:
		r.doubts++
		r.jump = jump{key: key, latest: latest, sorted: key, block: block}
	default:
		r.sorted = max(r.sorted, key)
	}
}

// believe accepts a jump after a block that does not contradict it.
func (r *Reader) believe(block int64) {
	if r.jump.key != 0 && r.jump.block != block {
		r.sorted = max(r.sorted, r.jump.sorted)
		r.jump = jump{}
	}
}

// contradicted drops the events since the doubted jump, because a later event, or
// sequence point, is older. batch is the batch being read, if any.
func (r *Reader) contradicted(batch *batch) {
	r.queue.dropAfter(signed(r.jump.latest), r.kinds.all)
	if batch != nil {
		batch.dropAfter(signed(r.jump.latest), r.kinds.all)
	}
	r.damaged(r.jump.block, eventpipe.BlockEvents.String(), binread.Malformed("events later than what follows them"))
	r.unread(r.jump.latest)
	r.latest = r.jump.latest
	r.jump = jump{}
}

// disbelieve drops the events of a damaged block that are later than all before the
// block, if one of them is so by more than a second, because the bytes read as events may
// be anything. latest and sorted are the reader's values before the block.
func (r *Reader) disbelieve(batch *batch, latest, sorted uint64) {
	if latest == r.key(r.session.From) || r.latest <= latest+uint64(r.info.Clock.Frequency) {
		return
	}
	batch.dropAfter(signed(latest), r.kinds.all)
	r.latest, r.sorted = latest, sorted
	if r.jump.block == batch.base {
		r.jump = jump{}
	}
}

// dropLater drops waiting events that are more than a second later than a sequence point
// that follows them.
func (r *Reader) dropLater(point uint64, off int64) {
	limit := point + uint64(r.info.Clock.Frequency)
	if point < r.sorted || r.latest <= limit {
		return
	}
	if r.jump.key > limit {
		r.contradicted(nil)
	}
	if r.latest <= limit {
		return
	}
	r.queue.dropAfter(signed(limit), r.kinds.all)
	r.damaged(off, eventpipe.BlockSequencePoint.String(), binread.Malformed("events before it are later"))
	r.unread(r.sorted)
	r.latest = min(r.latest, max(point, r.key(r.sync+uint64(r.emitted))))
}

// unread notes that events after the one with this sort key could not be read.
func (r *Reader) unread(key uint64) {
	if !r.gap {
		r.gap, r.gapFrom = true, key
	}
	r.gapFrom = min(r.gapFrom, key)
}

// readAgain notes that no event before the one with this sort key is unread.
func (r *Reader) readAgain(key uint64) {
	if r.gap {
		r.gap = false
		r.lost(0, r.unkey(r.gapFrom), r.unkey(max(r.gapFrom, key)))
	}
}

// unreadV3 records a place where events could not be read, in a trace whose events have no
// sequence numbers. With a nil error, it records that a block was read.
func (r *Reader) unreadV3(err error) {
	switch {
	case r.in.Version != 3:
	case err != nil:
		r.unread(r.latest)
	default:
		r.readAgain(r.latest)
	}
}

// damaged notes a place that could not be read.
func (r *Reader) damaged(off int64, section string, err error) {
	r.seqs.damage.add(r.unsure)
	r.loss.AddFormatError(&trace.FormatError{Format: "nettrace", Off: off, Section: section, Err: err})
}
