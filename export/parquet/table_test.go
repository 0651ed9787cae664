package parquet

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	reader "github.com/parquet-go/parquet-go"

	"github.com/gctrail/gctrail/gc/figure"
)

// Another implementation reads back every value of random tables, of more rows than
// a row group has.
func TestReadBack(t *testing.T) {
	type row []figure.Value
	types := []figure.Type{figure.Int, figure.Bytes, figure.Millis, figure.Percent, figure.Bool, figure.Text, figure.List, figure.Float, figure.Time}
	random := rand.New(rand.NewPCG(1, 2))
	var fields []field[row]
	for i, typ := range types {
		fields = append(fields, field[row]{string(rune('z'-i)) + "_column", typ, func(r row) figure.Value { return r[i] }})
	}
	for _, n := range []int{0, 1, rowsPerGroup, 2*rowsPerGroup + 77} {
		var out bytes.Buffer
		table := newTable(&out, "test", fields)
		var rows []row
		for range n {
			r := make(row, len(types))
			for i, typ := range types {
				if random.IntN(5) > 0 {
					r[i] = figure.Value{
						Type: typ, Int: random.Int64() - random.Int64(),
						Text: strings.Repeat("é\xff", random.IntN(3)) + "x",
					}
					switch typ {
					case figure.Bool:
						r[i].Int &= 1
					case figure.Float, figure.Percent:
						r[i] = figure.Number(typ, random.NormFloat64())
					}
				}
			}
			rows = append(rows, r)
			if err := table.add(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.close(); err != nil {
			t.Fatal(err)
		}
		f, err := reader.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if f.NumRows() != int64(n) {
			t.Fatalf("%d rows, want %d", f.NumRows(), n)
		}
		read := 0
		for _, g := range f.RowGroups() {
			all := g.Rows()
			buffer := make([]reader.Row, 100)
			for {
				count, err := all.ReadRows(buffer)
				for _, r := range buffer[:count] {
					for i, v := range r {
						if !same(v, types[i], rows[read][i]) {
							t.Fatalf("row %d: %s is %v, want %+v", read, fields[i].name, v, rows[read][i])
						}
					}
					read++
				}
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if read != n {
			t.Errorf("%d rows were read, want %d", read, n)
		}
	}
}

func same(v reader.Value, typ figure.Type, want figure.Value) bool {
	if want.Type == figure.Unknown {
		return v.IsNull()
	}
	switch typ {
	case figure.Int, figure.Bytes, figure.Time:
		return v.Int64() == want.Int
	case figure.Millis:
		return v.Double() == float64(want.Int)/1e6
	case figure.Bool:
		return v.Boolean() == (want.Int == 1)
	case figure.Text, figure.List:
		return string(v.ByteArray()) == strings.ToValidUTF8(want.Text, "\ufffd")
	default:
		return v.Double() == want.Float()
	}
}

// An error of the file is not lost.
func TestFull(t *testing.T) {
	table := newTable(full{}, "test", []field[int]{{"n", figure.Int, func(n int) figure.Value { return figure.Value{Type: figure.Int, Int: int64(n)} }}})
	if table.add(1) == nil && table.close() == nil {
		t.Error("no error")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
