package eventpipe

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/gctrail/gctrail/trace"
)

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
		if flags == 0 && ticks <= latest(data) {
			if n, end, later := alike(data, off, size); n > 0 {
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

// latest returns the latest time from which the times of a sequence of alike events cannot pass
// the largest number. The events of a block that is later are read one by one.
func latest(data []byte) uint64 { return math.MaxUint64 - uint64(len(data))<<14 }

// Records beyond someRecords get room for the rest of a block at once, as they are likely to
// need it: for one record each recordBytes of it. By doubling, a block that is full of
// wanted events would make twice the garbage.
const (
	someRecords = 64
	recordBytes = 24
)

// AppendWanted appends the next events to records, the last of which is the event before them,
// as long as they are wanted and their headers are as CountPlain needs them. Wanted has 1 +
// Record.Desc by metadata id, 0 for other kinds; times count from start. It counts the events
// as CountPlain does, and ends before records are longer than most.
func (r *BlockReader) AppendWanted(records []trace.Record, most int, start uint64, wanted []uint32, counts []uint64, met []uint32) ([]trace.Record, []uint32) {
	const own = flagMetadata | flagStack | flagPayload
	h, data := &r.Header, r.data
	off, id, seq, ticks := r.off, h.MetadataID, h.Seq, h.Ticks
	last := records[len(records)-1]
	for len(data)-off >= MaxHeader && len(records) < most {
		flags := data[off]
		if flags == 0 && ticks <= latest(data) {
			before, from := len(records), last.Ticks
			if records, off = appendAlike(records, most, data, off); len(records) > before {
				n := len(records) - before
				counts[id] += uint64(n)
				last = records[len(records)-1]
				seq, ticks = seq+uint32(n), ticks+uint64(last.Ticks-from)
				continue
			}
		}
		if flags&^own != 0 {
			break
		}
		i, kindID, stackID, n := off+1, id, last.Stack, last.Len
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
				n, i = uint32(v), i+1
			} else {
				n, i = r.uvarint32(i)
			}
		}
		if r.overlong || uint64(len(data)-i) < uint64(n) || ticks+delta < ticks || uint64(kindID) >= uint64(len(wanted)) || wanted[kindID] == 0 {
			break
		}
		if counts[kindID] == 0 {
			met = append(met, kindID)
		}
		counts[kindID]++
		id, off = kindID, i+int(n)
		ticks += delta
		seq++
		last = trace.Record{Ticks: int64(ticks - start), Off: uint32(i), Len: n, Desc: wanted[kindID] - 1, Stack: stackID, Context: last.Context}
		if len(records) == cap(records) {
			records = grown(records, len(data)-off)
		}
		records = append(records, last)
	}
	r.off, h.MetadataID, h.Seq, h.Stack, h.Ticks, h.Payload = off, id, seq, last.Stack, ticks, int(last.Len)
	return records, met
}

// appendAlike is alike for wanted events: it appends the ones that differ from the last of
// records only in their time, and returns where they end. It sets the fields of a record one
// by one, because to copy a record whose fields were just set takes thrice the time.
func appendAlike(records []trace.Record, most int, data []byte, off int) ([]trace.Record, int) {
	last := records[len(records)-1]
	size, ticks := int(last.Len), last.Ticks
	for end := len(data) - 4 - size; off <= end && len(records) < most; {
		h := binary.LittleEndian.Uint32(data[off:])
		switch {
		case h&0x80ff == 0:
			ticks += int64(h>>8) & 0x7f
			off += 2
		case h&0x8080ff == 0x8000:
			ticks += int64(h>>8&0x7f | h>>9&0x3f80)
			off += 3
		default:
			return records, off
		}
		n := len(records)
		if n == cap(records) {
			records = grown(records, len(data)-off)
		}
		records = records[:n+1]
		r := &records[n]
		r.Ticks, r.Off, r.Len, r.Desc, r.Stack, r.Context = ticks, uint32(off), last.Len, last.Desc, last.Stack, last.Context
		off += size
	}
	return records, off
}

// grown returns records with room for one more, of a block with so many bytes left.
func grown(records []trace.Record, left int) []trace.Record {
	if n := len(records); n >= someRecords {
		return slices.Grow(records, 1+left/recordBytes)
	}
	return slices.Grow(records, 1)
}
