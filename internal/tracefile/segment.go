package tracefile

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gctrail/gctrail/nettrace"
)

// A segment is a part of the ring. Its first objects are what the others refer
// to.
type segment struct {
	path   string
	head   int64  // bytes of these first objects
	size   int64  // of all
	before uint64 // time of the latest event before the segment
	start  uint64 // of the first event block that a trace can start with; 0 where there is none
}

// each calls fn with the objects of a segment, and tells it which are those that
// the others refer to. It returns the first error.
func (s *segment) each(fn func(o *nettrace.Object, head bool) error) error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := nettrace.NewObjectReader(f)
	for {
		o, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
		if err := fn(o, in.Offset() < s.head); err != nil {
			return err
		}
	}
}

func (s *segment) remove() error {
	if err := os.Remove(s.path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
