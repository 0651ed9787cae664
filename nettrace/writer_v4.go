package nettrace

import (
	"encoding/binary"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/gctrail/gctrail/trace"
)

// samplingRate is the expected CPU sampling rate, in nanoseconds, that every
// runtime claims.
const samplingRate = 1_000_000

// headV4 writes the magic, the stream header and the Trace object.
func (w *Writer) headV4() {
	le := binary.LittleEndian
	b := []byte(nettraceMagic)
	b = le.AppendUint32(b, uint32(len(streamMagic)))
	b = append(b, streamMagic...)

	b = appendType(b, blockTrace)
	start, ticks := w.opt.sync()
	b = appendSystemTime(b, start)
	b = le.AppendUint64(b, uint64(ticks))
	b = le.AppendUint64(b, uint64(w.opt.Frequency))
	b = le.AppendUint32(b, uint32(w.opt.PointerSize))
	b = le.AppendUint32(b, uint32(w.opt.PID))
	b = le.AppendUint32(b, uint32(w.opt.CPUs))
	b = le.AppendUint32(b, samplingRate)
	w.emit(append(b, tagEnd))
}

// appendSystemTime appends a Windows SYSTEMTIME, in UTC.
func appendSystemTime(dst []byte, t time.Time) []byte {
	for _, v := range [8]int{
		t.Year(), int(t.Month()), int(t.Weekday()), t.Day(),
		t.Hour(), t.Minute(), t.Second(), t.Nanosecond() / int(time.Millisecond),
	} {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v))
	}
	return dst
}

// appendType appends the tags and the type that begin an object.
func appendType(dst []byte, kind blockKind) []byte {
	name, version := objectNames[kind], uint32(2)
	if kind == blockTrace {
		version = 4
	}
	dst = append(dst, tagBeginPrivate, tagBeginPrivate, tagNull)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(name)))
	dst = append(dst, name...)
	return append(dst, tagEnd)
}

var objectNames = map[blockKind]string{
	blockTrace:         "Trace",
	blockEvents:        "EventBlock",
	blockMetadata:      "MetadataBlock",
	blockStacks:        "StackBlock",
	blockSequencePoint: "SPBlock",
}

// appendFrameV4 appends what precedes the contents of a block at offset off of
// the trace. The contents begin at a multiple of 4 bytes.
func appendFrameV4(dst []byte, kind blockKind, size int, off int64) []byte {
	start := len(dst)
	dst = appendType(dst, kind)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	for (off+int64(len(dst)-start))&3 != 0 {
		dst = append(dst, 0)
	}
	return dst
}

// appendSequencePointV4 appends the contents of an SPBlock.
func (tt *writerThreads) appendSequencePointV4(dst []byte, ticks int64) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, uint64(ticks))
	at := len(dst)
	dst = le.AppendUint32(dst, 0)
	n := uint32(0)
	for _, t := range tt.order {
		if t.captures {
			dst = le.AppendUint64(dst, t.id)
			dst = le.AppendUint32(dst, t.seq)
			n++
		}
	}
	le.PutUint32(dst[at:], n)
	return dst
}

// metadataV4 writes down d as an event of the metadata block. Its header is
// that of the first event of its kind, without what belongs to a capture. A
// record whose fields V4 cannot describe, or that they would make too long, goes
// without them.
func (w *Writer) metadataV4(id uint32, d *trace.Descriptor, first *header) error {
	record := metadataRecordV4(id, d, d.Fields)
	if len(record) > MaxPayload {
		record = metadataRecordV4(id, d, nil)
	}
	if len(record) > MaxPayload {
		return trace.ErrTooLarge
	}
	if !w.metadataBlock.fits(maxHeader + len(record)) {
		w.flushMetadata()
	}
	w.addEvent(&w.metadataBlock, &header{
		cpu:     trace.UnknownCPU,
		thread:  first.thread,
		ticks:   first.ticks,
		payload: len(record),
		sorted:  true,
	}, record)
	return nil
}

func metadataRecordV4(id uint32, d *trace.Descriptor, fields []trace.Field) []byte {
	le := binary.LittleEndian
	dst := le.AppendUint32(nil, id)
	dst = appendUTF16(dst, d.Provider)
	dst = le.AppendUint32(dst, d.ID)
	dst = appendUTF16(dst, d.Name)
	dst = le.AppendUint64(dst, d.Keywords)
	dst = le.AppendUint32(dst, d.Version)
	dst = le.AppendUint32(dst, uint32(d.Level))

	fit, arrays := fieldsFitV4(fields)
	if fit && !arrays {
		dst = appendFieldsV1(dst, fields)
	} else {
		dst = le.AppendUint32(dst, 0)
	}
	if d.Opcode != 0 {
		dst = le.AppendUint32(dst, 1)
		dst = append(dst, tagOpcode, d.Opcode)
	}
	if fit && arrays {
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0, tagV2Params)
		dst = appendFieldsV2(dst, fields)
		le.PutUint32(dst[at:], uint32(len(dst)-at-5))
	}
	return dst
}

// fieldsFitV4 reports whether V4 can describe the fields, and whether there are
// arrays among them, which take a V2 description.
func fieldsFitV4(fields []trace.Field) (fit, arrays bool) {
	for i := range fields {
		f := &fields[i]
		if f.Type == trace.Array {
			arrays = true
			if f.Elem == nil || f.Elem.Type == trace.Array {
				return false, arrays
			}
			f = f.Elem
		}
		if f.Type > trace.UTF16String {
			return false, arrays
		}
		if f.Type == trace.Object {
			fit, nested := fieldsFitV4(f.Fields)
			arrays = arrays || nested
			if !fit {
				return false, arrays
			}
		}
	}
	return true, arrays
}

// appendFieldsV1 appends a description in which the type precedes the name.
func appendFieldsV1(dst []byte, fields []trace.Field) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(fields)))
	for i := range fields {
		f := &fields[i]
		dst = binary.LittleEndian.AppendUint32(dst, uint32(f.Type))
		if f.Type == trace.Object {
			dst = appendFieldsV1(dst, f.Fields)
		}
		dst = appendUTF16(dst, f.Name)
	}
	return dst
}

// appendFieldsV2 appends a description in which the name precedes the type and
// each field has its size.
func appendFieldsV2(dst []byte, fields []trace.Field) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, uint32(len(fields)))
	for i := range fields {
		f := &fields[i]
		at := len(dst)
		dst = le.AppendUint32(dst, 0)
		dst = appendUTF16(dst, f.Name)
		dst = le.AppendUint32(dst, uint32(f.Type))
		if f.Type == trace.Array {
			f = f.Elem
			dst = le.AppendUint32(dst, uint32(f.Type))
		}
		if f.Type == trace.Object {
			dst = appendFieldsV2(dst, f.Fields)
		}
		le.PutUint32(dst[at:], uint32(len(dst)-at))
	}
	return dst
}

// appendUTF16 appends a string and its zero terminator. A string ends at its
// first zero.
func appendUTF16(dst []byte, s string) []byte {
	s, _, _ = strings.Cut(s, "\x00")
	for _, r := range s {
		r1, r2 := utf16.EncodeRune(r)
		if r1 == '\uFFFD' {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(r))
			continue
		}
		dst = binary.LittleEndian.AppendUint16(dst, uint16(r1))
		dst = binary.LittleEndian.AppendUint16(dst, uint16(r2))
	}
	return append(dst, 0, 0)
}
