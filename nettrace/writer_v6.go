package nettrace

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/trace"
)

// headV6 writes the file header and the Trace block.
func (w *Writer) headV6() {
	le := binary.LittleEndian
	w.emit(eventpipe.AppendHeadV6(nil))

	t := &w.otherBlock
	t.kind = eventpipe.BlockTrace
	t.begin()
	start, ticks := w.opt.sync()
	b := eventpipe.AppendSystemTime(t.b, start)
	b = le.AppendUint64(b, uint64(ticks))
	b = le.AppendUint64(b, uint64(w.opt.Frequency))
	b = le.AppendUint32(b, uint32(w.opt.PointerSize))
	pairs := w.opt.pairs()
	b = le.AppendUint32(b, uint32(len(pairs)))
	for _, p := range pairs {
		b = eventpipe.AppendString(b, p.Name)
		b = eventpipe.AppendString(b, p.Value)
	}
	t.b = b
	w.writeBlock(t)
}

// pairs returns the optional facts of a Trace block.
func (o *WriterOptions) pairs() []trace.Label {
	var p []trace.Label
	if o.CPUs != 0 {
		p = append(p, trace.Label{Name: "HardwareThreadCount", Value: strconv.Itoa(o.CPUs)})
	}
	if o.PID != 0 {
		p = append(p, trace.Label{Name: "ProcessId", Value: strconv.FormatUint(o.PID, 10)})
	}
	return p
}

// threadV6 writes a row of the thread block.
func (w *Writer) threadV6(t *writerThread) {
	if !w.threadBlock.fits(2 + 1 + 1 + 3*binary.MaxVarintLen64) {
		w.flush(&w.threadBlock)
	}
	b := &w.threadBlock
	at := len(b.b)
	b.b = append(b.b, 0, 0)
	b.b = binary.AppendUvarint(b.b, t.id)
	b.b = append(b.b, threadPID)
	b.b = binary.AppendUvarint(b.b, orZero(t.key.pid))
	b.b = append(b.b, threadTID)
	b.b = binary.AppendUvarint(b.b, orZero(t.key.tid))
	binary.LittleEndian.PutUint16(b.b[at:], uint16(len(b.b)-at-2))
	b.records++
}

// orZero returns an id, 0 if it is unknown.
func orZero(id uint64) uint64 { return pick(id == trace.UnknownID, 0, id) }

// metadataV6 writes a row of the metadata block. A row whose fields V6 cannot
// describe, or that they would make too long, goes without them.
func (w *Writer) metadataV6(id uint32, d *trace.Descriptor) error {
	if d.Version > math.MaxUint8 {
		return fmt.Errorf("nettrace: version %d of an event: V6 has one byte for it", d.Version)
	}
	row := eventpipe.AppendMetadataV6(nil, id, d, d.Fields)
	if len(row)-2 > math.MaxUint16 {
		row = eventpipe.AppendMetadataV6(nil, id, d, nil)
	}
	if len(row)-2 > math.MaxUint16 {
		return trace.ErrTooLarge
	}
	if !w.metadataBlock.fits(len(row)) {
		w.flush(&w.metadataBlock)
	}
	w.metadataBlock.b = append(w.metadataBlock.b, row...)
	w.metadataBlock.records++
	return nil
}

// appendLabels appends a label list; nothing where no label has a value.
func appendLabels(dst []byte, l *trace.Labels) []byte {
	last := -1
	ids := [...]struct {
		kind uint8
		id   *[16]byte
	}{{labelActivity, &l.ActivityID}, {labelRelated, &l.RelatedActivityID}, {labelTrace, &l.TraceID}}
	for _, e := range ids {
		if *e.id != [16]byte{} {
			last = len(dst)
			dst = append(dst, e.kind)
			dst = append(dst, e.id[:]...)
		}
	}
	if l.SpanID != 0 {
		last = len(dst)
		dst = append(dst, labelSpan)
		dst = binary.LittleEndian.AppendUint64(dst, l.SpanID)
	}
	for _, t := range l.Text {
		last = len(dst)
		dst = append(dst, labelText)
		dst = eventpipe.AppendString(dst, t.Name)
		dst = eventpipe.AppendString(dst, t.Value)
	}
	if last >= 0 {
		dst[last] |= labelLast
	}
	return dst
}
