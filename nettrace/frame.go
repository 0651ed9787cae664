package nettrace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/gctrail/gctrail/trace"
)

// blockKind is the kind of a block in any version. The numbers are V6's.
type blockKind uint8

const (
	blockEnd blockKind = iota
	blockTrace
	blockEvents
	blockMetadata
	blockSequencePoint
	blockStacks
	blockThreads
	blockRemoveThreads
	blockLabels
	blockUnknown
)

var blockNames = [...]string{
	"end of stream", "trace object", "event block", "metadata block", "sequence point block",
	"stack block", "thread block", "remove thread block", "label list block", "unknown block",
}

func (k blockKind) String() string { return blockNames[k] }

// objectKinds are the type names of V3 and V4 objects.
var objectKinds = map[string]blockKind{
	"Trace":         blockTrace,
	"EventBlock":    blockEvents,
	"MetadataBlock": blockMetadata,
	"StackBlock":    blockStacks,
	"SPBlock":       blockSequencePoint,
}

const (
	nettraceMagic = "Nettrace"
	streamMagic   = "!FastSerialization.1"

	// oldTraceObject begins the netperf files of V1 and V2.
	oldTraceObject = "Microsoft.DotNet.Runtime.EventPipeFile"

	// maxBlock bounds the size of a single block. The runtime's blocks are at
	// most 100 KiB, V6's at most 16 MiB by their header.
	maxBlock = 16 << 20
	// maxTypeName bounds an object's type name, as TraceEvent does.
	maxTypeName = 64
	// traceObjectSize is the fixed payload of a V3 or V4 Trace object.
	traceObjectSize = 48
)

// Tags of the FastSerialization stream.
const (
	tagNull         = 1
	tagBegin        = 4 // V3
	tagBeginPrivate = 5 // V4
	tagEnd          = 6
)

// A block is one block of a trace, as stored in the file.
type block struct {
	kind    blockKind
	version int      // of the object: 1 for the event blocks of V3
	off     int64    // of data in the input
	data    []byte   // valid until the next block is read
	cut     bool     // the input ends within the block
	mended  string   // how its type is spelt in the file, if that differs in one bit
	summary *summary // nil if no walker has read the block yet
}

// A framer splits a trace into blocks, without knowing their contents.
type framer struct {
	in      *window
	off     int64  // of the next byte
	whole   int64  // off after the last complete object; 0 before the Trace object's end
	version int    // 3, 4 or 6
	minor   uint32 // of V6
	buf     []byte
	inside  bool // an object's payload was read, its end tag was not
	damaged bool // the last object could not be read
}

func newFramer(r io.Reader, size sizes) *framer { return &framer{in: newWindow(r, size)} }

// open reads the part before the first block, and finds the version.
func (f *framer) open() error {
	var b [24]byte
	head, err := f.peek(len(nettraceMagic))
	switch {
	case err != nil && len(head) == 0:
		return f.fail("header", fmt.Errorf("%w: empty", trace.ErrNotTrace))
	case string(head) == nettraceMagic:
		if err := f.skip(len(nettraceMagic)); err != nil {
			return err
		}
	case !bytes.HasPrefix(head, []byte{byte(len(streamMagic)), 0, 0, 0}):
		return f.fail("header", trace.ErrNotTrace)
	default:
		f.version = 3
	}
	if f.version == 0 {
		zero, err := f.peek(4)
		if err != nil {
			return f.fail("header", io.ErrUnexpectedEOF)
		}
		if binary.LittleEndian.Uint32(zero) == 0 {
			return f.openV6()
		}
		f.version = 4
	}
	if err := f.readFull(b[:]); err != nil {
		return f.fail("header", io.ErrUnexpectedEOF)
	}
	if binary.LittleEndian.Uint32(b[:]) != uint32(len(streamMagic)) || string(b[4:]) != streamMagic {
		return f.fail("header", trace.ErrNotTrace)
	}
	return nil
}

func (f *framer) openV6() error {
	var b [12]byte
	if err := f.readFull(b[:]); err != nil {
		return f.fail("header", io.ErrUnexpectedEOF)
	}
	f.version, f.minor = int(binary.LittleEndian.Uint32(b[4:])), binary.LittleEndian.Uint32(b[8:])
	if f.version != 6 {
		return f.fail("header", fmt.Errorf("%w: nettrace V%d, this reader knows netperf V3 and nettrace V4 to V6",
			trace.ErrUnsupportedVersion, f.version))
	}
	return nil
}

