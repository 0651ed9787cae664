package collect

import (
	"errors"
	"os"
	"sync"
	"time"
)

const (
	// inboxQuiet is how long nothing comes before what has come is read: the runtime has
	// then sent all that it had, and its sending thread sleeps.
	inboxQuiet = 5 * time.Millisecond
	// inboxMost is how much is held before it is read although more comes. As much again is
	// received meanwhile.
	inboxMost = 48 << 20
	inboxPart = 256 << 10
)

// An inbox receives a trace as fast as the runtime sends it, and has it read when nothing
// comes. Decoding takes a processor, which the runtime's sending thread may need, and what
// is not sent stays in the memory of the process.
type inbox struct {
	from  traceInput
	ready chan struct{} // has a value when held may be read
	room  chan struct{} // has a value when held was taken
	sent  chan struct{} // receives when the runtime has sent all that it had
	done  chan struct{} // closed when nobody reads any more

	mu       sync.Mutex
	held     []byte
	received int64
	last     time.Time // when something came
	quiet    bool      // nothing has come for a while
	failed   error     // after held, nothing comes

	taken, rest []byte // the former held, and what of it was not read
	deadline    time.Time
}

// newInbox begins to receive, which ends when from fails.
func newInbox(from traceInput) *inbox {
	b := &inbox{
		from: from, ready: make(chan struct{}, 1), room: make(chan struct{}, 1), sent: make(chan struct{}), done: make(chan struct{}),
		last: time.Now(),
		// Growing them would take time while the runtime sends, and unused memory costs
		// nothing.
		held: make([]byte, 0, inboxMost+inboxPart), taken: make([]byte, 0, inboxMost+inboxPart),
	}
	go b.receive()
	return b
}

func (b *inbox) receive() {
	part := make([]byte, inboxPart)
	for {
		n, err := b.from.Read(part)
		quiet := n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
		full := b.add(part[:n], quiet, err)
		switch {
		case err != nil:
			return
		case quiet:
			_ = b.from.SetReadDeadline(time.Time{}) // a closed session fails the next Read
			select {
			case b.sent <- struct{}{}:
			default:
			}
			continue
		case full:
			select {
			case <-b.room:
			case <-b.done:
			}
		}
		_ = b.from.SetReadDeadline(time.Now().Add(inboxQuiet))
	}
}

// add adds received bytes, and reports whether no more may be held.
func (b *inbox) add(part []byte, quiet bool, err error) (full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.done:
		b.held = b.held[:0]
	default:
	}
	if b.held = append(b.held, part...); len(part) > 0 {
		b.received += int64(len(part))
		b.last = time.Now()
	}
	b.quiet, b.failed = quiet, err
	if b.readable() {
		wake(b.ready)
	}
	return len(b.held) >= inboxMost
}

// readable reports whether what is held may be read.
func (b *inbox) readable() bool { return b.quiet || b.failed != nil || len(b.held) >= inboxMost }

// wake gives a channel a value, unless it has one.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Read reads received bytes. It waits for them until the deadline.
func (b *inbox) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if taken, err := b.take(); err != nil {
			return 0, err
		} else if taken {
			break
		}
		var late <-chan time.Time
		if !b.deadline.IsZero() {
			late = time.After(time.Until(b.deadline))
		}
		select {
		case <-b.ready:
		case <-late:
			return 0, os.ErrDeadlineExceeded
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// take takes what may be read, if there is something.
func (b *inbox) take() (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(b.held) == 0:
		return false, b.failed
	case !b.readable():
		return false, nil
	}
	b.held, b.taken = b.taken[:0], b.held
	b.rest = b.taken
	wake(b.room)
	return true, nil
}

// SetReadDeadline limits how long a Read waits.
func (b *inbox) SetReadDeadline(t time.Time) error {
	b.deadline = t
	return nil
}

// count returns how many bytes were received.
func (b *inbox) count() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.received
}

// silence returns how long nothing has come. It is false while something comes.
func (b *inbox) silence() (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Since(b.last), b.quiet || b.received == 0
}

// close drops what was not read, and what may still come.
func (b *inbox) close() { close(b.done) }
