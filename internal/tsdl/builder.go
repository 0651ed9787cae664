package tsdl

import (
	"errors"
	"fmt"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// A builder assembles the model and enforces its bounds, for both languages. After the first
// failure it adds nothing to the trace, so that callers check err once per declaration; types
// are never nil, but may be placeholders then.
type builder struct {
	trace   *Trace
	streams map[uint64]*Stream
	parts   int
	nesting int   // of the current declaration
	err     error // the first failure
}

// fail records a failure, unless there was one before. No error is no failure.
func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *builder) malformed(format string, args ...any) { b.fail(binread.Malformed(format, args...)) }

// result returns the trace and the failure, which has a line. There is no trace if nothing was
// read before the failure, or if the version is not supported.
func (b *builder) result(line int, begun bool) (*Trace, error) {
	if b.err == nil {
		return b.trace, nil
	}
	err := &SyntaxError{Line: line, Err: b.err}
	if !begun || errors.Is(err, trace.ErrUnsupported) {
		return nil, err
	}
	return b.trace, err
}

// placeholder returns a type for one that cannot be read.
func placeholder() *Type { return &Type{Align: 1} }

// part counts a part of the model.
func (b *builder) part() {
	if b.parts++; b.parts > maxParts {
		b.fail(fmt.Errorf("%w: more than %d fields, labels and events", trace.ErrTooLarge, maxParts))
	}
}

// nest enters a type within another, which unnest leaves. It returns false after a failure, or
// if the types, called what in errors, are nested too deep.
func (b *builder) nest(what string) bool {
	if b.nesting++; b.nesting > maxDepth {
		b.malformed("%s nested more than %d deep", what, maxDepth)
	}
	return b.err == nil
}

func (b *builder) unnest() { b.nesting-- }

// checked completes a type whose parts are set: it fills in the alignment.
func (b *builder) checked(t *Type) *Type {
	b.part()
	switch t.Kind {
	case Int:
		if t.Size < 1 || t.Size > 64 {
			b.malformed("integer of %d bits", t.Size)
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
			b.malformed("floating point number of %d bits", t.Size)
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
		b.malformed("types nested more than %d deep", maxDepth)
	}
	if t.Align < 1 || t.Align > MaxAlign || t.Align&(t.Align-1) != 0 {
		b.malformed("alignment of %d bits", t.Align)
	}
	return t
}

func (b *builder) addClock(c *Clock) {
	if c.Frequency < 1 {
		b.malformed("clock without a frequency")
	}
	if b.err == nil {
		b.trace.Clocks = append(b.trace.Clocks, c)
		b.part()
	}
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
func (b *builder) addStream(s Stream) {
	if b.err == nil {
		known := b.stream(s.ID)
		s.Events = known.Events
		*known = s
		b.part()
	}
}

func (b *builder) addEvent(stream uint64, e *Event) {
	if b.err == nil {
		s := b.stream(stream)
		s.Events = append(s.Events, e)
		b.part()
	}
}
