package open

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"math"
	"slices"

	"github.com/ulikunitz/xz/lzma"
)

// An xzReader unpacks the streams of an .xz file (xz-file-format.txt 1.2.1), block by
// block. It reads only LZMA2 without further filters, because xz writes nothing
// else by default. It bounds the sizes of dictionaries.
type xzReader struct {
	in    *countingReader
	check byte // the type of the blocks' checks
	hash  hash.Hash
	block *lzma.Reader2 // nil between blocks
	begun int64         // where the data of the block began
	dicts int64         // bytes of all dictionaries so far
	err   error         // that of the last Read
}

const (
	xzMagic = "\xfd7zXZ\x00"
	// maxXZDict bounds the dictionary of a block: xz -9 uses that much. Their sum over
	// all blocks is bounded too, since each is allocated.
	maxXZDict  = 64 << 20
	maxXZDicts = 4 << 30
	lzma2      = 0x21
)

var (
	errXZ      = errors.New("damaged")
	errXZCheck = fmt.Errorf("check of a block: %w", errXZ)
	errXZDict  = fmt.Errorf("dictionary of more than %d MiB", maxXZDict>>20)
)

// xzCheckSizes are the sizes of checks by their type.
var xzCheckSizes = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

// newXZReader reads the header of the first stream and of its first block.
func newXZReader(r *bufio.Reader) (*xzReader, error) {
	z := &xzReader{in: &countingReader{r: r}}
	err := z.streamHeader()
	if err == nil {
		err = z.next()
	}
	if errors.Is(err, io.EOF) { // there is nothing in it
		z.err, err = err, nil
	}
	return z, err
}

func (z *xzReader) Read(p []byte) (n int, err error) {
	for n == 0 && z.err == nil && len(p) > 0 {
		if z.block == nil {
			z.err = z.next()
			continue
		}
		n, err = z.block.Read(p)
		if z.hash != nil {
			z.hash.Write(p[:n])
		}
		if errors.Is(err, io.EOF) {
			err = z.endBlock()
		}
		z.err = err
	}
	return n, z.err
}

// next begins the next block, of the next stream if need be.
func (z *xzReader) next() error {
	for {
		size, err := z.in.ReadByte()
		switch {
		case err != nil:
			return unexpected(err)
		case size != 0:
			return z.beginBlock(size)
		}
		if err := z.passIndex(); err != nil {
			return err
		}
		if err := z.streamHeader(); err != nil {
			return err
		}
	}
}

// streamHeader reads the header of a stream behind padding. The error is io.EOF
// if there is none.
func (z *xzReader) streamHeader() error {
	var b [12]byte
	for {
		if _, err := io.ReadFull(z.in, b[:4]); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(b[:]) != 0 {
			break
		}
	}
	if _, err := io.ReadFull(z.in, b[4:]); err != nil {
		return unexpected(err)
	}
	if string(b[:6]) != xzMagic || b[6] != 0 || b[7] > 0xf || binary.LittleEndian.Uint32(b[8:]) != crc32.ChecksumIEEE(b[6:8]) {
		return fmt.Errorf("stream header: %w", errXZ)
	}
	z.check = b[7]
	return nil
}

// beginBlock reads the rest of a block's header after its first byte.
func (z *xzReader) beginBlock(size byte) error {
	b := make([]byte, 4*(int(size)+1))
	b[0] = size
	if _, err := io.ReadFull(z.in, b[1:]); err != nil {
		return unexpected(err)
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return fmt.Errorf("block header: %w", errXZ)
	}
	flags, fields := body[1], bytes.NewReader(body[2:])
	unpacked := uint64(math.MaxUint64)
	if flags&0x40 != 0 {
		_, _ = binary.ReadUvarint(fields) // the packed size: the data has an end
	}
	if flags&0x80 != 0 {
		n, err := binary.ReadUvarint(fields)
		if err != nil {
			return fmt.Errorf("block header: %w", errXZ)
		}
		unpacked = n
	}
	var filter [3]byte // its id, the size of its properties, and these
	if _, err := io.ReadFull(fields, filter[:]); err != nil || flags&3 != 0 || filter[0] != lzma2 || filter[1] != 1 {
		return errors.New("filters that are not read")
	}
	dict := min(dictSize(filter[2]), max(unpacked, lzma.MinDictCap))
	if dict > maxXZDict {
		return errXZDict
	}
	if z.dicts += int64(dict); z.dicts > maxXZDicts {
		return errors.New("too many blocks")
	}
	z.hash = nil
	switch z.check {
	case 1:
		z.hash = crc32.NewIEEE()
	case 4:
		z.hash = crc64.New(crc64.MakeTable(crc64.ECMA))
	case 10:
		z.hash = sha256.New()
	}
	z.begun = z.in.n
	var err error
	z.block, err = lzma.Reader2Config{DictCap: int(dict)}.NewReader2(z.in)
	return err
}

// dictSize returns the size of the dictionary that a property of LZMA2 encodes.
func dictSize(bits byte) uint64 {
	if bits >= 40 {
		return 1 << 32
	}
	return uint64(2|bits&1) << (bits/2 + 11)
}

// endBlock compares the check behind a block.
func (z *xzReader) endBlock() error {
	padding := int(-(z.in.n - z.begun) & 3)
	b := make([]byte, padding+xzCheckSizes[z.check])
	if _, err := io.ReadFull(z.in, b); err != nil {
		return unexpected(err)
	}
	z.block = nil
	if z.hash == nil {
		return nil
	}
	got := z.hash.Sum(nil)
	if z.check != 10 { // which is not a number
		slices.Reverse(got)
	}
	if !bytes.Equal(got, b[padding:]) {
		return errXZCheck
	}
	return nil
}

// passIndex skips a stream's index, behind its first byte, and footer.
func (z *xzReader) passIndex() error {
	begun := z.in.n - 1
	records, err := binary.ReadUvarint(z.in)
	for n := uint64(0); err == nil && n < 2*records; n++ {
		_, err = binary.ReadUvarint(z.in)
	}
	if err == nil {
		_, err = io.CopyN(io.Discard, z.in, -(z.in.n-begun)&3+4+12)
	}
	return unexpected(err)
}

// unexpected replaces io.EOF, which is unexpected within a part of a file.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A countingReader counts the bytes that are read.
type countingReader struct {
	r *bufio.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}
