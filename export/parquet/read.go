package parquet

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/trace"
)

// Bounds on a file's claims.
const (
	maxFooter  = 16 << 20
	maxPage    = 64 << 20 // unpacked
	maxColumns = 4096
	maxGroups  = 1 << 16
	// maxPacked bounds the rows that a byte of a file may stand for.
	maxPacked = 1 << 10
)

// errSum reports bytes that differ from the written ones.
var errSum = fmt.Errorf("%w: another checksum", trace.ErrMalformed)

// A Reader reads tables as this package writes them: optional columns, plainly
// encoded, one page of a column in each row group, zstd. Files of other writers,
// which use more of the format, are refused with trace.ErrUnsupported.
type Reader struct {
	in      io.ReaderAt
	size    int64
	columns []stored
	groups  []group
	zstd    *zstd.Decoder
}

// stored is a column of a file.
type stored struct {
	name string
	typ  int64 // physical
}

// NewReader returns a reader of the size bytes of in. Close releases its memory.
func NewReader(in io.ReaderAt, size int64) (*Reader, error) {
	r := &Reader{in: in, size: size}
	tail := make([]byte, 8)
	if size < int64(2*len(magic)+4) {
		return nil, r.refuse(size, trace.ErrTruncated)
	}
	if _, err := in.ReadAt(tail, size-8); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != magic {
		return nil, r.refuse(size-4, trace.ErrTruncated)
	}
	if length > maxFooter || length > size-12 {
		return nil, r.refuse(size-8, trace.ErrMalformed)
	}
	footer := make([]byte, length)
	if _, err := in.ReadAt(footer, size-8-length); err != nil {
		return nil, err
	}
	if err := r.footer(footer); err != nil {
		return nil, r.refuse(size-8-length, err)
	}
	var err error
	r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage))
	return r, err
}

// Close releases the reader's memory.
func (r *Reader) Close() { r.zstd.Close() }

func (r *Reader) refuse(at int64, err error) error {
	return &trace.FormatError{Format: "parquet", Off: at, Section: "footer", Err: err}
}

// footer reads the FileMetaData.
func (r *Reader) footer(b []byte) error {
	p := parser{src: b}
	sum, count := "", int64(-1)
	p.structure(readers{
		2: func() { r.schema(&p) },
		3: func() { count = p.varint() },
		4: func() {
			for range p.listOf(maxGroups) {
				r.group(&p)
			}
			sum = strconv.FormatUint(uint64(crc32.ChecksumIEEE(b[:len(b)-len(p.src)])), 16)
		},
		5: func() {
			for range p.listOf(maxColumns) {
				if key, value := p.keyValue(); key == footerSum && value != sum {
					p.fail(errSum)
				}
			}
		},
	})
	rows := 0
	for i := range r.groups {
		rows += r.groups[i].rows
		if len(r.groups[i].chunks) != len(r.columns) || int64(rows) > r.size*maxPacked {
			p.fail(trace.ErrMalformed)
		}
	}
	if int64(rows) != count || len(p.src) > 0 {
		p.fail(trace.ErrMalformed)
	}
	return p.err
}

// schema reads the columns; the first element is the root.
func (r *Reader) schema(p *parser) {
	for i := range p.listOf(maxColumns) {
		c := stored{typ: -1}
		repetition := int64(optional)
		p.structure(readers{
			1: func() { c.typ = p.varint() },
			3: func() { repetition = p.varint() },
			4: func() { c.name = p.text() },
		})
		if i == 0 {
			continue
		}
		if c.typ < 0 || repetition != optional {
			p.fail(trace.ErrUnsupported)
		}
		r.columns = append(r.columns, c)
	}
}

func (r *Reader) group(p *parser) {
	var g group
	p.structure(readers{
		1: func() {
			for range p.listOf(maxColumns) {
				g.chunks = append(g.chunks, r.chunk(p))
			}
		},
		3: func() {
			rows := p.varint()
			if rows < 0 || rows > maxPage {
				p.fail(trace.ErrMalformed)
			}
			g.rows = int(rows)
		},
	})
	r.groups = append(r.groups, g)
}

// chunk reads a ColumnChunk with its ColumnMetaData.
func (r *Reader) chunk(p *parser) chunk {
	var c chunk
	codec := int64(-1)
	metadata := readers{
		4: func() { codec = p.varint() },
		6: func() { c.uncompressed = p.varint() },
		7: func() { c.compressed = p.varint() },
		9: func() { c.offset = p.varint() },
	}
	p.structure(readers{3: func() { p.structure(metadata) }})
	if codec != codecZstd {
		p.fail(trace.ErrUnsupported)
	}
	if c.offset < 0 || c.compressed < 0 || c.compressed > r.size || c.offset > r.size-c.compressed || c.compressed > maxPage || c.uncompressed > maxPage {
		p.fail(trace.ErrMalformed)
	}
	return c
}

