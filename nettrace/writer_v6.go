package nettrace

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/gctrail/gctrail/trace"
)

// headV6 writes the file header and the Trace block.
func (w *Writer) headV6() {
	le := binary.LittleEndian
	b := []byte(nettraceMagic)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint32(b, 6)
	b = le.AppendUint32(b, 0)
	w.emit(b)

	t := &w.otherBlock
	t.kind = blockTrace
	t.begin(0)
	start, ticks := w.opt.sync()
	b = appendSystemTime(t.b, start)
	b = le.AppendUint64(b, uint64(ticks))
	b = le.AppendUint64(b, uint64(w.opt.Frequency))
	b = le.AppendUint32(b, uint32(w.opt.PointerSize))
	pairs := w.opt.pairs()
	b = le.AppendUint32(b, uint32(len(pairs)))
	for _, p := range pairs {
		b = appendString(b, p.Name)
		b = appendString(b, p.Value)
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

// appendFrameV6 appends what precedes the contents of a block.
func appendFrameV6(dst []byte, kind blockKind, size int) []byte {
	return binary.LittleEndian.AppendUint32(dst, uint32(size)|uint32(kind)<<24)
}

// appendSequencePointV6 appends the contents of a SequencePoint block.
func (tt *writerThreads) appendSequencePointV6(dst []byte, ticks int64) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, uint64(ticks))
	dst = le.AppendUint32(dst, 0)
	at := len(dst)
	dst = le.AppendUint32(dst, 0)
	n := uint32(0)
	for _, t := range tt.order {
		if t.captures {
			dst = binary.AppendUvarint(dst, t.id)
			dst = binary.AppendUvarint(dst, uint64(t.seq))
			n++
		}
	}
	le.PutUint32(dst[at:], n)
	return dst
}

// threadV6 writes a row of the thread block.
func (w *Writer) threadV6(t *writerThread) {
	if !w.threadBlock.fits(2 + 1 + 1 + 3*binary.MaxVarintLen64) {
		w.flushThreads()
	}
	b := &w.threadBlock
	at := len(b.b)
	b.b = append(b.b, 0, 0)
	b.b = binary.AppendUvarint(b.b, t.id)
	b.b = append(b.b, threadPID)
	b.b = binary.AppendUvarint(b.b, t.key.pid)
	b.b = append(b.b, threadTID)
	b.b = binary.AppendUvarint(b.b, t.key.tid)
	binary.LittleEndian.PutUint16(b.b[at:], uint16(len(b.b)-at-2))
	b.records++
}

// metadataV6 writes a row of the metadata block. A row whose fields V6 cannot
// describe, or that they would make too long, goes without them.
func (w *Writer) metadataV6(id uint32, d *trace.Descriptor) error {
	if d.Version > math.MaxUint8 {
		return fmt.Errorf("nettrace: version %d of an event: V6 has one byte for it", d.Version)
	}
	var row []byte
	if fieldsFitV6(d.Fields) {
		row = appendMetadataV6(nil, id, d, d.Fields)
	}
	if row == nil || len(row)-2 > math.MaxUint16 {
		row = appendMetadataV6(nil, id, d, nil)
	}
	if len(row)-2 > math.MaxUint16 {
		return trace.ErrTooLarge
	}
	if !w.metadataBlock.fits(len(row)) {
		w.flushMetadata()
	}
	w.metadataBlock.b = append(w.metadataBlock.b, row...)
	w.metadataBlock.records++
	return nil
}

func appendMetadataV6(dst []byte, id uint32, d *trace.Descriptor, fields []trace.Field) []byte {
	return appendSized(dst, func(dst []byte) []byte {
		dst = binary.AppendUvarint(dst, uint64(id))
		dst = appendString(dst, d.Provider)
		dst = binary.AppendUvarint(dst, uint64(d.ID))
		dst = appendString(dst, d.Name)
		dst = appendFieldsV6(dst, fields)
		return appendSized(dst, func(dst []byte) []byte {
			if d.Opcode != 0 {
				dst = append(dst, optOpcode, d.Opcode)
			}
			if d.Keywords != 0 {
				dst = append(dst, optKeywords)
				dst = binary.LittleEndian.AppendUint64(dst, d.Keywords)
			}
			return append(dst, optLevel, d.Level, optVersion, uint8(d.Version))
		})
	})
}

// appendSized appends what body appends, after its length.
func appendSized(dst []byte, body func([]byte) []byte) []byte {
	at := len(dst)
	dst = body(append(dst, 0, 0))
	binary.LittleEndian.PutUint16(dst[at:], uint16(len(dst)-at-2))
	return dst
}

func appendFieldsV6(dst []byte, fields []trace.Field) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(fields)))
	for i := range fields {
		dst = appendSized(dst, func(dst []byte) []byte {
			dst = appendString(dst, fields[i].Name)
			return appendTypeV6(dst, &fields[i])
		})
	}
	return dst
}

// fieldsFitV6 reports whether V6 can describe the fields.
func fieldsFitV6(fields []trace.Field) bool {
	for i := range fields {
		f := &fields[i]
		for f.Type == trace.Array || f.Type >= trace.FixedArray && f.Type != trace.UTF8Unit && f.Type != trace.Boolean8 {
			if f.Elem == nil || f.Count < 0 || f.Count > math.MaxUint16 {
				return false
			}
			f = f.Elem
		}
		if f.Type == trace.Object && !fieldsFitV6(f.Fields) {
			return false
		}
	}
	return true
}

// appendTypeV6 appends the type of a field. The element type of a fixed array
// precedes its length.
func appendTypeV6(dst []byte, f *trace.Field) []byte {
	dst = append(dst, uint8(f.Type))
	switch f.Type {
	case trace.Object:
		return appendFieldsV6(dst, f.Fields)
	case trace.Array, trace.RelLoc, trace.DataLoc:
		return appendTypeV6(dst, f.Elem)
	case trace.FixedArray:
		dst = appendTypeV6(dst, f.Elem)
		return binary.LittleEndian.AppendUint16(dst, uint16(f.Count))
	}
	return dst
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
		dst = appendString(dst, t.Name)
		dst = appendString(dst, t.Value)
	}
	if last >= 0 {
		dst[last] |= labelLast
	}
	return dst
}

// appendString appends a string after its length in bytes.
func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}
