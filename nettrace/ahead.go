package nettrace

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gctrail/gctrail/internal/eventpipe"
)

const (
	// parcels is how many are filled, on their way or used at a time, besides one for
	// each walker.
	parcels = 3
	// maxWalkers bounds the goroutines that walk blocks. More would only wait for the
	// goroutine that emits the events.
	maxWalkers = 3
	// maxParcel bounds the blocks of a parcel. It is large, because passing on a parcel
	// takes some microseconds, and some blocks are small.
	maxParcel = 1024
	// maxLarge bounds how many blocks that need a separate buffer are in memory.
	maxLarge = 2
	// maxSpare bounds the empty batches that a parcel carries for a walker to fill: of the
	// runtime's blocks, five are in one.
	maxSpare = 6
)

// A parcel is a sequence of blocks in one buffer.
type parcel struct {
	buf    []byte
	large  []byte // of the last block, if buf has no room for it
	blocks []framed

	taken     atomic.Bool   // by a walker, or by the reader, which then walks the blocks itself
	walked    chan struct{} // has a value when the walker is done
	summaries []summary     // of the blocks, if a walker took the parcel
	spare     batches       // for the walker
}

// A framed is the result of one call of framer.read.
type framed struct {
	eventpipe.Block
	err   error
	whole int64 // framer.whole after it
}

// last reports whether nothing follows, except for another object after damage.
func (f *framed) last() bool { return f.err != nil || f.Kind == eventpipe.BlockEnd || f.Cut }

// An ahead runs a framer in a separate goroutine and walkers in others, so that a
// trace is read, decompressed and walked while its events are emitted. Parcels are
// used in the order in which they were filled, whoever walks their blocks.
type ahead struct {
	full  chan *parcel
	free  chan *parcel
	large chan []byte  // buffers of large blocks that are not used
	work  chan *parcel // to be walked; nil without walkers
	stop  chan struct{}
	tasks sync.WaitGroup
	whole int64 // framer.whole of the last block emitted
	view  atomic.Pointer[view]

	in     *eventpipe.Framer
	filled *parcel // by the framer
	used   *parcel // next emits its blocks[at:]
	at     int
	walked bool // by a walker
	queue  *mergeQueue
}

func newParcel() *parcel { return &parcel{walked: make(chan struct{}, 1)} }

// newAhead starts the goroutines. Only the framer's goroutine may use in until close.
func newAhead(in *eventpipe.Framer, queue *mergeQueue, walkers int) *ahead {
	walkers = min(walkers, maxWalkers)
	parcels := parcels + walkers
	a := &ahead{
		full:   make(chan *parcel, parcels),
		free:   make(chan *parcel, parcels),
		large:  make(chan []byte, maxLarge),
		stop:   make(chan struct{}),
		whole:  in.Whole,
		in:     in,
		filled: newParcel(),
		used:   newParcel(),
		queue:  queue,
	}
	a.filled.buf = in.Buffer()
	for range parcels - 2 {
		a.free <- newParcel()
	}
	for range maxLarge - 1 {
		a.large <- nil
	}
	in.TurnWith(a.turn)
	if walkers > 0 {
		a.work = make(chan *parcel, parcels)
	}
	a.tasks.Go(a.run)
	for range walkers {
		a.tasks.Go(a.walk)
	}
	return a
}

// run reads all blocks.
func (a *ahead) run() {
	defer close(a.full)
	if a.work != nil {
		defer close(a.work)
	}
	for {
		var b framed
		b.err = a.in.Read(&b.Block)
		if errors.Is(b.err, errStopped) {
			return
		}
		b.whole = a.in.Whole
		a.filled.blocks = append(a.filled.blocks, b)
		if b.last() && !a.in.Damaged {
			a.send(a.filled)
			return
		}
		large := len(b.Data) > a.in.Room()
		if (large || len(a.filled.blocks) == maxParcel) && a.in.Turn() != nil {
			return
		}
	}
}

// send passes on a parcel. It never blocks, because there is room for all parcels in
// full; in work a parcel can be more than once.
func (a *ahead) send(p *parcel) {
	p.taken.Store(false)
	a.full <- p
	select {
	case a.work <- p:
	default: // the walkers have enough to do
	}
}

// walk walks the blocks of parcels ahead of the reader.
func (a *ahead) walk() {
	var w walker
	for p := range a.work {
		if p.taken.CompareAndSwap(false, true) {
			p.walk(&w, a.view.Load())
			p.walked <- struct{}{}
		}
	}
}

func (p *parcel) walk(w *walker, v *view) {
	if len(p.summaries) < len(p.blocks) {
		p.summaries = make([]summary, len(p.blocks))
	}
	for i := range p.blocks {
		s, b := &p.summaries[i], &p.blocks[i].Block
		if s.view = nil; v != nil && b.Kind == eventpipe.BlockEvents {
			w.walk(b, v, s, &p.spare)
		}
	}
}

// turn passes on the parcel in the window's buffer, and continues the window in
// another buffer.
func (a *ahead) turn(rest []byte, n int) ([]byte, error) {
	p := a.filled
	if blocks := p.blocks; len(blocks) > 0 {
		if len(blocks[len(blocks)-1].Data) > a.in.Room() {
			var next []byte
			if !receive(a, a.large, &next) {
				return nil, errStopped
			}
			p.large = a.in.ExchangeLarge(next)
		}
		a.send(p)
		if !receive(a, a.free, &p) {
			return nil, errStopped
		}
		a.filled = p
	}
	if size := a.in.MaxBuffer(); len(p.buf) < size {
		p.buf = make([]byte, size)
	}
	copy(p.buf, rest)
	return p.buf, nil
}

// receive reports whether something came before the end.
func receive[T any](a *ahead, from chan T, to *T) bool {
	select {
	case *to = <-from:
		return true
	case <-a.stop:
		return false
	}
}

// next is framer.read. The block may have a summary.
func (a *ahead) next(b *walkedBlock) error {
	for a.at == len(a.used.blocks) {
		a.release(a.used)
		a.used, a.at = <-a.full, 0
		if a.walked = !a.used.taken.CompareAndSwap(false, true); a.walked {
			<-a.used.walked
		}
	}
	f := &a.used.blocks[a.at]
	*b, a.whole = walkedBlock{Block: f.Block}, f.whole
	if a.walked {
		b.summary = &a.used.summaries[a.at]
	}
	a.at++
	return f.err
}

// release lets the framer fill a parcel again.
func (a *ahead) release(p *parcel) {
	if p.large != nil {
		a.large <- p.large
		p.large = nil
	}
	for len(a.queue.free) > 0 && len(p.spare) < maxSpare {
		p.spare.add(a.queue.free.take())
	}
	p.blocks = p.blocks[:0]
	a.free <- p
}

// close ends the goroutines.
func (a *ahead) close() {
	close(a.stop)
	a.tasks.Wait()
}
