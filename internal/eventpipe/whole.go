package eventpipe

import "encoding/binary"

// WholeV4 returns the length of the whole objects at the start of b, the part of a V4 trace
// that begins at off, an object boundary. The head of the trace counts as part of its first
// object. The result is negative if b is not part of a V4 trace.
func WholeV4(b []byte, off int64) int {
	whole := 0
	if off == 0 {
		head := AppendHeadV4(nil)
		head = head[:len(nettraceMagic)+4+len(streamMagic)]
		if n := min(len(b), len(head)); string(b[:n]) != string(head[:n]) {
			return -1
		}
		if len(b) < len(head) {
			return 0
		}
		whole = wholeObject(b, 0, len(head))
		if whole <= 0 {
			return whole
		}
	}
	for whole < len(b) {
		next := wholeObject(b, off, whole)
		if next <= 0 {
			if next < 0 {
				return next
			}
			break
		}
		whole = next
	}
	return whole
}

// wholeObject returns the end of the object that begins at index i of b: 0 if b ends before
// that, negative if there is no object. off is the position of b in the trace.
func wholeObject(b []byte, off int64, i int) int {
	const begin = 3 + 4 + 4 // tags and versions
	switch {
	case i == len(b):
		return 0
	case b[i] == tagNull:
		return i + 1
	case b[i] != tagBeginPrivate:
		return -1
	}
	at := i + begin
	if len(b) < at+4 {
		return 0
	}
	name := binary.LittleEndian.Uint32(b[at:])
	if name > maxTypeName {
		return -1
	}
	at += 4
	end := at + int(name) + 1 // of the type, with its tag
	if len(b) < end+4 {
		return 0
	}
	size := uint32(traceObjectSize)
	if string(b[at:end-1]) != objectNames[BlockTrace] {
		size = binary.LittleEndian.Uint32(b[end:])
		end += 4
		end += int(-(off + int64(end)) & 3)
	}
	if size > MaxBlock {
		return -1
	}
	if end += int(size) + 1; end > len(b) {
		return 0
	}
	return end
}
