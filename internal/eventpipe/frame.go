package eventpipe

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// BlockKind is the kind of a block in any version. The numbers are V6's.
type BlockKind uint8

const (
	BlockEnd BlockKind = iota
	BlockTrace
	BlockEvents
	BlockMetadata
	BlockSequencePoint
	BlockStacks
	BlockThreads
	BlockRemoveThreads
	BlockLabels
	BlockUnknown
)

var blockNames = [...]string{
	"end of stream", "trace object", "event block", "metadata block", "sequence point block",
	"stack block", "thread block", "remove thread block", "label list block", "unknown block",
}

// String returns the name of the kind, as messages have it.
func (k BlockKind) String() string { return units.Name("BlockKind", blockNames[:], k) }

// objectNames are the type names of V3 and V4 objects.
var objectNames = [BlockUnknown]string{
	BlockTrace:         "Trace",
	BlockEvents:        "EventBlock",
	BlockMetadata:      "MetadataBlock",
	BlockStacks:        "StackBlock",
	BlockSequencePoint: "SPBlock",
}

const (
	nettraceMagic = "Nettrace"
	streamMagic   = "!FastSerialization.1"

	// oldTraceObject begins the netperf files of V1 and V2.
	oldTraceObject = "Microsoft.DotNet.Runtime.EventPipeFile"

	// MaxBlock bounds the size of a single block. The runtime's blocks are at
	// most 100 KiB, V6's at most 16 MiB by their header.
	MaxBlock = 16 << 20
	// MaxStackBytes bounds the stacks kept between two sequence points.
	MaxStackBytes = 32 << 20
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
	TagEnd          = 6
)

// A Block is one block of a trace, as stored in the file.
type Block struct {
	Kind    BlockKind
	Version int    // of the object: 1 for the event blocks of V3
	Off     int64  // of data in the input
	Data    []byte // valid until the next block is read
	Cut     bool   // the input ends within the block
	Mended  string // how its type is spelt in the file, if that differs in one bit
	Moved   bool   // its padding shows that bytes are missing before it
	More    bool   // of BlockEnd: the input continues, with another trace or nonsense
}

// A Framer splits a trace into blocks, without knowing their contents.
type Framer struct {
	in      *window
	Off     int64  // of the next byte
	Whole   int64  // off after the last complete object; 0 before the Trace object's end
	Version int    // 3, 4 or 6
	minor   uint32 // of V6
	buf     []byte
	inside  bool  // an object's payload was read, its end tag was not
	Damaged bool  // the last object could not be read
	adrift  bool  // any number of bytes may be missing since the last block
	missing int64 // bytes missing before Off, modulo alignment
}

// NewFramer returns a framer of a trace with a window of the given sizes.
func NewFramer(r io.Reader, size WindowSizes) *Framer { return &Framer{in: newWindow(r, size)} }

// ContinueAt makes a new framer read a part of a trace of a version, beginning at the
// object boundary off.
func (f *Framer) ContinueAt(version int, off int64) {
	f.Version, f.Off, f.Whole = version, off, off
}

// Open reads the part before the first block, and finds the version.
func (f *Framer) Open() error {
	var b [24]byte
	head, err := f.peek(len(nettraceMagic))
	switch {
	case err != nil && len(head) == 0:
		return f.Fail("header", fmt.Errorf("%w: empty", trace.ErrNotTrace))
	case string(head) == nettraceMagic:
		if err := f.skip(len(nettraceMagic)); err != nil {
			return err
		}
	case !bytes.HasPrefix(head, []byte{byte(len(streamMagic)), 0, 0, 0}):
		return f.Fail("header", trace.ErrNotTrace)
	default:
		f.Version = 3
	}
	if f.Version == 0 {
		zero, err := f.peek(4)
		if err != nil {
			return f.Fail("header", io.ErrUnexpectedEOF)
		}
		if binary.LittleEndian.Uint32(zero) == 0 {
			return f.openV6()
		}
		f.Version = 4
	}
	if err := f.readFull(b[:]); err != nil {
		return f.Fail("header", io.ErrUnexpectedEOF)
	}
	if binary.LittleEndian.Uint32(b[:]) != uint32(len(streamMagic)) || string(b[4:]) != streamMagic {
		return f.Fail("header", trace.ErrNotTrace)
	}
	return nil
}

