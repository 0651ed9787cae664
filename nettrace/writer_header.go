package nettrace

import "encoding/binary"

// appendCompressed appends the header of an event that follows prev in its
// block, with the fields that differ (ep-block.c). A metadata event of V4, with
// id 0, does not count in the sequence.
func (h *header) appendCompressed(dst []byte, prev *header, v6 bool) []byte {
	at := len(dst)
	dst = append(dst, 0)
	var flags uint8
	if h.metadataID != prev.metadataID {
		flags |= flagMetadata
		dst = binary.AppendUvarint(dst, uint64(h.metadataID))
	}
	expected := prev.seq
	if v6 || h.metadataID != 0 {
		expected++
	}
	if h.seq != expected || h.capture != prev.capture || h.cpu != prev.cpu {
		flags |= flagSequence
		dst = binary.AppendUvarint(dst, uint64(h.seq-prev.seq-1))
		dst = binary.AppendUvarint(dst, h.capture)
		dst = binary.AppendUvarint(dst, uint64(h.cpu))
	}
	if h.thread != prev.thread {
		flags |= flagThread
		dst = binary.AppendUvarint(dst, h.thread)
	}
	if h.stack != prev.stack {
		flags |= flagStack
		dst = binary.AppendUvarint(dst, uint64(h.stack))
	}
	dst = binary.AppendUvarint(dst, h.ticks-prev.ticks)
	switch {
	case v6 && h.labels != prev.labels:
		flags |= flagActivity
		dst = binary.AppendUvarint(dst, uint64(h.labels))
	case !v6:
		if h.activity != prev.activity {
			flags |= flagActivity
			dst = append(dst, h.activity[:]...)
		}
		if h.related != prev.related {
			flags |= flagRelated
			dst = append(dst, h.related[:]...)
		}
	}
	if h.sorted {
		flags |= flagSorted
	}
	if h.payload != prev.payload {
		flags |= flagPayload
		dst = binary.AppendUvarint(dst, uint64(h.payload))
	}
	dst[at] = flags
	return dst
}

// appendUncompressedV4 appends the fixed header of V4. Its size counts the
// payload and the padding that follow, not itself.
func (h *header) appendUncompressedV4(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, uint32(headerSizeV4-4+(h.payload+3)&^3))
	dst = h.appendCommon(dst)
	dst = append(dst, h.activity[:]...)
	dst = append(dst, h.related[:]...)
	return le.AppendUint32(dst, uint32(h.payload))
}

// appendUncompressedV6 appends the fixed header of V6, whose size counts the
// payload but not itself.
func (h *header) appendUncompressedV6(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, uint32(headerSizeV6-4+h.payload))
	dst = h.appendCommon(dst)
	dst = le.AppendUint32(dst, h.labels)
	return le.AppendUint32(dst, uint32(h.payload))
}

// appendCommon appends what the fixed headers of V4 and V6 share.
func (h *header) appendCommon(dst []byte) []byte {
	le := binary.LittleEndian
	id := h.metadataID
	if !h.sorted {
		id |= unsorted
	}
	dst = le.AppendUint32(dst, id)
	dst = le.AppendUint32(dst, h.seq)
	dst = le.AppendUint64(dst, h.thread)
	dst = le.AppendUint64(dst, h.capture)
	dst = le.AppendUint32(dst, h.cpu)
	dst = le.AppendUint32(dst, h.stack)
	return le.AppendUint64(dst, h.ticks)
}
