package etl

import (
	"errors"
	"io"
	"math"
)

// Head returns the first buffer of the trace that the files make. One session has written
// them one after the other, each with a first buffer of its own; the trace's other
// buffers are the remaining ones of the files, in order. It ends as the last file does.
// It begins as the first does or, if trim is set, at the earliest event, because Windows
// may give each file the time when the session began. That event can be in a later file,
// because each processor has buffers of its own.
func Head(files []File, trim bool) ([]byte, error) {
	first, last := files[0], files[len(files)-1]
	h, err := readHeader(first.ReaderAt, first.Size)
	if err != nil {
		return nil, err
	}
	end, err := readHeader(last.ReaderAt, last.Size)
	if err != nil {
		return nil, err
	}
	buffers, begin := int64(1), int64(math.MaxInt64)
	for _, f := range files {
		n, err := HeadSize(f)
		if err != nil {
			return nil, err
		}
		buffers += (f.Size - n) / int64(max(h.bufferSize, 1))
		if trim {
			begin = min(begin, earliestIn(f, n))
		}
	}
	head := make([]byte, h.firstSize)
	if _, err := first.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	event := head[bufferHeaderSize:]
	p, rest := event[headerEventSize:], 0xf0
	if event[2] == system64 {
		rest = 0xf8
	}
	le.PutUint64(p[0x10:], uint64(end.end))
	le.PutUint32(p[0x24:], uint32(min(buffers, math.MaxUint32)))
	le.PutUint32(p[0x30:], end.eventsLost)
	le.PutUint32(p[rest+0x1c:], end.buffersLost)
	if frequency, err := h.ticksPerSecond(); err == nil && h.time < begin && begin < math.MaxInt64 {
		beginAt(event, begin)
		le.PutUint64(p[rest+0x10:], uint64(h.start+rescaled(begin-h.time, frequency, fileTimeTicks)))
	}
	return head, nil
}

// beginAt moves events before begin to that time.
func beginAt(b []byte, begin int64) {
	for len(b) >= 8 {
		f := formatOf(b)
		if f == nil || len(b) < int(f.size) {
			return
		}
		size := int(le.Uint16(b[f.sizeAt:]))
		if size < int(f.size) {
			return
		}
		if f.timeAt > 0 && int64(le.Uint64(b[f.timeAt:])) < begin {
			le.PutUint64(b[f.timeAt:], uint64(begin))
		}
		b = b[min(len(b), (size+7)&^7):]
	}
}

// HeadSize returns the size of the first buffer of a file, which describes it.
func HeadSize(f File) (int64, error) {
	h, err := readHeader(f.ReaderAt, f.Size)
	if err != nil {
		return 0, err
	}
	if int64(h.firstSize) > f.Size || h.firstSize < bufferHeaderSize+headerEventSize+logfileSize64 {
		return 0, io.ErrUnexpectedEOF
	}
	return int64(h.firstSize), nil
}

// earliestIn returns the time of the earliest event in the buffers of f from pos on,
// math.MaxInt64 if there is none.
func earliestIn(f File, pos int64) int64 {
	var b [peekSize]byte
	ticks := int64(math.MaxInt64)
	for pos < f.Size {
		n, _ := f.ReadAt(b[:min(f.Size-pos, peekSize)], pos)
		h, ok := parseBuffer(b[:n])
		if !ok {
			break
		}
		if t, known := h.firstTime(b[bufferHeaderSize:n]); known && h.holdsEvents() {
			ticks = min(ticks, t)
		}
		pos += int64(h.size)
	}
	return ticks
}