func (f *Framer) openV6() error {
	var b [12]byte
	if err := f.readFull(b[:]); err != nil {
		return f.Fail("header", io.ErrUnexpectedEOF)
	}
	f.Version, f.minor = int(binary.LittleEndian.Uint32(b[4:])), binary.LittleEndian.Uint32(b[8:])
	if f.Version != 6 {
		return f.Fail("header", fmt.Errorf("%w: nettrace V%d, this reader knows netperf V3 and nettrace V4 to V6",
			trace.ErrUnsupportedVersion, f.Version))
	}
	return nil
}

// maxBehind is how many bytes behind a trace are looked at. Zeros are no loss: programs that make
// room for a file beforehand leave them.
const maxBehind = 64

// Read is Next, but after damage in V3 or V4 it continues at the next object. It can be
// called again after a *trace.FormatError in these versions.
func (f *Framer) Read(b *Block) error {
	if f.Damaged {
		f.Damaged = false
		if err := f.resync(); err != nil {
			*b = Block{}
			return err
		}
	}
	err := f.Next(b)
	if err == nil && b.Kind == BlockEnd {
		b.Off, b.More = f.Off, bytes.ContainsFunc(f.in.look(maxBehind), func(r rune) bool { return r != 0 })
	}
	var damage *trace.FormatError
	f.Damaged = f.Version != 6 && errors.As(err, &damage)
	return err
}

// Next reads a block into b. The error is io.EOF or io.ErrUnexpectedEOF if the
// input ends without its end mark, a *trace.FormatError if the framing is
// damaged, or the error of the input's Read.
func (f *Framer) Next(b *Block) error {
	*b = Block{}
	if f.Version == 6 {
		return f.nextBlock(b)
	}
	return f.nextObject(b)
}

func (f *Framer) nextBlock(b *Block) error {
	var h [4]byte
	if err := f.readFull(h[:]); err != nil {
		return err
	}
	v := binary.LittleEndian.Uint32(h[:])
	b.Kind = BlockKind(min(v>>24, uint32(BlockUnknown)))
	size := int(v & 0xffffff)
	switch {
	case b.Kind == BlockEnd && size > 0:
		return f.Fail("block", binread.Malformed("end of stream with %d bytes", size))
	case b.Kind == BlockUnknown && f.minor == 0 && bits.OnesCount32(v>>24^uint32(BlockEvents)) == 1:
		b.Kind, b.Mended = BlockEvents, fmt.Sprintf("kind %d", v>>24)
	}
	_, err := f.body(b, size, 0)
	if !b.Cut {
		f.Whole = f.Off
	}
	return err
}

func (f *Framer) nextObject(b *Block) error {
	if f.inside {
		f.inside = false
		if err := f.expect(TagEnd); err != nil {
			return err
		}
		f.Whole = f.Off
	}
	tag, err := f.peek(1)
	if err != nil {
		return err
	}
	if tag[0] == tagNull && !f.blockFollows() {
		b.Kind = BlockEnd
		f.Whole = f.Off + 1
		return f.skip(1)
	}
	least, err := f.objectType(b)
	if err != nil {
		return err
	}
	f.inside = true
	if b.Kind == BlockTrace {
		return f.traceObject(b, least)
	}
	if f.Whole == 0 { // refused before it is read, because it may be large
		return f.Fail("trace object", binread.Malformed("%v where it belongs", b.Kind))
	}
	return f.blockObject(b)
}

// blockFollows reports whether the next tag, which should end the trace, is the damaged first
// tag of a block, because the block's other first bytes follow.
func (f *Framer) blockFollows() bool {
	begin := f.blockBegin()
	b := f.in.look(len(begin))
	return len(b) == len(begin) && bytes.Equal(b[1:], begin[1:])
}

