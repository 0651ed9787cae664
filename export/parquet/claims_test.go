package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/trace"
)

// claims is what a file with one column and one page says of itself.
type claims struct {
	name                             string
	typ, repetition, codec           int32
	count, rows                      int64 // in all, and of the group
	groups, chunks                   int
	offset, compressed, uncompressed int64
	sum                              string // of the footer, unless empty
	after                            []byte // the footer's end
	pageKind, pageRows               int32
	pageSum                          int64 // -1 for none
	plain                            []byte
	packed                           []byte // in place of plain
}

// sound returns the claims of a file with the numbers 5 and, after an unknown one, 6.
func sound() *claims {
	plain := []byte{6, 0, 0, 0, 1 << 1, 1, 1 << 1, 0, 1 << 1, 1}
	plain = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(plain, 5), 6)
	return &claims{
		name: "n", typ: typeInt64, repetition: optional, codec: codecZstd, count: 3, rows: 3, groups: 1, chunks: 1,
		offset: 4, uncompressed: int64(len(plain)), pageKind: pageData, pageRows: 3, plain: plain, compressed: -7,
	}
}

func (c *claims) file() []byte {
	packed := c.packed
	if packed == nil {
		encoder, _ := zstd.NewWriter(nil)
		packed = encoder.EncodeAll(c.plain, nil)
	}
	var page thrift
	page.open()
	page.i32(1, c.pageKind)
	page.i32(2, int32(len(c.plain)))
	if c.pageSum >= 0 {
		page.i32(4, int32(uint32(c.pageSum)^crc32.ChecksumIEEE(packed)))
	}
	page.begin(5)
	page.i32(1, c.pageRows)
	page.i32(2, encodingPlain)
	page.end()
	page.end()
	data := append(page.dst, packed...)
	if c.compressed == -7 {
		c.compressed = int64(len(data))
	}
	var f thrift
	f.open()
	f.i32(1, 1)
	f.list(2, thriftStruct, 2)
	f.open()
	f.text(4, "test")
	f.end()
	f.open()
	if c.typ >= 0 {
		f.i32(1, c.typ)
	}
	f.i32(3, c.repetition)
	f.text(4, c.name)
	f.end()
	f.i64(3, c.count)
	f.list(4, thriftStruct, c.groups)
	for range c.groups {
		f.open()
		f.list(1, thriftStruct, c.chunks)
		for range c.chunks {
			f.open()
			f.begin(3)
			f.i32(4, c.codec)
			f.i64(6, c.uncompressed)
			f.i64(7, c.compressed)
			f.i64(9, c.offset)
			f.end()
			f.end()
		}
		f.i64(3, c.rows)
		f.end()
	}
	if c.sum != "" {
		f.list(5, thriftStruct, 1)
		f.open()
		f.text(1, footerSum)
		f.text(2, c.sum)
		f.end()
	}
	f.end()
	footer := append(f.dst, c.after...)
	file := slices.Concat([]byte(magic), data, footer)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), magic...)
}

// TestClaims: what a file says of itself is believed only as far as it can be, and no more of
// the format than is written is read.
func TestClaims(t *testing.T) {
	const malformed, unsupported = "malformed", "unsupported"
	for _, c := range []struct {
		name   string
		change func(*claims)
		want   string
	}{
		{"sound", func(*claims) {}, ""},
		{"no checksum of the page", func(c *claims) { c.pageSum = -1 }, ""},
		{"another name", func(c *claims) { c.name = "m" }, ""}, // so that all is unknown
		{"no type", func(c *claims) { c.typ = -1 }, unsupported},
		{"another type", func(c *claims) { c.typ = typeDouble }, unsupported},
		{"a required column", func(c *claims) { c.repetition = 0 }, unsupported},
		{"another compression", func(c *claims) { c.codec = 1 }, unsupported},
		{"another number of rows", func(c *claims) { c.count = 4 }, malformed},
		{"two groups", func(c *claims) { c.groups = 2 }, malformed},
		{"two groups that are counted", func(c *claims) { c.groups, c.count = 2, 6 }, ""},
		{"negative rows", func(c *claims) { c.rows, c.count = -1, -1 }, malformed},
		{"more rows than bytes stand for", func(c *claims) { c.rows, c.count = 1<<20, 1<<20 }, malformed},
		{"more rows than a page has", func(c *claims) { c.rows, c.count = maxPage+1, maxPage+1 }, malformed},
		{"no chunk", func(c *claims) { c.chunks = 0 }, malformed},
		{"two chunks", func(c *claims) { c.chunks = 2 }, malformed},
		{"a negative place", func(c *claims) { c.offset = -1 }, malformed},
		{"a negative size", func(c *claims) { c.compressed = -1 }, malformed},
		{"a place beyond the file", func(c *claims) { c.offset = 1 << 40 }, malformed},
		{"a size beyond the file", func(c *claims) { c.compressed = 1 << 40 }, malformed},
		{"much that is unpacked", func(c *claims) { c.uncompressed = maxPage + 1 }, malformed},
		{"just as much as may be", func(c *claims) { c.uncompressed = maxPage }, ""},
		{"bytes after the footer", func(c *claims) { c.after = []byte{0} }, malformed},
		{"another checksum of the footer", func(c *claims) { c.sum = "1" }, malformed},
		{"a page of a dictionary", func(c *claims) { c.pageKind = 2 }, unsupported},
		{"a page of other rows", func(c *claims) { c.pageRows = 2 }, unsupported},
		{"another checksum of the page", func(c *claims) { c.pageSum = 1 }, malformed},
		{"nothing packed", func(c *claims) { c.packed = []byte{1, 2, 3, 4, 5} }, malformed},
		{"no length of the levels", func(c *claims) { c.plain = c.plain[:3] }, malformed},
		{"only levels", func(c *claims) { c.plain = c.plain[:10] }, "cut"},
		{"levels that are cut", func(c *claims) { c.plain = c.plain[:9] }, malformed},
		{"a value that is cut", func(c *claims) { c.plain = c.plain[:25] }, "cut last"},
		{"bits in place of runs", func(c *claims) { c.plain[4] |= 1 }, "cut"},
	} {
		of := sound()
		c.change(of)
		file := of.file()
		want := [][]figure.Value{{integer(5)}, {{}}, {integer(6)}}
		switch c.want {
		case "cut":
			want[0], want[2] = want[1], want[1]
		case "cut last":
			want[2] = want[1]
		}
		var err error
		n := 0
		r, err := NewReader(bytes.NewReader(file), int64(len(file)))
		if err == nil {
			for row, failed := range r.Rows([]Column{{"n", figure.Int}}) {
				if err = failed; err != nil {
					break
				}
				if of.name == "n" && row[0] != want[n%3][0] || of.name != "n" && row[0] != (figure.Value{}) {
					t.Errorf("%s: row %d is %+v", c.name, n, row)
				}
				n++
			}
			r.Close()
		}
		switch {
		case c.want == malformed && !errors.Is(err, trace.ErrMalformed), c.want == unsupported && !errors.Is(err, trace.ErrUnsupported):
			t.Errorf("%s: %v", c.name, err)
		case c.want != malformed && c.want != unsupported && (err != nil || n != int(of.count)):
			t.Errorf("%s: %d rows, %v", c.name, n, err)
		}
	}
}
