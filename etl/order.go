package etl

import (
	"cmp"
	"math"
	"slices"
)

// A processor fills one buffer after the other, each with events in time order. A time
// counts as damaged if it is out of order while its neighbours agree with each other, or
// if it is outside the times of its buffer: before its start, after its end or after the
// start of the next.

const (
	// disorder is how far events are out of order in a buffer that processors share, in
	// parts of a second: a thread may be interrupted between reserving its place and
	// reading its time.
	disorder = 1000
	// modeShared are the bits of LogFileMode with which processors share buffers
	// (evntrace.h, EVENT_TRACE_PRIVATE_LOGGER_MODE, …_PRIVATE_IN_PROC and
	// …_NO_PER_PROCESSOR_BUFFERING). Their events may be out of order, because a thread
	// may wait between reserving its place and reading its time.
	modeShared = 0x00000800 | 0x00020000 | 0x10000000
)

// slack returns how far the times of the file can be out of order, in ticks of
// the trace; a second has frequency ticks.
func (f *file) slack(frequency int64) int64 {
	if f.shared() {
		return frequency
	}
	return frequency / disorder
}

// shared reports whether processors share the buffers of the file.
func (f *file) shared() bool { return f.header.mode&modeShared != 0 }

// written returns the time when a buffer was written, in ticks, math.MaxInt64 if unknown.
// It converts the time in a file that a tool has rewritten, because such tools store the
// time of day.
func (f *file) written(h *bufferHeader) int64 {
	at := h.flushed
	if h.kind == typeHeader || at == 0 {
		return math.MaxInt64
	}
	if f.header.mode&modeRelog != 0 {
		at = f.header.time + rescaled(distance(at, f.header.start), fileTimeTicks, f.frequency)
	}
	return f.ticks(at)
}

// A judge decides which times of a buffer can be right, in ticks of the trace.
type judge struct {
	from, to int64 // of the buffer
	slack    int64
	last     int64 // that was right
}

// right reports whether a time can be right, given the time of the event behind it if
// there is one. A right time becomes the new reference.
func (j *judge) right(t, next int64, hasNext bool) bool {
	agree := hasNext && next >= since(j.last, j.slack)
	switch {
	case t < since(j.from, j.slack), since(t, j.slack) > j.to:
		return false
	case agree && since(t, j.slack) > next, (agree || !hasNext) && t < since(j.last, j.slack):
		return false
	}
	j.last = t
	return true
}

// confine computes the range of times for the events of each buffer: from its own first
// time to the time when it was written, or the first time of the processor's next buffer.
// If a first time is out of order while its neighbours agree with each other, it is
// damaged, and the buffer before provides the start.
func (f *file) confine(entries []entry, second int64) {
	start := since(f.ticks(f.header.time), second)
	f.timeWriting(entries)
	for _, own := range f.byProcessor(entries) {
		previous := start
		for i, e := range own {
			e.from = start
			if f.shared() {
				continue
			}
			first, next := e.ticks, int64(math.MaxInt64)
			if i+1 < len(own) {
				next = own[i+1].ticks
			}
			slack := f.slack(second)
			if first < since(previous, slack) || since(first, slack) > min(next, e.to) && previous <= next {
				first = previous
				e.ticks = min(e.ticks, first)
			}
			e.from = first
			if i > 0 {
				own[i-1].to = min(own[i-1].to, max(first, own[i-1].from))
			}
			previous = first
		}
	}
}

// timeWriting forgets when buffers were written, if most of them would have been
// before their first events.
func (f *file) timeWriting(entries []entry) {
	odd := 0
	for i := range entries {
		if entries[i].to < entries[i].ticks {
			odd++
		}
	}
	if 2*odd <= len(entries) {
		return
	}
	for i := range entries {
		entries[i].to = math.MaxInt64
	}
}

// byProcessor returns the buffers of each processor in the order in which they
// were filled.
func (f *file) byProcessor(entries []entry) map[uint16][]*entry {
	own := map[uint16][]*entry{}
	for i := range entries {
		e := &entries[i]
		own[e.cpu] = append(own[e.cpu], e)
	}
	if f.header.mode&modeCircular != 0 {
		for _, of := range own {
			slices.SortStableFunc(of, func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) })
		}
	}
	return own
}
