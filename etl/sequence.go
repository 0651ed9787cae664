package etl

import (
	"cmp"
	"math"
	"slices"
)

// maxGaps bounds the gaps that are looked at one by one.
const maxGaps = 64

// A span is a stretch of time in ticks; to is math.MaxInt64 for the end of the
// trace.
type span struct{ from, to int64 }

// missing returns the stretches of time that buffers with events may be missing from,
// because the file is cut, damaged or has come round.
//
// A buffer gets its sequence number when a processor begins to fill it, so the first
// events of buffers are in the order of these numbers, across processors. A missing
// buffer therefore has no event from before the first events of buffers with lower
// numbers. An idle processor has no buffer, and nothing is missing.
func (f *file) missing(entries []entry) []span {
	cut, damaged := f.cut(), f.survey.damaged
	switch {
	case f.wrapped() && (cut || damaged):
		return []span{{math.MinInt64, math.MaxInt64}}
	case f.wrapped():
		return f.overwritten()
	case !cut && !damaged:
		return nil
	}
	own := f.sequence(entries)
	var complete uint32
	if !damaged {
		complete = f.complete(own)
	}
	var spans []span
	high, slack, previous := int64(math.MinInt64), slackOf(own), uint32(0)
	for i, e := range own {
		if e.seq > previous+1 && e.seq-1 > complete {
			s := span{since(high, slack), math.MaxInt64}
			if !cut && len(spans) < maxGaps {
				s.to = f.resumed(own[i:])
			}
			if spans = append(spans, s); s.to == math.MaxInt64 {
				return spans
			}
		}
		high, previous = max(high, e.ticks), e.seq
	}
	if cut || len(spans) == 0 {
		spans = append(spans, span{since(high, slack), math.MaxInt64})
	}
	return spans
}

// sequence returns the entries of the file in the order of their sequence
// numbers.
func (f *file) sequence(entries []entry) []*entry {
	var own []*entry
	for i := range entries {
		if entries[i].file == f.number {
			own = append(own, &entries[i])
		}
	}
	slices.SortStableFunc(own, func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) })
	return own
}

// complete returns the sequence number up to which no buffer is missing at the end of the
// file. Because each processor writes its buffers in order, a missing one comes after the
// last that the file has of its processor.
func (f *file) complete(own []*entry) uint32 {
	last := make(map[uint16]uint32)
	for _, e := range own {
		last[e.cpu] = e.seq
	}
	if len(last) < f.header.cpus {
		return 0
	}
	least := uint32(math.MaxUint32)
	for _, seq := range last {
		least = min(least, seq)
	}
	return least
}

// slackOf returns the greatest disorder between the first events of buffers and their
// sequence numbers.
func slackOf(own []*entry) (slack int64) {
	high := int64(math.MinInt64)
	for _, e := range own {
		high = max(high, e.ticks)
		slack = max(slack, high-e.ticks)
	}
	return slack
}

// since returns t less slack, or the closest to it that there is.
func since(t, slack int64) int64 { return distance(t, slack) }

// resumed returns the time when every processor had begun one of the later buffers,
// because the missing buffer before them was full by then. It is math.MaxInt64 if some
// processor did not begin another.
func (f *file) resumed(later []*entry) int64 {
	begun := make(map[uint16]bool)
	for _, e := range later {
		if begun[e.cpu] = true; len(begun) == f.header.cpus {
			return e.ticks
		}
	}
	return math.MaxInt64
}

// overwritten returns the time span whose buffers were overwritten in a circular file. It
// ends where the remaining buffers begin, because buffers are overwritten in the order of
// writing.
func (f *file) overwritten() []span {
	if f.survey.flushed == math.MinInt64 {
		return []span{{math.MinInt64, math.MaxInt64}}
	}
	return []span{{math.MinInt64, f.survey.flushed}}
}
