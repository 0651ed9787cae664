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
}

// A stackBlock holds the stacks of consecutive ids; ends are theirs in the
// table's data.
type stackBlock struct {
	first uint32
	start int
	ends  []int
}

// add reads a stack block: first id, count, then each stack's size and bytes.
func (t *stackTable) add(data []byte, base int64) error {
	c := binread.At(data, base)
	b := stackBlock{first: c.U32(), start: len(t.data)}
	n := c.U32()
	if !eventpipe.Fits(&c, n, 4) {
		return eventpipe.Malformed("%d stacks in %d bytes", n, c.Len())
	}
	if t.size += len(data); t.size > eventpipe.MaxStackBytes {
		return eventpipe.Malformed("more than %d MB of stacks between sequence points", eventpipe.MaxStackBytes>>20)
	}
	if n := len(t.blocks); n > 0 && b.first < t.blocks[n-1].first+uint32(len(t.blocks[n-1].ends)) {
		return eventpipe.Malformed("stack %d was defined before", b.first)
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

// get returns the addresses of a stack as bytes, nil if there are none.
func (t *stackTable) get(id uint32) []byte {
	i, found := slices.BinarySearchFunc(t.blocks, id, func(b stackBlock, id uint32) int {
		switch {
		case b.first > id:
			return 1
		case uint64(b.first)+uint64(len(b.ends)) <= uint64(id):
			return -1
		}
		return 0
	})
	if !found {
		return nil
	}
	b := t.blocks[i]
	n := int(id - b.first)
	start := b.start
	if n > 0 {
		start = b.ends[n-1]
	}
	return t.data[start:b.ends[n]]
}

// clear forgets all stacks: their ids begin anew after a sequence point.
func (t *stackTable) clear() {
	t.blocks = t.blocks[:0]
	t.data = t.data[:0]
	t.size = 0
}
