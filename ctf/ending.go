package ctf

import "math"

// An ending finds out whether a trace's streams end together. When a session of LTTng stops, it
// ends the current packet of each stream, even an empty one, so that no event comes after the end
// of any stream. If the session was killed, or a file is cut between two packets, a stream lacks
// packets of which nothing else remains.
type ending struct {
	first  int64 // end of a stream, 0 if none has ended
	latest int64 // event of the streams that have ended
	found  bool  // a stream lacks its last packets
}

// end notes the end of the stream.
func (s *stream) end() {
	if !s.begun || !s.member.programs {
		return
	}
	e := &s.member.ending
	if !s.gap && (e.first == 0 || s.last.end < e.first) {
		e.first = s.last.end
	}
	e.latest = max(e.latest, s.latest)
	s.m.checkEnding(e, e.latest)
}

// checkEndings looks for streams that ended before events of others, which were read meanwhile.
func (m *merger) checkEndings() {
	for i := range m.heap {
		s := m.heap[i].Of
		m.checkEnding(&s.member.ending, s.time)
	}
}

func (m *merger) checkEnding(e *ending, event int64) {
	if e.first > 0 && event > e.first && !e.found {
		e.found = true
		m.missingPart(e.first, math.MaxInt64)
	}
}
