package heap

// A column holds one figure of all objects, or of all references. It grows without
// copying what it has.
type column[T any] struct {
	chunks [][]T
	n      int
}

const (
	chunkBits = 15
	chunkSize = 1 << chunkBits
)

func (c *column[T]) add(v T) {
	if c.n>>chunkBits == len(c.chunks) {
		c.chunks = append(c.chunks, make([]T, 0, chunkSize))
	}
	last := &c.chunks[len(c.chunks)-1]
	*last = append(*last, v)
	c.n++
}

func (c *column[T]) at(i uint32) T { return c.chunks[i>>chunkBits][i&(chunkSize-1)] }
