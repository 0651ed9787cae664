package nettrace

import "github.com/gctrail/gctrail/internal/binread"

// A thread is a thread as a V6 trace describes it.
type thread struct{ pid, tid uint64 }

// Kinds of V6 thread information.
const (
	threadName  = 1
	threadPID   = 2
	threadTID   = 3
	threadValue = 4
)

// A threadTable finds V6 threads by index.
type threadTable map[uint64]thread

// has reports whether the trace has declared the thread.
func (t threadTable) has(index uint64) bool {
	_, ok := t[index]
	return ok
}

// add reads a thread block: rows of a size, an index, and properties of the thread. It
// skips the rest of a row after a property of unknown kind, because that has an unknown
// length.
func (t threadTable) add(data []byte, base int64) error {
	c := binread.At(data, base)
	for c.Len() > 0 && c.OK() {
		row := c.Sub(int(c.U16()))
		if !c.OK() {
			break
		}
		index := row.Uvarint64()
		var th thread
		th.read(&row)
		if err := row.Err(); err != nil {
			return err
		}
		if len(t) >= maxThreads && !t.has(index) {
			return binread.Malformed("more than %d threads", maxThreads)
		}
		t[index] = th
	}
	return c.Err()
}

func (th *thread) read(row *binread.Cursor) {
	for row.Len() > 0 {
		switch row.U8() {
		case threadName:
			row.Skip(int(row.Uvarint32()))
		case threadPID:
			th.pid = row.Uvarint64()
		case threadTID:
			th.tid = row.Uvarint64()
		case threadValue:
			row.Skip(int(row.Uvarint32()))
			row.Skip(int(row.Uvarint32()))
		default:
			return
		}
	}
}
