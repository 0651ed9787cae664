package eventpipe

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"

	"github.com/gctrail/gctrail/internal/binread"
)

const (
	// alignment divides the offsets in the trace at which V3's and V4's blocks have their
	// contents.
	alignment = 4
	// lookahead is how many bytes behind a block show whether its padding is right: up to
	// three bytes of its contents, its end tag, and the tags of the next object.
	lookahead = alignment - 1 + 1 + tags
	// tags is the number of tags that an object begins with.
	tags = 3
)

// padding returns the padding of a block at the framer's position, if no more bytes are
// missing before it than the framer knows of.
func (f *Framer) padding() int { return int(-(f.Off + f.missing) & (alignment - 1)) }

// alignedAt notes that the contents of a block begin at an offset.
func (f *Framer) alignedAt(off int64) { f.missing, f.adrift = -off&(alignment-1), false }

// misaligned reports whether the next bytes may contradict the padding of a block: a byte
// of it is not zero, or the first byte of the contents is, although a header or an event
// begins there with its size.
func (f *Framer) misaligned(kind BlockKind, size int) bool {
	pad := f.padding()
	for i, v := range f.in.look(pad + min(size, 1)) {
		if i < pad && v != 0 || i == pad && v == 0 && (f.Version == 3 || f.hasHeader(kind)) {
			return true
		}
	}
	return false
}

// hasHeader reports whether blocks of a kind begin with the header that ReadBlock reads.
func (f *Framer) hasHeader(kind BlockKind) bool {
	return f.Version == 4 && (kind == BlockEvents || kind == BlockMetadata)
}

// realign reads a block whose padding is in doubt, because bytes may be missing from the
// trace before it: the padding depends on how many, modulo four.
//
// The padding is zeros. In V4's blocks of events and metadata, the header shows where it
// ends, and in V3's the sizes within the first event. Other blocks must be followed by an
// end tag and another object. After damage, a block whose padding stays ambiguous is
// refused, because a sequence point read from the wrong byte would report the loss of
// millions of events.
func (f *Framer) realign(b *Block, size int) error {
	start, expected := f.Off, f.padding()
	pads := f.paddings(b.Kind, size)
	switch {
	case f.adrift && len(pads) == 0:
		return f.Fail(b.Kind.String(), binread.Malformed("no contents after its size"))
	case f.adrift && len(pads) == 1:
		f.alignedAt(start + int64(pads[0]))
		if err := f.skip(pads[0]); err != nil {
			return CutShort(err)
		}
		return f.contents(b, size)
	}
	after, err := f.body(b, size, lookahead)
	if err != nil {
		return err
	}
	all := slices.Concat(b.Data, after)
	pads = slices.DeleteFunc(pads, func(pad int) bool { return !f.fits(b.Kind, all, pad, size) })
	pad := expected
	switch {
	case len(pads) == 1:
		pad = pads[0]
	case f.adrift && b.Cut:
		return io.ErrUnexpectedEOF
	case f.adrift, needsEnd(b.Kind) && !b.Cut && !f.fits(b.Kind, all, expected, size):
		return f.Fail(b.Kind.String(), binread.Malformed("ambiguous padding"))
	}
	b.Moved = pad != expected && !f.adrift
	f.alignedAt(start + int64(pad))
	from, to := min(pad, len(all)), min(pad+size, len(all))
	b.Off, b.Data, b.Cut = start+int64(from), all[from:to], to < pad+size
	return f.skip(max(0, to-size))
}

// paddings returns the paddings that the next bytes allow a block.
func (f *Framer) paddings(kind BlockKind, size int) []int {
	const head = 4 // size of a header, and its flags
	b := f.in.look(alignment - 1 + min(size, head))
	var pads []int
	for pad := range alignment {
		if pad > 0 && (len(b) < pad || b[pad-1] != 0) {
			break
		}
		if f.hasHeader(kind) {
			if len(b) < pad+head {
				break
			}
			n, flags := int(binary.LittleEndian.Uint16(b[pad:])), binary.LittleEndian.Uint16(b[pad+2:])
			if n < EventBlockHeader || n > size || flags&^blockCompressed != 0 {
				continue
			}
		}
		pads = append(pads, pad)
	}
	return pads
}

// fits reports whether the bytes after the size of a block are those of a block of that
// size with a padding, and of what follows it.
func (f *Framer) fits(kind BlockKind, b []byte, padding, size int) bool {
	begin := beginV4
	if f.Version == 3 {
		if kind == BlockEvents {
			return beginsEventV3(b[min(padding, len(b)):min(padding+size, len(b))])
		}
		begin = beginV3
	}
	end := padding + size
	if end >= len(b) || b[end] != TagEnd {
		return false
	}
	next := b[end+1 : min(end+1+tags, len(b))]
	return len(next) == 0 || next[0] == tagNull || bytes.HasPrefix(begin, next)
}

// needsEnd reports whether blocks of a kind are used only if their end tag is where it
// belongs: if bytes are missing within sequence points and stacks, nothing else shows it,
// and the numbers behind are arbitrary.
func needsEnd(kind BlockKind) bool { return kind == BlockSequencePoint || kind == BlockStacks }

// contents reads the contents of a block. The runtime writes the end tag with them, so that
// waiting for it costs a live stream no time.
func (f *Framer) contents(b *Block, size int) error {
	if !needsEnd(b.Kind) {
		_, err := f.body(b, size, 0)
		return err
	}
	after, err := f.body(b, size, 1)
	if err == nil && len(after) > 0 && after[0] != TagEnd {
		return f.Fail(b.Kind.String(), binread.Malformed("tag %d where %d belongs", after[0], TagEnd))
	}
	return err
}
