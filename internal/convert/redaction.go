package convert

import (
	"io"

	"github.com/gctrail/gctrail/gc/heap"
)

// A Redaction redacts several traces and heap snapshots, in which the same name has the same hash.
// The zero Redaction leaves them as they are.
type Redaction struct {
	On bool
	RedactOptions

	key *Redactor // nil before the first
}

// Next returns a Redactor for the next trace.
func (r *Redaction) Next() *Redactor {
	if r.key == nil {
		r.key = NewRedactor(r.RedactOptions)
	}
	return r.key.Another()
}

// Name returns the name of a file: a hash of it if the redaction is on.
func (r *Redaction) Name(path string) string {
	if r.On {
		return r.Next().Name(path)
	}
	return path
}

// ReadGCDump reads the snapshot of a .gcdump file, and redacts it if the redaction is on.
func (r *Redaction) ReadGCDump(from io.Reader) (*heap.Snapshot, error) {
	snapshot, err := heap.ReadGCDump(from)
	if err == nil && r.On {
		r.Next().HeapDump(snapshot)
	}
	return snapshot, err
}
