package etl

import (
	"io"
)

const (
	// window is how much of a buffer is kept uncompressed at a time. It is that large
	// because it must hold any event, whose size has 16 bits, and the history that a
	// match can refer to.
	window = 128 << 10
	// chunk is how much of compressed input is read at a time.
	chunk = 64 << 10
)

// An item is a wanted event that waits for its turn.
type item struct {
	ticks int64
	off   uint32 // of the event in the batch's data
	kind  uint16
	late  bool // its time is damaged
}

// A batch is a stretch of a buffer, and the wanted events in it.
type batch struct {
	entry entry
	file  *file
	data  []byte // uncompressed; before start it is history for matches
	start int    // where events begin
	plain int64  // bytes of the buffer up to the end of data
	rest  int    // bytes of the buffer after data
	in    int64  // where input continues in the file
	left  int64  // bytes of input
	x     xpress
	err   error // why the rest could not be had
	ready chan struct{}

	follower *batch // the stretch after this one, if it is being loaded

	items []item // in time order
	next  int    // item to be merged
	tail  int    // where events ended in data
	seen  int64  // ticks of the latest event of the buffer up to there
	times judge
	held  int // items not emitted
	owed  int // the batch's cost when it was queued
}

// begin makes the batch the first stretch of a buffer. Second is its number of
// ticks.
func (b *batch) begin(f *file, e *entry, second int64) {
	b.entry, b.file = *e, f
	b.data, b.start = b.data[:0], 0
	b.plain, b.rest = bufferHeaderSize, int(e.used-bufferHeaderSize)
	b.in, b.left = e.off+bufferHeaderSize, int64(e.size)-bufferHeaderSize
	b.x, b.err = xpress{}, nil
	b.items, b.next = b.items[:0], 0
	b.seen, b.times = e.ticks, judge{from: e.from, to: e.to, slack: f.slack(second), last: e.from}
}

// follow makes the batch the stretch after p, which begins with the bytes behind p's last
// event.
func (b *batch) follow(p *batch) {
	*b = batch{
		entry: p.entry, file: p.file, plain: p.plain, rest: p.rest, in: p.in, left: p.left, x: p.x, seen: p.seen, times: p.times,
		data: b.data, ready: b.ready, items: b.items[:0],
	}
	keep := p.tail
	if b.compressed() {
		keep = max(0, min(p.tail, len(p.data)-xpressWindow))
		keep &^= 7 // events are aligned
	}
	b.data = append(b.data[:0], p.data[keep:]...)
	b.start = p.tail - keep
}

func (b *batch) compressed() bool { return b.entry.flags&flagCompressed != 0 }

// load reads the stretch. It may run concurrently with the reader. scratch, of chunk
// bytes, takes compressed data.
func (b *batch) load(scratch []byte) {
	kept := len(b.data)
	n := min(b.rest, window-kept)
	if cap(b.data) < kept+n {
		b.data = append(make([]byte, 0, kept+n), b.data...)
	}
	b.data = b.data[:kept+n]
	var got int
	if b.compressed() {
		got, b.err = b.inflate(kept, scratch)
	} else {
		got, b.err = b.read(b.data[kept:])
		got += kept
	}
	b.data = b.data[:got]
	b.plain += int64(got - kept)
	b.rest -= got - kept
	if got < kept+n {
		b.rest = 0
		if b.err == nil {
			b.err = io.ErrUnexpectedEOF
		}
	}
}

// read reads input into p, as far as there is some.
func (b *batch) read(p []byte) (int, error) {
	p = p[:min(int64(len(p)), b.left)]
	n, err := b.file.r.ReadAt(p, b.in)
	b.in += int64(n)
	b.left -= int64(n)
	if n == len(p) {
		err = nil
	}
	return n, err
}

// inflate decompresses into data from out on, and returns where it ends.
func (b *batch) inflate(out int, scratch []byte) (int, error) {
	for out < len(b.data) && (b.left > 0 || b.x.n > 0) {
		in, left := b.in, b.left
		n, err := b.read(scratch[:chunk])
		if err != nil {
			return out, err
		}
		var used int
		out, used, err = b.x.decode(b.data, out, scratch[:n], b.left == 0)
		b.in, b.left = in+int64(used), left-int64(used)
		switch {
		case err != nil:
			return out, err
		case int64(n) == left && out < len(b.data): // that was all
			return out, io.ErrUnexpectedEOF
		}
	}
	return out, nil
}

// cost returns the memory of the batch and of the stretch after it.
func (b *batch) cost() int {
	n := cap(b.data) + cap(b.items)*16
	if b.follower != nil {
		n += window
	}
	return n
}
