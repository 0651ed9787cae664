package nettrace

import "github.com/gctrail/gctrail/internal/binread"

// maxThreads bounds how many capture threads are followed.
const maxThreads = 1 << 17

// A sequence follows one capture thread, whose events the runtime numbers from 1,
// including events that it then has no room for.
type sequence struct {
	last  uint32
	ticks uint64 // of the last event or sequence point with a number
	point uint32 // the last sequence point with a number, at which gap was found
	gap   int32
	seen  int // damage.count when a run of the thread began last
}

// sequences finds lost events by gaps in the numbers of each capture thread.
type sequences struct {
	threads    map[uint64]*sequence
	points     uint32 // sequence points met
	ticks      uint64 // of the last one
	start      uint64 // of the trace
	full       bool   // threads beyond maxThreads are not followed
	numbered   bool   // some sequence point or removal had a number
	unnumbered bool   // threads were dropped whose last number is unknown
	damage     damage
	lost       func(n uint64, from, to uint64)
	// introduced reports whether the trace declared a thread before its events.
	introduced func(thread uint64) bool
}

// event begins a run of events of a thread. It returns the thread's state, which the
// caller updates with each event of the run; nil if the thread is not followed. It counts
// from number 1 if the trace declares the thread, because such a trace has all of the
// thread's numbers.
func (s *sequences) event(thread uint64, seq uint32, ticks uint64) *sequence {
	t := s.threads[thread]
	if t == nil {
		before := s.before(thread, seq-1)
		if before > 0 && s.damage.count > 0 { // it may have raised them since the trace began
			s.unread(0, s.start, ticks)
		}
		t = s.add(thread, before)
		if t == nil {
			return nil
		}
	}
	// A number that goes back means a new thread under an old id, not a loss.
	s.gap(t, int32(seq-t.last-1), ticks)
	t.seen = s.damage.count
	return t
}

// gap notes that n events of a thread are not in the trace, if n is positive. They
// are lost, unless something could not be read since the thread's last event:
// then they may be there.
func (s *sequences) gap(t *sequence, n int32, ticks uint64) {
	if n <= 0 {
		return
	}
	from := t.ticks
	if s.unnumbered || int64(ticks-from) < 0 {
		from = s.start
	}
	if t.seen != s.damage.count {
		s.unread(t.seen, from, ticks)
		return
	}
	s.lost(uint64(n), from, ticks)
}

// at notes the last event of the thread.
func (t *sequence) at(seq uint32, ticks uint64) {
	if t != nil {
		t.last, t.ticks = seq, ticks
	}
}

// add follows a new thread, whose number before now is assumed to be last. It returns nil
// if there are too many threads.
func (s *sequences) add(thread uint64, last uint32) *sequence {
	if len(s.threads) == maxThreads {
		s.full = true
		return nil
	}
	t := &sequence{last: last, ticks: s.ticks, seen: s.damage.count}
	s.threads[thread] = t
	return t
}

// before returns the number from which to follow a thread that has raised events but has
// none in the trace. Unless the thread was introduced, or there was a sequence point, the
// trace may have begun after them.
func (s *sequences) before(thread uint64, raised uint32) uint32 {
	if s.points > 0 || s.introduced(thread) {
		return 0
	}
	return raised
}

// sequencePoint compares the thread list of a sequence point with the events so far. A
// thread id that the system used twice is listed twice; the nearer number counts.
func (s *sequences) sequencePoint(ticks uint64, list func(yield func(thread uint64, seq uint32))) {
	points := s.points + 1
	list(func(thread uint64, seq uint32) {
		s.numbered = true
		t := s.threads[thread]
		if t == nil {
			t = s.add(thread, s.before(thread, seq))
			if t == nil {
				return
			}
		}
		gap := int32(seq - t.last)
		if t.point != points || nearer(gap, t.gap) {
			t.point, t.gap = points, gap
		}
	})
	list(func(thread uint64, seq uint32) {
		t := s.threads[thread]
		if t == nil {
			return
		}
		s.gap(t, t.gap, ticks)
		t.last += uint32(t.gap)
		t.ticks, t.gap, t.seen = ticks, 0, s.damage.count
	})
	s.points, s.ticks = points, ticks
}

// drop forgets all threads, as a sequence point of V6 may require. one-collect requires
// it before each block without a number, and adds the loss of the whole trace to the
// number in the last sequence point.
func (s *sequences) drop() {
	for _, t := range s.threads {
		s.unnumbered = s.unnumbered || t.point != s.points
	}
	clear(s.threads)
}

// remove ends a thread whose last number was seq (V6).
func (s *sequences) remove(thread uint64, seq uint32, ticks uint64) {
	s.numbered = true
	t := s.threads[thread]
	if t == nil {
		t = &sequence{last: s.before(thread, seq), ticks: s.ticks, seen: s.damage.count}
	}
	s.gap(t, int32(seq-t.last), ticks)
	delete(s.threads, thread)
}

// nearer reports whether gap a explains a thread better than b. No gap is best, then the
// smaller loss, then any negative gap.
func nearer(a, b int32) bool {
	if a < 0 || b < 0 {
		return b < 0 && a > b
	}
	return a < b
}

// threadList yields the threads of a sequence point block, V4 or V6.
func threadList(c binread.Cursor, n uint32, v6 bool) func(yield func(thread uint64, seq uint32)) {
	return func(yield func(uint64, uint32)) {
		c := c
		for range n {
			var thread uint64
			var seq uint32
			if v6 {
				thread, seq = c.Uvarint64(), c.Uvarint32()
			} else {
				thread, seq = c.U64(), c.U32()
			}
			if !c.OK() {
				return
			}
			yield(thread, seq)
		}
	}
}