// read does the same as next, but after damage in V3 or V4 it continues where
// another object begins. It can be called again after a *trace.FormatError in
// these versions.
func (f *framer) read(b *block) error {
	if f.damaged {
		f.damaged = false
		if err := f.resync(); err != nil {
			*b = block{}
			return err
		}
	}
	err := f.next(b)
	var damage *trace.FormatError
	f.damaged = f.version != 6 && errors.As(err, &damage)
	return err
}

// next reads a block into b. The error is io.EOF or io.ErrUnexpectedEOF if the
// input ends without its end mark, a *trace.FormatError if the framing is
// damaged, or the error of the input's Read.
func (f *framer) next(b *block) error {
	*b = block{}
	if f.version == 6 {
		return f.nextBlock(b)
	}
	return f.nextObject(b)
}

func (f *framer) nextBlock(b *block) error {
	var h [4]byte
	if err := f.readFull(h[:]); err != nil {
		return err
	}
	v := binary.LittleEndian.Uint32(h[:])
	b.kind = blockKind(min(v>>24, uint32(blockUnknown)))
	size := int(v & 0xffffff)
	switch {
	case b.kind == blockEnd && size > 0:
		return f.fail("block", malformed("end of stream with %d bytes", size))
	case b.kind == blockUnknown && f.minor == 0 && bits.OnesCount32(v>>24^uint32(blockEvents)) == 1:
		b.kind, b.mended = blockEvents, fmt.Sprintf("kind %d", v>>24)
	}
	err := f.body(b, size)
	if !b.cut {
		f.whole = f.off
	}
	return err
}

func (f *framer) nextObject(b *block) error {
	if f.inside {
		f.inside = false
		if err := f.expect(tagEnd); err != nil {
			return err
		}
		f.whole = f.off
	}
	tag, err := f.peek(1)
	if err != nil {
		return err
	}
	if tag[0] == tagNull {
		b.kind = blockEnd
		f.whole = f.off + 1
		return f.skip(1)
	}
	begin := byte(tagBeginPrivate)
	if f.version == 3 {
		begin = tagBegin
	}
	h, err := f.peek(11)
	if err != nil {
		return cutShort(err)
	}
	if h[0] != begin || h[1] != begin || h[2] != tagNull {
		return f.fail("object", malformed("tags %x", h[:3]))
	}
	b.version = int(int32(binary.LittleEndian.Uint32(h[3:])))
	least := int(int32(binary.LittleEndian.Uint32(h[7:])))
	if err := f.skip(len(h)); err != nil {
		return err
	}
	name, err := f.typeName()
	if err != nil {
		return err
	}
	kind, known := objectKinds[name]
	if !known {
		if kind = mendedKind(name); kind != blockUnknown {
			b.mended = fmt.Sprintf("type name %q", name)
		}
	}
	if name == oldTraceObject {
		return f.fail("trace object", fmt.Errorf("%w: netperf V%d, written by .NET Core 2.0 only", trace.ErrUnsupportedVersion, b.version))
	}
	b.kind = kind
	f.inside = true
	if kind == blockTrace {
		return f.traceObject(b, least)
	}
	var claimed [4]byte
	if err := f.readFull(claimed[:]); err != nil {
		return cutShort(err)
	}
	size := int32(binary.LittleEndian.Uint32(claimed[:]))
	pad := int(-f.off & 3)
	if err := f.skip(pad); err != nil {
		return cutShort(err)
	}
	if size < 0 || size > maxBlock {
		f.inside = false
		return f.fail(kind.String(), malformed("size %d", size))
	}
	return f.body(b, int(size))
}

// mendedKind returns the kind whose type name differs in one bit, blockUnknown
// if there is none.
func mendedKind(name string) blockKind {
	for known, kind := range objectKinds {
		off := 0
		for i := 0; i < len(name) && len(name) == len(known); i++ {
			off += bits.OnesCount8(name[i] ^ known[i])
		}
		if off == 1 {
			return kind
		}
	}
	return blockUnknown
}

