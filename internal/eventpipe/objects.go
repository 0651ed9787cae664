package eventpipe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// An Object is a unit of a V4 trace for a Splicer: the Trace object or a block.
type Object struct {
	// First and Last are the times of the earliest and the latest event of an
	// event block, from its header, in ticks of the trace's clock. They are 0
	// for objects without events.
	First, Last uint64
	// Sorted reports that the first event of the block is the earliest, and
	// that no later event in the trace is older.
	Sorted bool

	kind BlockKind
	data []byte
}

// Events reports whether the object is a block of events.
func (o *Object) Events() bool { return o.kind == BlockEvents }

// Size returns the size of the object in bytes, without its frame.
func (o *Object) Size() int { return len(o.data) }

// Starts reports whether a trace that begins with the object has all events
// from its time on and no earlier ones. latest is the time of the latest event
// before the object. The runtime writes such a block every 100 ms.
func (o *Object) Starts(latest uint64) bool { return o.Sorted && o.First >= latest }

// An ObjectReader splits a V4 trace, as a runtime writes it, into its objects.
// It holds one object at a time.
type ObjectReader struct {
	in     *Framer
	obj    Object
	start  time.Time // of the trace
	sync   uint64    // ticks of the trace's start
	second uint64    // ticks
}

// NewObjectReader returns a reader of the uncompressed trace r.
func NewObjectReader(r io.Reader) *ObjectReader {
	return &ObjectReader{in: NewFramer(r, FileWindow)}
}

// Next returns the next object, the Trace object first. It is valid until the
// following call. Blocks of unknown kinds are left out. Next returns io.EOF at
// the end of the trace, and at the end of the input; if the input later
// continues with another object, so does Next. Other errors are a
// *trace.FormatError if the input is not a V4 trace or is damaged,
// io.ErrUnexpectedEOF if it ends within an object, or the error of the input's
// Read.
func (r *ObjectReader) Next() (*Object, error) {
	if r.in.Version == 0 {
		if err := r.open(); err != nil {
			return nil, err
		}
	}
	var b Block
	for {
		if err := r.in.Next(&b); err != nil {
			return nil, err
		}
		if b.Cut {
			return nil, io.ErrUnexpectedEOF
		}
		if b.Kind == BlockEnd {
			return nil, io.EOF
		}
		if b.Kind != BlockUnknown {
			break
		}
	}
	r.obj = Object{kind: b.Kind, data: b.Data}
	switch b.Kind {
	case BlockTrace:
		r.clock()
	case BlockEvents:
		if err := r.obj.times(); err != nil {
			return nil, &trace.FormatError{Format: "nettrace", Off: b.Off, Section: b.Kind.String(), Err: err}
		}
	}
	return &r.obj, nil
}

// Offset returns the position in the trace at which the last returned object
// ends, excluding its end tag.
func (r *ObjectReader) Offset() int64 { return r.in.Off }

// Ticks converts a time since the start of the trace to ticks of its clock,
// rounded toward the start. Times before the clock's zero become 0. The Trace
// object must have been read.
func (r *ObjectReader) Ticks(d time.Duration) uint64 {
	ticks := uint64(units.MulDiv(uint64(d.Abs()), r.second, uint64(time.Second)))
	switch {
	case d >= 0:
		return r.sync + ticks
	case ticks > r.sync:
		return 0
	default:
		return r.sync - ticks
	}
}

func (r *ObjectReader) open() error {
	if err := r.in.Open(); err != nil {
		return err
	}
	if r.in.Version != 4 {
		return r.in.Fail("header", fmt.Errorf("%w: only a V4 trace can be split", trace.ErrUnsupportedVersion))
	}
	return nil
}

// Offsets in the payload of a V4 Trace object.
const (
	syncOffset      = 16
	frequencyOffset = 24
)

func (r *ObjectReader) clock() {
	r.start = SystemTime(r.obj.data)
	r.sync = binary.LittleEndian.Uint64(r.obj.data[syncOffset:])
	r.second = binary.LittleEndian.Uint64(r.obj.data[frequencyOffset:])
}

// times reads the times of the block's events. A block without any has no times.
func (o *Object) times() error {
	in, err := ReadBlock(o.data, 0, 4)
	if err != nil || in.Empty() {
		return err
	}
	o.First, o.Last = in.Times.From, in.Times.From+in.Times.Span
	o.Sorted = in.Next() && in.Sorted && in.Ticks == o.First
	return in.Err
}

// each calls fn with every event of an event block or metadata block. Events before
// damage are kept.
func (o *Object) each(fn func(h *Header, payload []byte)) error {
	in, err := ReadBlock(o.data, 0, 4)
	if err != nil {
		return err
	}
	for in.Next() {
		fn(&in.Header, in.Bytes())
	}
	return in.Err
}

// ErrNoTrace reports an object without a Trace object before it.
var ErrNoTrace = errors.New("nettrace: no Trace object came before")
