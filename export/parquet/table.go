// Package parquet writes the contents of a trace as flat tables for DuckDB,
// ClickHouse, Spark and pandas: collections, their pauses and generations, and
// allocations. Names of columns include the unit; unknown values are null.
//
// Every column is optional and plainly encoded, and compressed with zstd: the
// subset of the format that all readers support. See parquet-format's README.md
// and parquet.thrift.
package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/gctrail/gctrail/gc/figure"
)

const magic = "PAR1"

// rowsPerGroup and groupBytes bound the rows that are held in memory until they are
// written.
const (
	rowsPerGroup = 1 << 13
	groupBytes   = 16 << 20
)

// Enumerations of parquet.thrift.
const (
	typeBoolean   = 0
	typeInt64     = 2
	typeDouble    = 5
	typeByteArray = 6

	optional      = 1 // FieldRepetitionType
	convertedUTF8 = 0 // ConvertedType
	encodingPlain = 0
	encodingRLE   = 3
	codecZstd     = 6
	pageData      = 0
)

// A field is one column of a table of rows of one kind.
type field[R any] struct {
	name  string
	typ   figure.Type
	value func(R) figure.Value
}

// A table writes rows. Only what takes a row depends on its kind: the rest is compiled once.
type table[R any] struct {
	file
	values []func(R) figure.Value // of the columns
}

// A file is written in groups of rows.
type file struct {
	out     io.Writer
	name    string // of the table
	columns []column
	rows    int   // that are not written yet
	offset  int64 // in the file
	groups  []group
	zstd    *zstd.Encoder
	err     error
}

// A column has the values of the rows that are not written yet.
type column struct {
	buffer
	name string
	typ  figure.Type
}

// A buffer holds the values of one column.
type buffer struct {
	known  []bool
	values []byte
	bits   int // of values, if they are booleans
}

// A group is a row group as the footer describes it.
type group struct {
	rows   int
	chunks []chunk
}

// A chunk is a column of a row group.
type chunk struct {
	offset       int64
	uncompressed int64
	compressed   int64
}

func newTable[R any](w io.Writer, name string, fields []field[R]) *table[R] {
	t := &table[R]{file: file{out: w, name: name}}
	for _, f := range fields {
		t.columns = append(t.columns, column{name: f.name, typ: f.typ})
		t.values = append(t.values, f.value)
	}
	t.zstd, t.err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	t.write([]byte(magic))
	return t
}

func (t *file) write(p []byte) {
	if t.err != nil {
		return
	}
	_, t.err = t.out.Write(p)
	t.offset += int64(len(p))
}

// add adds a row.
func (t *table[R]) add(r R) error {
	size := 0
	for i, value := range t.values {
		c := &t.columns[i]
		c.add(c.typ, value(r))
		size += len(c.values)
	}
	if t.rows++; t.rows == rowsPerGroup || size >= groupBytes {
		t.flush()
	}
	return t.err
}

// close writes the rest and the footer.
func (t *file) close() error {
	t.flush()
	footer := t.footer()
	t.write(footer)
	t.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	t.write([]byte(magic))
	return t.err
}

// flush writes the buffered rows as a row group.
func (t *file) flush() {
	if t.rows == 0 || t.err != nil {
		return
	}
	g := group{rows: t.rows}
	for i := range t.columns {
		g.chunks = append(g.chunks, t.page(&t.columns[i].buffer))
	}
	t.groups = append(t.groups, g)
	t.rows = 0
}

// page writes a column as one page, and empties its buffer.
func (t *file) page(b *buffer) chunk {
	levels := b.levels()
	data := binary.LittleEndian.AppendUint32(nil, uint32(len(levels)))
	data = append(append(data, levels...), b.values...)
	packed := t.zstd.EncodeAll(data, nil)

	var header thrift
	header.open()
	header.i32(1, pageData)
	header.i32(2, int32(len(data)))
	header.i32(3, int32(len(packed)))
	header.i32(4, int32(crc32.ChecksumIEEE(packed)))
	header.begin(5) // DataPageHeader
	header.i32(1, int32(len(b.known)))
	header.i32(2, encodingPlain)
	header.i32(3, encodingRLE) // of definition levels
	header.i32(4, encodingRLE) // of repetition levels; there are none
	header.end()
	header.end()

	c := chunk{t.offset, int64(len(header.dst) + len(data)), int64(len(header.dst) + len(packed))}
	t.write(header.dst)
	t.write(packed)
	b.known, b.values, b.bits = b.known[:0], b.values[:0], 0
	return c
}