// objectType reads the type of an object: its kind, its version, and the least version of
// a reader.
func (f *Framer) objectType(b *Block) (least int, err error) {
	begin := byte(tagBeginPrivate)
	if f.Version == 3 {
		begin = tagBegin
	}
	h, err := f.peek(11)
	if err != nil {
		return 0, CutShort(err)
	}
	if h[0] != begin || h[1] != begin || h[2] != tagNull {
		return 0, f.Fail("object", binread.Malformed("tags %x", h[:3]))
	}
	b.Version = int(int32(binary.LittleEndian.Uint32(h[3:])))
	least = int(int32(binary.LittleEndian.Uint32(h[7:])))
	if err := f.skip(len(h)); err != nil {
		return 0, err
	}
	name, err := f.typeName()
	if err != nil {
		return 0, err
	}
	kind, flipped := objectKind(name)
	if flipped {
		b.Mended = fmt.Sprintf("type name %q", name)
	}
	if name == oldTraceObject {
		return 0, f.Fail("trace object", fmt.Errorf("%w: netperf V%d, written by .NET Core 2.0 only", trace.ErrUnsupportedVersion, b.Version))
	}
	b.Kind = kind
	return least, nil
}

// blockObject reads the size and the content of a block.
func (f *Framer) blockObject(b *Block) error {
	var claimed [4]byte
	if err := f.readFull(claimed[:]); err != nil {
		return CutShort(err)
	}
	size := int32(binary.LittleEndian.Uint32(claimed[:]))
	possible := size >= 0 && size <= MaxBlock
	if possible && (f.adrift || f.misaligned(b.Kind, int(size))) {
		return f.realign(b, int(size))
	}
	if err := f.skip(f.padding()); err != nil {
		return CutShort(err)
	}
	if !possible {
		f.inside = false
		return f.Fail(b.Kind.String(), binread.Malformed("size %d", size))
	}
	return f.contents(b, int(size))
}

// objectKind returns the kind with a type name, or with one that differs from it in
// one bit; BlockUnknown if there is none.
func objectKind(name string) (kind BlockKind, flipped bool) {
	for kind, known := range objectNames {
		if len(name) != len(known) || known == "" {
			continue
		}
		off := 0
		for i := range len(name) {
			off += bits.OnesCount8(name[i] ^ known[i])
		}
		if off <= 1 {
			return BlockKind(kind), off == 1
		}
	}
	return BlockUnknown, false
}

// traceObject checks the version, which the Trace object carries.
func (f *Framer) traceObject(b *Block, least int) error {
	if b.Version < 3 || least > 4 {
		return f.Fail("trace object", fmt.Errorf("%w: object version %d, this reader knows 3 (.netperf) and 4 (.nettrace)",
			trace.ErrUnsupportedVersion, b.Version))
	}
	_, err := f.body(b, traceObjectSize, 0)
	return err
}

func (f *Framer) typeName() (string, error) {
	var h [4 + maxTypeName + 1]byte
	if err := f.readFull(h[:4]); err != nil {
		return "", CutShort(err)
	}
	n := binary.LittleEndian.Uint32(h[:])
	if n > maxTypeName {
		return "", f.Fail("object", binread.Malformed("type name of %d bytes", n))
	}
	if err := f.readFull(h[4 : 4+n+1]); err != nil {
		return "", CutShort(err)
	}
	if h[4+n] != TagEnd {
		return "", f.Fail("object", binread.Malformed("tag %d after the type name", h[4+n]))
	}
	return string(h[4 : 4+n]), nil
}

// body reads the n bytes of a block. A truncated block has the bytes up to the
// end of the input. body returns up to m of the bytes that follow, without taking them.
func (f *Framer) body(b *Block, n, m int) (after []byte, err error) {
	b.Off = f.Off
	if n > f.Room() {
		if err = f.large(b, n); err == nil {
			after = f.in.look(m)
		}
	} else {
		after = f.in.look(n + m)
		after = after[min(n, len(after)):]
		b.Data, err = f.in.peek(n)
		f.in.take(len(b.Data))
	}
	f.Off += int64(len(b.Data))
	b.Cut = err != nil
	if ended(err) {
		return after, nil
	}
	return after, err
}

