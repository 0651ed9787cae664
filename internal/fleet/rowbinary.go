package fleet

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc/figure"
)

// Rows are sent and queued in ClickHouse's format RowBinary: numbers in little endian,
// strings after their length, and before each nullable value a byte that is 1 for null.

// maxText bounds a text of a row, in bytes.
const maxText = 4 << 10

// appendRow appends a row of t.
func (t *Table) appendRow(dst []byte, r Row) []byte {
	for i := range t.Columns {
		dst = t.Columns[i].appendValue(dst, r[i], t.required[i])
	}
	return dst
}

func (c *Column) appendValue(dst []byte, v figure.Value, required bool) []byte {
	known := v.Type == c.Type
	switch {
	case c.Type == figure.Text:
		text := v.Text
		if len(text) > maxText {
			text = text[:maxText]
		}
		text = strings.ToValidUTF8(text, "\ufffd")
		dst = binary.AppendUvarint(dst, uint64(len(text)))
		return append(dst, text...)
	case !known && !required:
		return append(dst, 1)
	case !required:
		dst = append(dst, 0)
	}
	switch c.Type {
	case figure.Bool:
		return append(dst, byte(v.Int&1))
	case figure.Int, figure.Bytes:
		return binary.LittleEndian.AppendUint64(dst, uint64(v.Int))
	default:
		n, _ := v.InFiles()
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(n))
	}
}

var errRow = errors.New("a row is cut")

// readRow reads a row of t into r, which has a value for each column, and returns the
// bytes after it. It copies text.
func (t *Table) readRow(r Row, src []byte) ([]byte, error) {
	for i := range t.Columns {
		var err error
		if r[i], src, err = t.Columns[i].readValue(src, t.required[i]); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// decode yields encoded rows. The row is valid until the next step.
func (t *Table) decode(src []byte) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		row := make(Row, len(t.Columns))
		for len(src) > 0 {
			rest, err := t.readRow(row, src)
			if err != nil {
				yield(nil, err)
				return
			}
			if src = rest; !yield(row, nil) {
				return
			}
		}
	}
}

func (c *Column) readValue(src []byte, required bool) (figure.Value, []byte, error) {
	if c.Type == figure.Text {
		n, width := binary.Uvarint(src)
		if width <= 0 || n > uint64(len(src)-width) {
			return figure.Value{}, nil, errRow
		}
		src = src[width:]
		if n == 0 {
			return figure.Value{}, src, nil
		}
		return figure.Value{Type: figure.Text, Text: string(src[:n])}, src[n:], nil
	}
	if !required {
		if len(src) == 0 {
			return figure.Value{}, nil, errRow
		}
		null := src[0] != 0
		if src = src[1:]; null {
			return figure.Value{}, src, nil
		}
	}
	size := 8
	if c.Type == figure.Bool {
		size = 1
	}
	if len(src) < size {
		return figure.Value{}, nil, errRow
	}
	v := figure.Value{Type: c.Type}
	switch c.Type {
	case figure.Bool:
		v.Int = int64(src[0] & 1)
	case figure.Int, figure.Bytes:
		v.Int = int64(binary.LittleEndian.Uint64(src))
	default:
		v = number(c.Type, math.Float64frombits(binary.LittleEndian.Uint64(src)))
	}
	return v, src[size:], nil
}

// number converts a float to a value of the type. The value is unknown if the type cannot
// hold it.
func number(typ figure.Type, f float64) figure.Value {
	const most = 1 << 53 // of the integers that a float holds exactly
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return figure.Value{}
	case typ == figure.Millis:
		if f = math.Round(f * float64(time.Millisecond)); math.Abs(f) > math.MaxInt64/2 {
			return figure.Value{}
		}
		return figure.Value{Type: typ, Int: int64(f)}
	case typ == figure.Float || typ == figure.Percent:
		return figure.Number(typ, f)
	case (typ == figure.Int || typ == figure.Bytes) && f == math.Trunc(f) && math.Abs(f) <= most:
		return figure.Value{Type: typ, Int: int64(f)}
	default:
		return figure.Value{}
	}
}
