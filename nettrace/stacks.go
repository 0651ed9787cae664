package nettrace

import (
	"slices"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/eventpipe"
)

// A stackTable holds the stacks since the last sequence point.
type stackTable struct {
	blocks []stackBlock
	data   []byte
	size   int // of the blocks added
	last   int // block that held the stack got last

	id     uint32 // of the stack got last, if recent is set
	stack  []byte
	recent bool
}

// A stackBlock holds the stacks of consecutive ids; ends are theirs in the
// table's data.
type stackBlock struct {
	first uint32
	start int
	ends  []int
}

// compare returns 1 if the block's stacks follow that of an id, -1 if they precede it,
// and 0 if it is one of them.
func (b *stackBlock) compare(id uint32) int {
	switch {
	case b.first > id:
		return 1
	case uint64(b.first)+uint64(len(b.ends)) <= uint64(id):
		return -1
	}
	return 0
}

// add reads a stack block: first id, count, then each stack's size and bytes.
func (t *stackTable) add(data []byte, base int64) error {
	t.recent = false
	c := binread.At(data, base)
	b := stackBlock{first: c.U32(), start: len(t.data)}
	n := c.U32()
	if !eventpipe.Fits(&c, n, 4) {
		return binread.Malformed("%d stacks in %d bytes", n, c.Len())
	}
	if t.size += len(data); t.size > eventpipe.MaxStackBytes {
		return binread.Malformed("more than %d MiB of stacks between sequence points", eventpipe.MaxStackBytes>>20)
	}
	if n := len(t.blocks); n > 0 && b.first < t.blocks[n-1].first+uint32(len(t.blocks[n-1].ends)) {
		return binread.Malformed("stack %d was defined before", b.first)
	}
	b.ends = make([]int, 0, n)
	for range n {
		ips := c.Bytes(int(int32(c.U32())))
		if !c.OK() {
			break
		}
		t.data = append(t.data, ips...)
		b.ends = append(b.ends, len(t.data))
	}
	t.blocks = append(t.blocks, b)
	return c.Err()
}

// get returns the addresses of a stack as bytes, nil if there are none. Events that follow
// one another often have the same stack, or none.
func (t *stackTable) get(id uint32) []byte {
	if !t.recent || t.id != id {
		t.id, t.stack, t.recent = id, t.find(id), true
	}
	return t.stack
}

func (t *stackTable) find(id uint32) []byte {
	// Events of one thread have stacks of one block for a while.
	if t.last >= len(t.blocks) || t.blocks[t.last].compare(id) != 0 {
		i, found := slices.BinarySearchFunc(t.blocks, id, func(b stackBlock, id uint32) int { return b.compare(id) })
		if !found {
			return nil
		}
		t.last = i
	}
	b := &t.blocks[t.last]
	n := int(id - b.first)
	start := b.start
	if n > 0 {
		start = b.ends[n-1]
	}
	return t.data[start:b.ends[n]]
}

// clear forgets all stacks, because their ids begin anew after a sequence point.
func (t *stackTable) clear() {
	t.blocks = t.blocks[:0]
	t.data = t.data[:0]
	t.size = 0
	t.recent = false
}
