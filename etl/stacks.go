package etl

// A held event waits, because its stack may follow as an event of its own.
type held struct {
	batch *batch
	item  item
	stack []byte // shares the memory of a later event's batch
	last  bool   // of its batch
}

const (
	// maxHeld bounds the events that wait. It is a power of two.
	maxHeld = 1 << 12
	// stackDelay is how long after an event its stack can come, in parts of a
	// second.
	stackDelay = 50
	// maxThreads bounds the threads for which events are held.
	maxThreads = 1 << 16
)

// stacks joins each ClrStackWalk with the event before it of its thread. These belong
// together, because the runtime raises one right after the other.
//
// It ignores the kernel's StackWalk events, because they belong to events of the kernel.
type stacks struct {
	ring       []held
	head, tail uint64            // of ring, without the remainder
	threads    map[uint64]uint64 // process and thread to place in ring plus one
}

func (s *stacks) at(i uint64) *held { return &s.ring[i%maxHeld] }

func (s *stacks) full() bool { return s.tail-s.head == maxHeld }

func (s *stacks) empty() bool { return s.tail == s.head }

// push lets an event wait.
func (s *stacks) push(h held, k *kind) {
	if s.ring == nil {
		s.ring = make([]held, maxHeld)
		s.threads = make(map[uint64]uint64)
	}
	*s.at(s.tail) = h
	s.tail++
	if k.role < roleRuntime {
		return
	}
	e := h.batch.event(h.item.off)
	thread := le.Uint64(e[0x08:]) // and process
	if k.role == roleRuntime {
		if len(s.threads) == maxThreads {
			clear(s.threads)
		}
		s.threads[thread] = s.tail
		return
	}
	place := s.threads[thread]
	if place > s.head {
		s.at(place - 1).stack = walked(e)
	}
	delete(s.threads, thread)
}

// walked returns the addresses in a ClrStackWalk: 8 bytes, the last four of
// them a count, and then so many addresses.
func walked(e []byte) []byte {
	f := formatOf(e)
	p := f.payload(e, &extended{})
	if len(p) < 8 {
		return nil
	}
	p, n := p[8:], uint64(le.Uint32(p[4:]))*uint64(f.pointer)
	return p[:min(n, uint64(len(p)))]
}

// pop takes the oldest event.
func (s *stacks) pop() held {
	h := s.at(s.head)
	s.head++
	v := *h
	*h = held{}
	return v
}