// footerSum is the key of the checksum of what precedes it in the FileMetaData. The format
// itself has checksums for pages only.
const footerSum = "gctrail.crc32"

// footer returns the FileMetaData.
func (t *file) footer() []byte {
	var f thrift
	rows := 0
	for i := range t.groups {
		rows += t.groups[i].rows
	}
	f.open()
	f.i32(1, 1) // version
	f.list(2, thriftStruct, len(t.columns)+1)
	f.open()
	f.text(4, t.name)
	f.i32(5, int32(len(t.columns)))
	f.end()
	for i := range t.columns {
		typ := physical(t.columns[i].typ)
		f.open()
		f.i32(1, typ)
		f.i32(3, optional)
		f.text(4, t.columns[i].name)
		switch {
		case typ == typeByteArray:
			f.i32(6, convertedUTF8)
		case t.columns[i].typ == figure.Time:
			f.timestamp()
		}
		f.end()
	}
	f.i64(3, int64(rows))
	f.list(4, thriftStruct, len(t.groups))
	for i := range t.groups {
		t.rowGroup(&f, &t.groups[i])
	}
	sum := strconv.FormatUint(uint64(crc32.ChecksumIEEE(f.dst)), 16)
	f.list(5, thriftStruct, 1) // key_value_metadata
	f.open()
	f.text(1, footerSum)
	f.text(2, sum)
	f.end()
	f.text(6, "gctrail")
	f.end()
	return f.dst
}

func (t *file) rowGroup(f *thrift, g *group) {
	size := int64(0)
	f.open()
	f.list(1, thriftStruct, len(g.chunks))
	for i, c := range g.chunks {
		size += c.uncompressed
		f.open() // ColumnChunk
		f.i64(2, c.offset)
		f.begin(3) // ColumnMetaData
		f.i32(1, physical(t.columns[i].typ))
		f.list(2, thriftI32, 2)
		f.dst = binary.AppendVarint(f.dst, encodingPlain)
		f.dst = binary.AppendVarint(f.dst, encodingRLE)
		f.list(3, thriftBinary, 1)
		f.element(t.columns[i].name)
		f.i32(4, codecZstd)
		f.i64(5, int64(g.rows))
		f.i64(6, c.uncompressed)
		f.i64(7, c.compressed)
		f.i64(9, c.offset)
		f.end()
		f.end()
	}
	f.i64(2, size)
	f.i64(3, int64(g.rows))
	f.end()
}

// physical returns how values of a type are stored.
func physical(t figure.Type) int32 {
	switch t {
	case figure.Int, figure.Bytes, figure.Time:
		return typeInt64
	case figure.Float, figure.Percent, figure.Millis:
		return typeDouble
	case figure.Bool:
		return typeBoolean
	default:
		return typeByteArray
	}
}

// add adds a value. A value of another type than the column's is null.
func (b *buffer) add(typ figure.Type, v figure.Value) {
	known := v.Type == typ
	b.known = append(b.known, known)
	if !known {
		return
	}
	switch physical(typ) {
	case typeInt64:
		b.values = binary.LittleEndian.AppendUint64(b.values, uint64(v.Int))
	case typeDouble:
		f, _ := v.InFiles()
		b.values = binary.LittleEndian.AppendUint64(b.values, math.Float64bits(f))
	case typeBoolean:
		if b.bits%8 == 0 {
			b.values = append(b.values, 0)
		}
		b.values[b.bits/8] |= byte(v.Int&1) << (b.bits % 8)
		b.bits++
	default:
		text := strings.ToValidUTF8(strings.TrimSuffix(v.Text, "\n"), "\ufffd")
		b.values = binary.LittleEndian.AppendUint32(b.values, uint32(len(text)))
		b.values = append(b.values, text...)
	}
}

// levels returns the definition levels, 1 for what is known, as runs.
func (b *buffer) levels() []byte {
	var runs []byte
	for i := 0; i < len(b.known); {
		n := i
		for n < len(b.known) && b.known[n] == b.known[i] {
			n++
		}
		level := byte(0)
		if b.known[i] {
			level = 1
		}
		runs = append(binary.AppendUvarint(runs, uint64(n-i)<<1), level)
		i = n
	}
	return runs
}
