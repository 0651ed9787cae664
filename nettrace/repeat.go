package nettrace

import "hash/maphash"

// repeats finds event blocks that are in a trace twice. An equal block is a copy, because
// each event has its time and its number.
type repeats struct {
	seed      maphash.Seed
	old, seen map[uint64]struct{}
}

const (
	// maxBlocksSeen bounds how many blocks are remembered, twice.
	maxBlocksSeen = 1 << 14
	// blockEnds is how much of a block's beginning and end identifies it.
	blockEnds = 128
)

// again reports whether a block was met before.
func (s *repeats) again(data []byte) bool {
	if s.seen == nil {
		s.seed, s.seen = maphash.MakeSeed(), make(map[uint64]struct{})
	}
	sum := s.sum(data)
	if _, ok := s.old[sum]; ok {
		return true
	}
	if _, ok := s.seen[sum]; ok {
		return true
	}
	if len(s.seen) == maxBlocksSeen {
		s.old, s.seen = s.seen, make(map[uint64]struct{})
	}
	s.seen[sum] = struct{}{}
	return false
}

func (s *repeats) sum(data []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	maphash.WriteComparable(&h, len(data))
	h.Write(data[:min(len(data), blockEnds)])
	h.Write(data[max(0, len(data)-blockEnds):])
	return h.Sum64()
}
