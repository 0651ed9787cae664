package open

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/s2"
)

const (
	// memoryBlock is how many bytes of a scratch are compressed together. A block is unpacked
	// whole for each read that is not of a recent one.
	memoryBlock = 128 << 10
	// recentBlocks are kept unpacked, because the buffers of an ETW trace are read in turns, one
	// of each processor.
	recentBlocks = 16
)

// Memory returns an Options.Scratch where no files can be made: it keeps the bytes compressed
// in memory, of which all that it makes may take limit bytes together. One goroutine may write,
// and then any may read.
func Memory(limit int64) func() (Scratch, error) {
	m := &memory{limit: limit, left: limit}
	return func() (Scratch, error) { return &memoryScratch{of: m}, nil }
}

// A memory is shared by all scratches, because the limit is for all of them together.
type memory struct{ limit, left int64 }

type memoryScratch struct {
	of     *memory
	blocks [][]byte // compressed
	size   int64    // of all blocks, unpacked
	last   []byte   // a block that is not full yet

	mu     sync.Mutex // because an ETW trace is read by several goroutines
	recent []recentBlock
}

type recentBlock struct {
	number int
	data   []byte
}

func (s *memoryScratch) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		if s.last == nil {
			s.last = make([]byte, 0, memoryBlock)
		}
		n := copy(s.last[len(s.last):memoryBlock], p)
		s.last = s.last[:len(s.last)+n]
		p, written = p[n:], written+n
		s.size += int64(n)
		if len(s.last) < memoryBlock {
			break
		}
		packed := slices.Clip(s2.Encode(nil, s.last))
		if int64(len(packed)) > s.of.left {
			return written, fmt.Errorf("it takes more than %d MiB of memory, unpacked and compressed again", s.of.limit>>20)
		}
		s.of.left -= int64(len(packed))
		s.blocks, s.last = append(s.blocks, packed), s.last[:0]
	}
	return written, nil
}

// ReadAt reads bytes that were written.
func (s *memoryScratch) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(p) {
		at := off + int64(n)
		if off < 0 || at >= s.size {
			return n, io.EOF
		}
		block, err := s.block(int(at / memoryBlock))
		if err != nil {
			return n, err
		}
		n += copy(p[n:], block[at%memoryBlock:])
	}
	return n, nil
}

// block returns an unpacked block, which is valid until the next call. The caller holds mu.
func (s *memoryScratch) block(number int) ([]byte, error) {
	if number == len(s.blocks) {
		return s.last, nil
	}
	i := slices.IndexFunc(s.recent, func(r recentBlock) bool { return r.number == number })
	if i < 0 {
		var oldest recentBlock
		if i = min(len(s.recent), recentBlocks-1); i < len(s.recent) {
			oldest, s.recent = s.recent[i], s.recent[:i]
		}
		data, err := s2.Decode(oldest.data, s.blocks[number])
		if err != nil {
			return nil, err
		}
		s.recent = append(s.recent, recentBlock{number, data})
	}
	r := s.recent[i]
	copy(s.recent[1:], s.recent[:i]) // the latest is the first
	s.recent[0] = r
	return r.data, nil
}

// Close gives the memory back.
func (s *memoryScratch) Close() error {
	for _, b := range s.blocks {
		s.of.left += int64(len(b))
	}
	s.blocks, s.size, s.last, s.recent = nil, 0, nil, nil
	return nil
}
