package nettrace

import "errors"

const (
	// parcels is how many are filled, on their way or used at a time.
	parcels = 3
	// maxParcel bounds the blocks of a parcel: to hand over a parcel takes some
	// microseconds, and some blocks are small.
	maxParcel = 1024
)

// A parcel is a sequence of blocks in one buffer.
type parcel struct {
	buf    []byte
	large  []byte // of the last block, if buf has no room for it
	blocks []framed
}

// A framed is the result of one call of framer.read.
type framed struct {
	block
	err   error
	whole int64 // framer.whole after it
}

// last reports whether nothing follows, except for another object after damage.
func (f *framed) last() bool { return f.err != nil || f.kind == blockEnd || f.cut }

// An ahead runs a framer in a separate goroutine, so that a trace is read and
// decompressed while its events are decoded.
type ahead struct {
	full  chan *parcel
	free  chan *parcel
	stop  chan struct{}
	done  chan struct{}
	whole int64 // framer.whole of the last block emitted

	in     *framer
	filled *parcel // by the framer
	used   *parcel // next emits its blocks[at:]
	at     int
}

// newAhead starts the goroutine, which alone may use in until close.
func newAhead(in *framer) *ahead {
	a := &ahead{
		full:   make(chan *parcel, parcels),
		free:   make(chan *parcel, parcels),
		stop:   make(chan struct{}),
		done:   make(chan struct{}),
		whole:  in.whole,
		in:     in,
		filled: &parcel{buf: in.in.buf},
		used:   &parcel{},
	}
	for range parcels - 2 {
		a.free <- &parcel{}
	}
	in.in.turn = a.turn
	go a.run()
	return a
}

// run reads all blocks.
func (a *ahead) run() {
	defer close(a.done)
	defer close(a.full)
	for {
		var b framed
		b.err = a.in.read(&b.block)
		if errors.Is(b.err, errStopped) {
			return
		}
		b.whole = a.in.whole
		a.filled.blocks = append(a.filled.blocks, b)
		if b.last() && !a.in.damaged {
			a.full <- a.filled // has room for all that there are
			return
		}
		large := len(b.data) > a.in.in.size.most
		if (large || len(a.filled.blocks) == maxParcel) && a.in.in.renew(0) != nil {
			return
		}
	}
}

// turn passes on the parcel in the window's buffer, and continues the window in
// another buffer.
func (a *ahead) turn(rest []byte, n int) ([]byte, error) {
	p := a.filled
	if len(p.blocks) > 0 {
		p.large = a.in.buf
		a.full <- p
		select {
		case p = <-a.free:
		case <-a.stop:
			return nil, errStopped
		}
		a.filled, a.in.buf = p, p.large
	}
	if limit := a.in.in.size.most; len(p.buf) < limit {
		p.buf = make([]byte, limit)
	}
	copy(p.buf, rest)
	return p.buf, nil
}

// next is framer.read.
func (a *ahead) next(b *block) error {
	for a.at == len(a.used.blocks) {
		a.used.blocks = a.used.blocks[:0]
		a.free <- a.used
		a.used, a.at = <-a.full, 0
	}
	f := &a.used.blocks[a.at]
	a.at++
	*b, a.whole = f.block, f.whole
	return f.err
}

// close ends the goroutine.
func (a *ahead) close() {
	close(a.stop)
	<-a.done
}
