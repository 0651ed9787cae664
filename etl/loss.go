package etl

import (
	"math"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// account computes the loss from the headers of files and buffers. The counts of the file
// headers have no time, so any time may be touched. Missing sequence numbers show which
// buffers are missing.
func (r *Reader) account(entries []entry) {
	r.loss.Exactness = trace.Exact
	r.doubt = math.MaxInt64
	for _, f := range r.files {
		r.loss.Events += uint64(f.header.eventsLost)
		cut := f.cut()
		r.loss.Truncated = r.loss.Truncated || cut
		uncounted := f.header.buffersLost > 0 || f.survey.lossFlags && f.header.eventsLost == 0
		switch {
		case f.header.end == 0: // never closed: the count was not written
			r.loss.Exactness = trace.Unknown
		case r.loss.Exactness == trace.Exact && (cut || uncounted || f.survey.damaged):
			r.loss.Exactness = trace.LowerBound
		}
		switch {
		case len(entries) == 0:
		case f.header.eventsLost > 0 || uncounted:
			r.doubtFrom(math.MinInt64, entries)
		default:
			for _, s := range f.missing(entries) {
				if s.to == math.MaxInt64 {
					r.doubtFrom(s.from, entries)
				} else {
					r.loss.Add(0, r.time(max(s.from, earliest(entries))), r.time(s.to))
				}
			}
		}
	}
}

// doubtFrom records that events may be missing from a time up to the end, which is not
// known yet.
func (r *Reader) doubtFrom(ticks int64, entries []entry) {
	r.doubt = min(r.doubt, max(ticks, earliest(entries)))
	r.loss.Add(0, r.time(r.doubt), r.time(max(r.doubt, entries[len(entries)-1].ticks)))
}

// earliest returns the time when the trace begins.
func earliest(entries []entry) int64 { return min(0, entries[0].ticks) }

// Opcodes of the events by which a real-time session reports loss (MOF class
// RT_LostEvent).
const (
	lostEvents = 32 // one or more
	lostBuffer = 33
	lostFile   = 34 // that held events until someone read the session
)

// lossReport reports whether events of the class report loss.
func lossReport(d *trace.Descriptor) bool {
	return d.Provider == lostEventProvider && lostEvents <= d.Opcode && d.Opcode <= lostFile
}

// reported records a loss that a real-time session reports before the events of a buffer:
// something is missing since the buffer before. It does not add to the count of the file
// header, which would count the events twice.
func (r *Reader) reported(b *batch, d *trace.Descriptor, ticks int64) {
	var n uint64
	if d.Opcode == lostEvents && b.file.header.eventsLost == 0 {
		n = 1
	}
	r.loss.Add(n, r.loss.Settled, r.time(ticks))
	if r.loss.Exactness == trace.Exact {
		r.loss.Exactness = trace.LowerBound
	}
}

// end settles the account when nothing more will come.
func (r *Reader) end() {
	r.info.Last = max(0, r.time(r.latest))
	if n := r.kinds.dropped; n > 0 {
		r.loss.Add(n, 0, r.info.Last)
		r.loss.AddDamage(trace.Damage{Err: binread.Malformed("more than %d kinds of events", maxKinds)})
	}
	if r.loss.Damaged > 0 && r.loss.Exactness == trace.Exact {
		r.loss.Exactness = trace.LowerBound
	}
	if r.doubt < math.MaxInt64 {
		r.loss.Add(0, r.time(r.doubt), r.info.Last)
	}
	r.loss.Settled = math.MaxInt64
	r.loss.Clip(r.info.Last)
}

// unindexed notes a place in a file where buffers could not be found.
func (r *Reader) unindexed(f *file, off int64, err error) {
	f.survey.damaged = true
	r.indexed(f, off, err)
}

// indexed records a fault in the header of a buffer.
func (r *Reader) indexed(f *file, off int64, err error) {
	r.loss.AddFormatError(&trace.FormatError{Format: "etl", File: f.name, Off: off, Section: "buffer", Err: err})
}

// damaged records that part of a buffer could not be read: events may be missing from the
// last good event to the next buffer of its processor.
func (r *Reader) damaged(b *batch, section string, err error) {
	r.loss.AddFormatError(&trace.FormatError{Format: "etl", File: b.file.name, Off: b.entry.off, Section: section, Err: err})
	r.loss.Add(0, r.time(b.seen), r.time(max(b.seen, r.loader.following(b.entry.cpu))))
}

// missorted records that the event at p of a batch's data has an impossible time: it is
// missing from where it belongs.
func (r *Reader) missorted(b *batch, p int, ticks, next int64) {
	r.loss.AddFormatError(&trace.FormatError{Format: "etl", File: b.file.name, Off: b.entry.off, Section: "event", Err: binread.Malformed(
		"the time of the event at %#x of the buffer is %v, that of the one before it %v",
		b.plain-int64(len(b.data)-p), r.time(ticks), r.time(b.seen))})
	r.loss.Add(0, r.time(b.seen), r.time(max(b.seen, next)))
}

// shortened records that a batch's buffer passes the end of its file: events may be
// missing after the last that was read.
func (r *Reader) shortened(b *batch) {
	r.doubt = min(r.doubt, b.seen)
	r.loss.Add(0, r.time(b.seen), r.time(max(b.seen, r.latest)))
}
