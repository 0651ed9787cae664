package collect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/eventpipe"
)

// A segment is a part of the ring. It begins with the objects that later ones refer to.
type segment struct {
	path   string
	head   int64  // bytes of these first objects
	size   int64  // of all
	before uint64 // time of the latest event before the segment
	start  uint64 // of the first event block that a trace can start with; 0 if there is none
}

// each calls fn with each object of a segment, and with whether other objects
// refer to it. It returns the first error.
func (s *segment) each(fn func(o *eventpipe.Object, head bool) error) error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := eventpipe.NewObjectReader(f)
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

// youngerHalf returns a segment with the same path that has about the later half of this
// one, and its objects; nil if this one is too short.
func (s *segment) youngerHalf() (*segment, []byte, error) {
	var out bytes.Buffer
	splicer := eventpipe.Splicer{Keep: gc.Identifies}
	half := &segment{path: s.path}
	read := int64(0)
	err := s.each(func(o *eventpipe.Object, head bool) error {
		read += int64(o.Size())
		if half.head == 0 && !head && o.Events() && read > s.size/2 {
			half.before = max(s.before, splicer.Latest())
			if err := splicer.Begin(&out, o); err != nil {
				return err
			}
			half.head = int64(out.Len())
		}
		if half.head > 0 && half.start == 0 && o.Starts(max(s.before, splicer.Latest())) {
			half.start = o.First
		}
		return splicer.Add(o)
	})
	half.size = int64(out.Len())
	if err != nil || half.head == 0 || half.size >= s.size {
		return nil, nil, err
	}
	return half, out.Bytes(), nil
}

func (s *segment) remove() error {
	if err := os.Remove(s.path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