// Rows yields the rows, with a value for each of the wanted columns; a column that
// the file does not have is unknown. The row belongs to the reader until the next
// step. An error comes last.
func (r *Reader) Rows(want []Column) func(yield func([]figure.Value, error) bool) {
	return func(yield func([]figure.Value, error) bool) {
		row := make([]figure.Value, len(want))
		columns := make([]values, len(want))
		for _, g := range r.groups {
			for i, w := range want {
				if err := r.load(&columns[i], &g, w); err != nil {
					yield(nil, err)
					return
				}
			}
			for range g.rows {
				for i := range columns {
					row[i] = columns[i].next()
				}
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// load prepares the values of a column of a row group.
func (r *Reader) load(v *values, g *group, want Column) error {
	packed, plain := v.packed, v.plain
	*v = values{want: want.Type, packed: packed, plain: plain[:0]}
	for i, c := range r.columns {
		if c.name != want.Name {
			continue
		}
		if c.typ != int64(physical(want.Type)) {
			return r.refuse(g.chunks[i].offset, fmt.Errorf("column %s has another type: %w", c.name, trace.ErrUnsupported))
		}
		if err := r.page(v, &g.chunks[i], g.rows); err != nil {
			return &trace.FormatError{Format: "parquet", Off: g.chunks[i].offset, Section: "column " + c.name, Err: err}
		}
	}
	return nil
}

// page unpacks the page of a chunk.
func (r *Reader) page(v *values, c *chunk, rows int) error {
	if int64(cap(v.packed)) < c.compressed {
		v.packed = make([]byte, c.compressed)
	}
	v.packed = v.packed[:c.compressed]
	if _, err := r.in.ReadAt(v.packed, c.offset); err != nil {
		return err
	}
	p := parser{src: v.packed}
	kind, count, sum := int64(-1), int64(-1), int64(-1)
	dataPage := readers{1: func() { count = p.varint() }}
	p.structure(readers{
		1: func() { kind = p.varint() },
		4: func() { sum = int64(uint32(p.varint())) },
		5: func() { p.structure(dataPage) },
	})
	if p.err != nil {
		return p.err
	}
	if kind != pageData || count != int64(rows) {
		return trace.ErrUnsupported
	}
	if sum >= 0 && uint32(sum) != crc32.ChecksumIEEE(p.src) {
		return errSum
	}
	var err error
	if v.plain, err = r.zstd.DecodeAll(p.src, v.plain); err != nil {
		return trace.ErrMalformed
	}
	if len(v.plain) < 4 {
		return trace.ErrMalformed
	}
	length := uint64(binary.LittleEndian.Uint32(v.plain))
	if length > uint64(len(v.plain)-4) {
		return trace.ErrMalformed
	}
	v.levels, v.rest = v.plain[4:4+length], v.plain[4+length:]
	return nil
}

// values walks the values of a column of a row group. What is cut is unknown.
type values struct {
	want          figure.Type
	packed, plain []byte

	levels []byte // the runs that are left
	run    uint64 // rows left in the run
	known  bool   // of the run
	rest   []byte // of the values
	bit    int    // in the first byte of rest
}

func (v *values) next() figure.Value {
	for v.run == 0 {
		header, n := binary.Uvarint(v.levels)
		if n <= 0 || n >= len(v.levels) || header&1 != 0 {
			return figure.Value{}
		}
		v.run, v.known = header>>1, v.levels[n] != 0
		v.levels = v.levels[n+1:]
	}
	if v.run--; !v.known {
		return figure.Value{}
	}
	switch physical(v.want) {
	case typeBoolean:
		if len(v.rest) == 0 {
			return figure.Value{}
		}
		one := int64(v.rest[0] >> v.bit & 1)
		if v.bit++; v.bit == 8 {
			v.rest, v.bit = v.rest[1:], 0
		}
		return figure.Value{Type: figure.Bool, Int: one}
	case typeByteArray:
		if len(v.rest) < 4 {
			return figure.Value{}
		}
		n := uint64(binary.LittleEndian.Uint32(v.rest))
		if n > uint64(len(v.rest)-4) {
			return figure.Value{}
		}
		text := string(v.rest[4 : 4+n])
		v.rest = v.rest[4+n:]
		return figure.Value{Type: v.want, Text: text}
	}
	if len(v.rest) < 8 {
		return figure.Value{}
	}
	bits := binary.LittleEndian.Uint64(v.rest)
	v.rest = v.rest[8:]
	if v.want == figure.Millis {
		return figure.Value{Type: v.want, Int: int64(math.Round(math.Float64frombits(bits) * float64(time.Millisecond)))}
	}
	return figure.Value{Type: v.want, Int: int64(bits)}
}
