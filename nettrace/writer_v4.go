package nettrace

import (
	"encoding/binary"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/trace"
)

// samplingRate is the expected CPU sampling rate, in nanoseconds, that every
// runtime claims.
const samplingRate = 1_000_000

// headV4 writes the magic, the stream header and the Trace object.
func (w *Writer) headV4() {
	le := binary.LittleEndian
	b := eventpipe.AppendHeadV4(nil)
	start, ticks := w.opt.sync()
	b = eventpipe.AppendSystemTime(b, start)
	b = le.AppendUint64(b, uint64(ticks))
	b = le.AppendUint64(b, uint64(w.opt.Frequency))
	b = le.AppendUint32(b, uint32(w.opt.PointerSize))
	b = le.AppendUint32(b, uint32(w.opt.PID))
	b = le.AppendUint32(b, uint32(w.opt.CPUs))
	b = le.AppendUint32(b, samplingRate)
	w.emit(append(b, eventpipe.TagEnd))
}

// metadataV4 writes down d as an event of the metadata block. Its header is
// that of the first event of its kind, without what belongs to a capture. A
// record whose fields V4 cannot describe, or that they would make too long, goes
// without them.
func (w *Writer) metadataV4(id uint32, d *trace.Descriptor, first *eventpipe.Header) error {
	record := eventpipe.AppendMetadataV4(nil, id, d, d.Fields)
	if len(record) > MaxPayload {
		record = eventpipe.AppendMetadataV4(nil, id, d, nil)
	}
	if len(record) > MaxPayload {
		return trace.ErrTooLarge
	}
	if !w.metadataBlock.fits(eventpipe.MaxHeader + len(record)) {
		w.flush(&w.metadataBlock)
	}
	w.addEvent(&w.metadataBlock, &eventpipe.Header{
		CPU:     trace.UnknownCPU,
		Thread:  first.Thread,
		Ticks:   first.Ticks,
		Payload: len(record),
		Sorted:  true,
	}, record)
	return nil
}
