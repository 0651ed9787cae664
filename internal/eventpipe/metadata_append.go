package eventpipe

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// AppendMetadataV4 appends the payload of a metadata event. Fields that V4 cannot
// describe are left out.
func AppendMetadataV4(dst []byte, id uint32, d *trace.Descriptor, fields []trace.Field) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, id)
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

// fieldsFitV4 reports whether V4 can describe the fields, and whether there are arrays
// among them, because these need a V2 description.
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
		dst = binread.AppendUTF16(dst, r)
	}
	return append(dst, 0, 0)
}

// AppendMetadataV6 appends a row of a metadata block with its size. Fields that V6
// cannot describe are left out. A row of more than 64 KiB is not valid.
func AppendMetadataV6(dst []byte, id uint32, d *trace.Descriptor, fields []trace.Field) []byte {
	if !fieldsFitV6(fields) {
		fields = nil
	}
	return appendSized(dst, func(dst []byte) []byte {
		dst = binary.AppendUvarint(dst, uint64(id))
		dst = AppendString(dst, d.Provider)
		dst = binary.AppendUvarint(dst, uint64(d.ID))
		dst = AppendString(dst, d.Name)
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

// appendSized appends the output of body, after its length.
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
			dst = AppendString(dst, fields[i].Name)
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

// AppendString appends a string after its length in bytes.
func AppendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}