// traceObject checks the version, which the Trace object carries.
func (f *framer) traceObject(b *block, least int) error {
	if b.version < 3 || least > 4 {
		return f.fail("trace object", fmt.Errorf("%w: object version %d, this reader knows 3 (.netperf) and 4 (.nettrace)",
			trace.ErrUnsupportedVersion, b.version))
	}
	return f.body(b, traceObjectSize)
}

func (f *framer) typeName() (string, error) {
	var h [4 + maxTypeName + 1]byte
	if err := f.readFull(h[:4]); err != nil {
		return "", cutShort(err)
	}
	n := binary.LittleEndian.Uint32(h[:])
	if n > maxTypeName {
		return "", f.fail("object", malformed("type name of %d bytes", n))
	}
	if err := f.readFull(h[4 : 4+n+1]); err != nil {
		return "", cutShort(err)
	}
	if h[4+n] != tagEnd {
		return "", f.fail("object", malformed("tag %d after the type name", h[4+n]))
	}
	return string(h[4 : 4+n]), nil
}

// body reads the n bytes of a block. A truncated block has the bytes up to the
// end of the input.
func (f *framer) body(b *block, n int) error {
	b.off = f.off
	var err error
	if n > f.in.size.most {
		err = f.large(b, n)
	} else {
		b.data, err = f.in.peek(n)
		f.in.take(len(b.data))
	}
	f.off += int64(len(b.data))
	b.cut = err != nil
	if ended(err) {
		return nil
	}
	return err
}

// large reads a block that does not fit in the window into a separate buffer.
// Memory grows with what arrives, not with the claimed size.
func (f *framer) large(b *block, n int) error {
	const step = 1 << 20
	b.data = f.buf[:0]
	for len(b.data) < n {
		had := len(b.data)
		b.data = grow(b.data, min(n-had, max(step, had)))
		f.buf = b.data
		if got, err := io.ReadFull(f.in, b.data[had:]); err != nil {
			b.data = b.data[:had+got]
			return err
		}
	}
	return nil
}

// What blocks of V3 and V4 begin with.
var (
	beginV3 = []byte{tagBegin, tagBegin, tagNull, 1, 0, 0, 0, 0, 0, 0, 0}
	beginV4 = []byte{tagBeginPrivate, tagBeginPrivate, tagNull, 2, 0, 0, 0, 2, 0, 0, 0}
)

// resyncStep is how much of the input resync looks through at a time.
const resyncStep = 64 << 10

// resync looks for the start of the next object of V3 or V4, after damage.
func (f *framer) resync() error {
	mark := pick(f.version == 3, beginV3, beginV4)
	f.inside = false
	for {
		b, err := f.peek(min(f.in.size.most, resyncStep))
		if i := bytes.Index(b, mark); i >= 0 {
			return f.skip(i)
		}
		if err != nil {
			return cmp.Or(f.skip(len(b)), io.ErrUnexpectedEOF)
		}
		if err := f.skip(len(b) - len(mark) + 1); err != nil {
			return err
		}
	}
}

func (f *framer) expect(tag byte) error {
	b, err := f.peek(1)
	if err != nil {
		return cutShort(err)
	}
	if b[0] != tag {
		return f.fail("object", malformed("tag %d where %d belongs", b[0], tag))
	}
	return f.skip(1)
}

func (f *framer) peek(n int) ([]byte, error) { return f.in.peek(n) }

func (f *framer) skip(n int) error {
	d, err := f.in.skip(n)
	f.off += int64(d)
	return err
}

func (f *framer) readFull(b []byte) error {
	p, err := f.peek(len(b))
	n := copy(b, p)
	f.in.take(n)
	f.off += int64(n)
	if n > 0 {
		return cutShort(err)
	}
	return err
}

func (f *framer) fail(section string, err error) error {
	return &trace.FormatError{Format: "nettrace", Off: f.off, Section: section, Err: err}
}

// cutShort turns the end of the input into an unexpected end if it is in the
// middle of an object.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// grow extends b by n bytes. Capacities are powers of two, so that a buffer
// serves the next block too, which is rarely of the same size.
func grow(b []byte, n int) []byte {
	if need := len(b) + n; need > cap(b) {
		b = append(make([]byte, 0, 1<<bits.Len(uint(need-1))), b...)
	}
	return b[:len(b)+n]
}
