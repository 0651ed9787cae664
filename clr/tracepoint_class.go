package clr

import (
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/trace"
)

// maxTracepointFields is how many fields a tracepoint has at most. The runtime packs
// larger events (MAX_LTTNG_ARGS in genLttngProvider.py).
const maxTracepointFields = 9

// A TracepointClass is the runtime's description of an event to LTTng.
type TracepointClass struct {
	Name   string        // such as "DotNETRuntime:GCStart_V2"
	Packed bool          // the whole payload is one field, a sequence of bytes
	Fields []trace.Field // of the payload in its order, unless Packed
}

// Tracepoint returns the tracepoint of the event, which function Tracepoint reads, for
// payloads with pointers of ptrSize bytes. The result is false if there is none: for the
// event that only EventPipe has, and for an event with strings that are not UTF-16. LTTng
// cannot represent these, so the runtime raises the event on Windows only.
func (k Kind) Tracepoint(version uint32, ptrSize int) (TracepointClass, bool) {
	s := k.schema()
	provider, ok := strings.CutPrefix(s.provider, tracepointProvider)
	if !ok || k == KindUnknown || !s.has(version) {
		return TracepointClass{}, false
	}
	c := TracepointClass{Name: provider + ":" + s.name}
	if version > 0 {
		c.Name += "_V" + strconv.FormatUint(uint64(version), 10)
	}
	fields := s.layout(version).fields
	c.Packed = len(fields) > maxTracepointFields
	for i := 0; i < len(fields) && !c.Packed; i++ {
		f := trace.Field{Name: strings.Trim(fields[i].key, `":`)}
		switch fields[i].code {
		case codeBytes, codeArray, codeFixedArray, codeObject, codeGUID:
			c.Packed = true
		case codeANSI:
			return TracepointClass{}, false
		case codePtr:
			f.Type = trace.Uint64
			if ptrSize == 4 {
				f.Type = trace.Uint32
			}
		default:
			f.Type = tracepointTypes[fields[i].code]
		}
		c.Fields = append(c.Fields, f)
	}
	if c.Packed {
		c.Fields = nil
	}
	return c, true
}

// tracepointTypes are the types of the fields that are never packed.
var tracepointTypes = map[code]trace.TypeCode{
	codeU8:     trace.Uint8,
	codeU16:    trace.Uint16,
	codeU32:    trace.Uint32,
	codeU64:    trace.Uint64,
	codeI32:    trace.Int32,
	codeF32:    trace.Float32,
	codeBool32: trace.Int32,
	codeUTF16:  trace.UTF16String,
}

// Fields returns a description of the event's payload in a version, in the form that
// traces use for unknown events; nil if the payload has more than numbers and text.
func (k Kind) Fields(version uint32) []trace.Field {
	if k == KindUnknown || k >= numKinds {
		return nil
	}
	var fields []trace.Field
	for _, f := range schemas[k].layout(version).fields {
		t, known := tracepointTypes[f.code]
		if !known {
			return nil
		}
		if f.code == codeBool32 { // which tracepoints have no type for
			t = trace.Boolean
		}
		fields = append(fields, trace.Field{Name: strings.Trim(f.key, `":`), Type: t})
	}
	return fields
}
