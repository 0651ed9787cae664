package eventpipe

import "encoding/binary"

// CountPlain counts the next events by metadata id, as long as plain has their id and
// their headers have only a time, kind, stack and size of the payload, as most have. It
// ends before any other event. It returns met with the ids appended whose count was 0;
// counts must be as long as plain.
func (r *BlockReader) CountPlain(plain []bool, counts []uint64, met []uint32) []uint32 {
	const own = flagMetadata | flagStack | flagPayload
	h, data := &r.Header, r.data
	off, id, seq, stack, ticks, size := r.off, h.MetadataID, h.Seq, h.Stack, h.Ticks, h.Payload
	for len(data)-off >= MaxHeader {
		flags := data[off]
		if flags == 0 {
			n, end, later := alike(data, off, size)
			if n > 0 && ticks+later >= ticks {
				counts[id] += n
				seq, off, ticks = seq+uint32(n), end, ticks+later
				continue
			}
		}
		if flags&^own != 0 {
			break
		}
		i, kindID, stackID, n := off+1, id, stack, size
		if flags&flagMetadata != 0 {
			if v := data[i]; v < 0x80 {
				kindID, i = uint32(v), i+1
			} else {
				kindID, i = r.uvarint32(i)
			}
		}
		if flags&flagStack != 0 {
			stackID, i = r.uvarint32(i)
		}
		var delta uint64
		if v := data[i]; v < 0x80 {
			delta, i = uint64(v), i+1
		} else if next := data[i+1]; next < 0x80 {
			delta, i = uint64(v&0x7f)|uint64(next)<<7, i+2
		} else {
			delta, i = r.uvarint64(i)
		}
		if flags&flagPayload != 0 {
			if v := data[i]; v < 0x80 {
				n, i = int(v), i+1
			} else {
				var v uint32
				v, i = r.uvarint32(i)
				n = int(v)
			}
		}
		if r.overlong || len(data)-i < n || ticks+delta < ticks || uint64(kindID) >= uint64(len(plain)) || !plain[kindID] {
			break
		}
		if counts[kindID] == 0 {
			met = append(met, kindID)
		}
		counts[kindID]++
		id, stack, size, off = kindID, stackID, n, i+n
		ticks += delta
		seq++
	}
	r.off, h.MetadataID, h.Seq, h.Stack, h.Ticks, h.Payload = off, id, seq, stack, ticks, size
	return met
}

// alike skips events at off that differ from the one before only in their time, by less
// than 16,384 ticks. It returns their number, their end, and the sum of the differences.
func alike(data []byte, off, size int) (n uint64, end int, later uint64) {
	for last := len(data) - 4 - size; off <= last; n++ {
		h := binary.LittleEndian.Uint32(data[off:])
		switch {
		case h&0x80ff == 0:
			later += uint64(h>>8) & 0x7f
			off += 2 + size
		case h&0x8080ff == 0x8000:
			later += uint64(h>>8&0x7f | h>>9&0x3f80)
			off += 3 + size
		default:
			return n, off, later
		}
	}
	return n, off, later
}
