package clr

import (
	"bytes"
	"fmt"

	"github.com/gctrail/gctrail/internal/binread"
)

// wrap adds the name of the event to a payload's error.
func wrap(event string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("clr: %s: %w", event, err)
}

// bySize is ptr4 where pointers have 4 bytes, else ptr8.
func bySize(ptrSize, ptr4, ptr8 int) int {
	if ptrSize == 4 {
		return ptr4
	}
	return ptr8
}

// fitting returns how many elements of at least size bytes c can still hold, at most
// count.
func fitting(c *binread.Cursor, count uint32, size int) int {
	return int(min(uint64(count), uint64(c.Len()/size)))
}

// expect fails c if it had fewer than count elements.
func expect(c *binread.Cursor, n int, count uint32) {
	if uint32(n) < count {
		c.Skip(c.Len() + 1)
	}
}

// resize returns s with length n. Its elements keep their slices, for reuse.
func resize[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	t := make([]T, n, max(n, 2*cap(s)))
	copy(t, s[:cap(s)])
	return t
}

// ansiz reads bytes up to a terminating zero. c is a cursor over payload.
func ansiz(c *binread.Cursor, payload []byte) ANSI {
	n := bytes.IndexByte(payload[c.Off():], 0)
	if n < 0 {
		c.Skip(c.Len() + 1)
		return nil
	}
	s := c.Bytes(n)
	c.Skip(1)
	return s
}

func guid(c *binread.Cursor) (g GUID) {
	copy(g[:], c.Bytes(len(g)))
	return g
}