// large reads a block that does not fit in the window into a separate buffer. Memory
// grows with the bytes that arrive, because the claimed size may be wrong.
func (f *Framer) large(b *Block, n int) error {
	const step = 1 << 20
	b.Data = f.buf[:0]
	for len(b.Data) < n {
		had := len(b.Data)
		b.Data = Grow(b.Data, min(n-had, max(step, had)))
		f.buf = b.Data
		if got, err := io.ReadFull(f.in, b.Data[had:]); err != nil {
			b.Data = b.Data[:had+got]
			return err
		}
	}
	return nil
}

// The first bytes of blocks of V3 and V4.
var (
	beginV3 = []byte{tagBegin, tagBegin, tagNull, 1, 0, 0, 0, 0, 0, 0, 0}
	beginV4 = []byte{tagBeginPrivate, tagBeginPrivate, tagNull, 2, 0, 0, 0, 2, 0, 0, 0}
)

// blockBegin returns the bytes that a block of V3 or V4 begins with.
func (f *Framer) blockBegin() []byte {
	if f.Version == 3 {
		return beginV3
	}
	return beginV4
}

// resyncStep is how much of the input resync searches at a time.
const resyncStep = 64 << 10

// resync looks for the start of the next object of V3 or V4, after damage.
func (f *Framer) resync() error {
	mark := f.blockBegin()
	f.inside, f.adrift = false, true
	for {
		b, err := f.peek(min(f.in.size.Most, resyncStep))
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

func (f *Framer) expect(tag byte) error {
	b, err := f.peek(1)
	if err != nil {
		return CutShort(err)
	}
	if b[0] != tag {
		return f.Fail("object", binread.Malformed("tag %d where %d belongs", b[0], tag))
	}
	return f.skip(1)
}

func (f *Framer) peek(n int) ([]byte, error) { return f.in.peek(n) }

func (f *Framer) skip(n int) error {
	d, err := f.in.skip(n)
	f.Off += int64(d)
	return err
}

func (f *Framer) readFull(b []byte) error {
	p, err := f.peek(len(b))
	n := copy(b, p)
	f.in.take(n)
	f.Off += int64(n)
	if n > 0 {
		return CutShort(err)
	}
	return err
}

// Fail returns a *trace.FormatError at the framer's position.
func (f *Framer) Fail(section string, err error) error {
	return &trace.FormatError{Format: "nettrace", Off: f.Off, Section: section, Err: err}
}

// CutShort turns the end of the input into an unexpected end if it is in the
// middle of an object.
func CutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Grow extends b by n bytes. Capacities are powers of two, so that a buffer
// serves the next block too, which is rarely of the same size.
func Grow(b []byte, n int) []byte {
	if need := len(b) + n; need > cap(b) {
		b = append(make([]byte, 0, 1<<bits.Len(uint(need-1))), b...)
	}
	return b[:len(b)+n]
}

// TurnWith replaces the function that chooses the window's next buffer. turn returns a
// buffer for at least n bytes that begins with rest. It must not change the blocks of the
// old one while they are in use.
func (f *Framer) TurnWith(turn func(rest []byte, n int) ([]byte, error)) { f.in.turn = turn }

// Turn continues in the next buffer.
func (f *Framer) Turn() error { return f.in.renew(0) }

// Buffer returns the window's buffer, in which the blocks are.
func (f *Framer) Buffer() []byte { return f.in.buf }

// Room returns the size of the largest block that the window has room for, with what
// follows it.
func (f *Framer) Room() int { return f.in.size.Most - lookahead }

// MaxBuffer returns the size to which the window's buffer grows.
func (f *Framer) MaxBuffer() int { return f.in.size.Most }

// ExchangeLarge returns the buffer of the last block without room in the window, and
// takes another one for the next.
func (f *Framer) ExchangeLarge(b []byte) []byte {
	old := f.buf
	f.buf = b
	return old
}
