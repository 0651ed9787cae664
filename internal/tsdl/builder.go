package tsdl

import (
	"fmt"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// A builder assembles the model and enforces its bounds, for both languages.
type builder struct {
	trace   *Trace
	streams map[uint64]*Stream
	parts   int
	nesting int // of the current declaration
}

// part counts a part of the model.
func (b *builder) part() error {
	if b.parts++; b.parts > maxParts {
		return fmt.Errorf("%w: more than %d fields, labels and events", trace.ErrTooLarge, maxParts)
	}
	return nil
}

// checked completes a type whose parts are set: it fills in the alignment.
func (b *builder) checked(t *Type) (*Type, error) {
	if err := b.part(); err != nil {
		return nil, err
	}
	switch t.Kind {
	case Int:
		if t.Size < 1 || t.Size > 64 {
			return nil, binread.Malformed("integer of %d bits", t.Size)
		}
		if t.Align == 0 {
			t.Align = 1
			if t.Size%8 == 0 {
				t.Align = 8
			}
		}
	case Float:
		switch t.Size {
		case 16, 32, 64, 128:
		default:
			return nil, binread.Malformed("floating point number of %d bits", t.Size)
		}
		if t.Align == 0 {
			t.Align = 8
		}
	case String, VarInt:
		t.Align = 8
	case Struct:
		for _, f := range t.Fields {
			t.Align = max(t.Align, f.Type.Align)
			t.depth = max(t.depth, 1+f.Type.depth)
		}
	case Array, Dynamic:
		t.Align = max(t.Align, t.Elem.Align)
		t.depth = 1 + t.Elem.depth
	case Variant:
		t.Align = 1 // the option chosen has its own
		for _, o := range t.Options {
			t.depth = max(t.depth, 1+o.Type.depth)
		}
	}
	if t.depth > maxDepth {
		return nil, binread.Malformed("types nested more than %d deep", maxDepth)
	}
	if t.Align < 1 || t.Align > MaxAlign || t.Align&(t.Align-1) != 0 {
		return nil, binread.Malformed("alignment of %d bits", t.Align)
	}
	return t, nil
}

func (b *builder) addClock(c *Clock) error {
	if c.Frequency < 1 {
		return binread.Malformed("clock without a frequency")
	}
	b.trace.Clocks = append(b.trace.Clocks, c)
	return b.part()
}

func (b *builder) stream(id uint64) *Stream {
	s := b.streams[id]
	if s == nil {
		s = &Stream{ID: id}
		if b.streams == nil {
			b.streams = map[uint64]*Stream{}
		}
		b.streams[id] = s
		b.trace.Streams = append(b.trace.Streams, s)
	}
	return s
}

// addStream adds a class of streams. Its events may have been added before.
func (b *builder) addStream(s Stream) error {
	known := b.stream(s.ID)
	s.Events = known.Events
	*known = s
	return b.part()
}

func (b *builder) addEvent(stream uint64, e *Event) error {
	s := b.stream(stream)
	s.Events = append(s.Events, e)
	return b.part()
}
