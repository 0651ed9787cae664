package nettrace

import "github.com/gctrail/gctrail/internal/binread"

// maxThreads bounds how many capture threads are followed.
const maxThreads = 1 << 18

// A sequence follows one capture thread: the runtime numbers the events of
// each from 1, also those that it then has no room for.
type sequence struct {
	last  uint32
	ticks uint64 // of the last event, or sequence point, that told last
	point uint32 // the last sequence point that told a number, at which gap was found
	gap   int32
}

// sequences finds lost events by gaps in the numbers of each capture thread.
type sequences struct {
	threads map[uint64]*sequence
	points  uint32 // sequence points met
	ticks   uint64 // of the last one
	start   uint64 // of the trace
	full    bool   // threads beyond maxThreads are not followed
	told    bool   // some sequence point or removal told a number
	untold  bool   // threads were dropped whose last number was not told
	lost    func(n uint64, from, to uint64)
}

// event notes that a run of events of a thread begins with number seq. It
// returns the thread's state, which the caller tells each event of the run; nil
// where the thread is not followed.
func (s *sequences) event(thread uint64, seq uint32, ticks uint64) *sequence {
	t := s.threads[thread]
	if t == nil {
		return s.add(thread, seq, ticks)
	}
	// A number that goes back is a new thread under an old id, not a loss.
	if gap := int32(seq - t.last - 1); gap > 0 {
		s.lost(uint64(gap), t.ticks, ticks)
	}
	return t
}

// at notes the last event of the thread.
func (t *sequence) at(h *header) {
	if t != nil {
		t.last, t.ticks = h.seq, h.ticks
	}
}

// add follows a thread that was not met before. Its first number tells of a
// loss only after a sequence point: before, the trace may have begun inside.
func (s *sequences) add(thread uint64, seq uint32, ticks uint64) *sequence {
	if len(s.threads) == maxThreads {
		s.full = true
		return nil
	}
	t := &sequence{last: seq, ticks: ticks}
	s.threads[thread] = t
	if s.points > 0 && seq > 1 {
		s.lost(uint64(seq-1), s.ticks, ticks)
	}
	return t
}

// sequencePoint compares the thread list of a sequence point with what was
// seen. A thread id that the system used twice is listed twice: the nearer
// number counts.
func (s *sequences) sequencePoint(ticks uint64, list func(yield func(thread uint64, seq uint32))) {
	s.points++
	list(func(thread uint64, seq uint32) {
		s.told = true
		t := s.threads[thread]
		if t == nil {
			if len(s.threads) == maxThreads {
				s.full = true
				return
			}
			t = s.unseen(seq)
			s.threads[thread] = t
		}
		gap := int32(seq - t.last)
		if t.point != s.points || nearer(gap, t.gap) {
			t.point, t.gap = s.points, gap
		}
	})
	list(func(thread uint64, seq uint32) {
		t := s.threads[thread]
		if t == nil {
			return
		}
		if t.gap > 0 {
			s.lost(uint64(t.gap), pick(s.untold, s.start, t.ticks), ticks)
		}
		t.last += uint32(t.gap)
		t.ticks, t.gap = ticks, 0
	})
	s.ticks = ticks
}

// unseen is a thread that a sequence point lists with number seq, and of which
// there was no event. All of them are lost, but at the first sequence point the
// trace may have begun after them.
func (s *sequences) unseen(seq uint32) *sequence {
	if s.points == 1 {
		return &sequence{last: seq}
	}
	return &sequence{ticks: s.ticks}
}

// drop forgets all threads, as a sequence point of V6 may demand. one-collect has
// it do so before each block without telling a number, and adds what was lost in
// the whole trace to the number that the last sequence point tells.
func (s *sequences) drop() {
	for _, t := range s.threads {
		s.untold = s.untold || t.point != s.points
	}
	clear(s.threads)
}

// remove ends a thread whose last number was seq (V6).
func (s *sequences) remove(thread uint64, seq uint32, ticks uint64) {
	s.told = true
	t := s.threads[thread]
	if t == nil {
		return
	}
	if gap := int32(seq - t.last); gap > 0 {
		s.lost(uint64(gap), t.ticks, ticks)
	}
	delete(s.threads, thread)
}

// nearer says whether gap a explains a thread better than b: none at all, else
// the smaller loss, else whatever is no loss.
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
