package etl

import (
	"math"

	"github.com/gctrail/gctrail/trace"
)

// account takes over what the file headers and the headers of the buffers say of
// loss. They do not say when it happened: any time may be touched.
func (r *Reader) account(entries []entry) {
	r.loss.Exactness = trace.Exact
	for _, f := range r.files {
		r.loss.Events += uint64(f.header.eventsLost)
		r.loss.Cut = r.loss.Cut || f.cut()
		switch {
		case f.header.end == 0: // never closed: the count was not written
			r.loss.Exactness = trace.Unknown
		case r.loss.Exactness == trace.Unknown:
		case r.loss.Cut, r.loss.Damaged > 0, f.header.buffersLost > 0, f.survey.lossFlags && f.header.eventsLost == 0:
			r.loss.Exactness = trace.LowerBound
		}
	}
	r.anywhere = r.loss.Events > 0 || r.loss.Exactness != trace.Exact
	if n := len(entries); r.anywhere && n > 0 {
		r.loss.Add(0, 0, r.time(entries[n-1].ticks)) // near the end, which is not known yet
	}
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
	if r.anywhere {
		r.loss.Add(0, 0, r.info.Last)
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
