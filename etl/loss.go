package etl

import (
	"math"
	"slices"

	"github.com/gctrail/gctrail/trace"
)

// account takes over what the file headers and the headers of the buffers say of
// loss. They do not say when it happened: any time may be touched. Where a file
// is cut, only what follows the last buffer of some processor is in doubt.
func (r *Reader) account(entries []entry) {
	r.loss.Exactness = trace.Exact
	r.doubt = math.MaxInt64
	for _, f := range r.files {
		r.loss.Events += uint64(f.header.eventsLost)
		cut := f.cut()
		r.loss.Cut = r.loss.Cut || cut
		uncounted := f.header.buffersLost > 0 || r.loss.Damaged > 0 || f.survey.lossFlags && f.header.eventsLost == 0
		switch {
		case f.header.end == 0: // never closed: the count was not written
			r.loss.Exactness = trace.Unknown
		case r.loss.Exactness == trace.Exact && (cut || uncounted):
			r.loss.Exactness = trace.LowerBound
		}
		switch {
		case len(entries) == 0:
		case f.header.eventsLost > 0 || uncounted:
			r.doubt = min(0, entries[0].ticks)
		case cut:
			r.doubt = min(r.doubt, f.complete(entries))
		}
	}
	if n := len(entries); r.doubt < math.MaxInt64 {
		r.loss.Add(0, r.time(r.doubt), r.time(entries[n-1].ticks)) // near the end, which is not known yet
	}
}

// complete is the time up to which a file that was cut has the events of all
// processors: the start of the last buffer of that processor whose is the first.
func (f *file) complete(entries []entry) int64 {
	last := make([]int64, f.header.cpus)
	for i := range last {
		last[i] = math.MinInt64
	}
	for i := range entries {
		if e := &entries[i]; e.file == f.number && int(e.cpu) < len(last) {
			last[e.cpu] = e.ticks
		}
	}
	return max(min(0, entries[0].ticks), slices.Min(append(last, entries[len(entries)-1].ticks)))
}

// end settles the account when nothing more will come.
func (r *Reader) end() {
	r.info.Last = max(0, r.time(r.latest))
	if n := r.kinds.dropped; n > 0 {
		r.loss.Add(n, 0, r.info.Last)
		r.loss.AddDamage(0, malformed("more than %d kinds of events", maxKinds))
	}
	if r.loss.Damaged > 0 && r.loss.Exactness == trace.Exact {
		r.loss.Exactness = trace.LowerBound
	}
	if r.doubt < math.MaxInt64 {
		r.loss.Add(0, r.time(r.doubt), r.info.Last)
	}
	r.loss.Settled = math.MaxInt64
}

// unindexed notes a place in a file where buffers could not be found.
func (r *Reader) unindexed(f *file, off int64, err error) {
	r.loss.AddDamage(off, &FormatError{File: f.name, Off: off, Section: "buffer", Err: err})
}

// damaged notes that some of a buffer could not be read: events may be missing
// from the last that was read of it to the next of its processor.
func (r *Reader) damaged(b *batch, section string, err error) {
	r.loss.AddDamage(b.entry.off, &FormatError{File: b.file.name, Off: b.entry.off, Section: section, Err: err})
	r.loss.Add(0, r.time(b.seen), r.time(max(b.seen, r.loader.following(b.entry.cpu))))
}
