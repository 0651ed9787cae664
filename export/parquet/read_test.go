package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/export/parquet"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/trace"
)

var testColumns = []parquet.Column{
	{Name: "name", Type: figure.Text},
	{Name: "count", Type: figure.Int},
	{Name: "ok", Type: figure.Bool},
	{Name: "took_ms", Type: figure.Millis},
	{Name: "share_pct", Type: figure.Percent},
}

// testRow is row i; every third value is unknown.
func testRow(i int) []figure.Value {
	row := []figure.Value{
		{Type: figure.Text, Text: fmt.Sprint("row ", i)},
		{Type: figure.Int, Int: int64(i) << 40},
		{Type: figure.Bool, Int: int64(i % 2)},
		{Type: figure.Millis, Int: int64(i) * 1001},
		figure.Number(figure.Percent, float64(i)/3),
	}
	for c := range row {
		if (i+c)%3 == 0 {
			row[c] = figure.Value{}
		}
	}
	return row
}

func testTable(t testing.TB, rows int) []byte {
	t.Helper()
	var file bytes.Buffer
	w := parquet.NewRowWriter(&file, "test", testColumns)
	for i := range rows {
		if err := w.Add(testRow(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// read reads a table to its end, and returns the error that ended it.
func read(file []byte, want []parquet.Column, each func(row []figure.Value)) error {
	r, err := parquet.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	defer r.Close()
	for row, err := range r.Rows(want) {
		if err != nil {
			return err
		}
		each(row)
	}
	return nil
}

func TestRead(t *testing.T) {
	const rows = 20_000 // several row groups
	i := 0
	err := read(testTable(t, rows), testColumns, func(row []figure.Value) {
		for c, want := range testRow(i) {
			if row[c] != want {
				t.Fatalf("row %d, column %d: %+v, want %+v", i, c, row[c], want)
			}
		}
		i++
	})
	if err != nil || i != rows {
		t.Errorf("%d rows, %v", i, err)
	}
}

// TestReadOthers asks for columns that the table does not have, or has otherwise.
func TestReadOthers(t *testing.T) {
	file := testTable(t, 10)
	i := 0
	err := read(file, []parquet.Column{{Name: "none", Type: figure.Int}, testColumns[0]}, func(row []figure.Value) {
		if row[0] != (figure.Value{}) || row[1] != testRow(i)[0] {
			t.Errorf("row %d: %+v", i, row)
		}
		i++
	})
	if err != nil || i != 10 {
		t.Errorf("%d rows, %v", i, err)
	}
	if err := read(file, []parquet.Column{{Name: "name", Type: figure.Int}}, func([]figure.Value) {}); !errors.Is(err, trace.ErrUnsupported) {
		t.Errorf("another type: %v", err)
	}
}

// TestReadDamaged cuts a table everywhere and flips its bytes: it is refused, or
// read without a panic.
func TestReadDamaged(t *testing.T) {
	file := testTable(t, 100)
	for cut := range file {
		if err := read(file[:cut], testColumns, func([]figure.Value) {}); err == nil {
			t.Fatalf("cut at %d: no error", cut)
		}
	}
	for at := range file {
		damaged := bytes.Clone(file)
		damaged[at] ^= 0xff
		rows := 0
		_ = read(damaged, testColumns, func([]figure.Value) { rows++ })
		if rows > 100_000 {
			t.Fatalf("byte %d: %d rows", at, rows)
		}
	}
}

// TestReadBits flips a bit of each byte: no value is another one, and no row is missing
// without an error.
func TestReadBits(t *testing.T) {
	const rows = 100
	file := testTable(t, rows)
	for at := range file {
		damaged := bytes.Clone(file)
		damaged[at] ^= 1 << (at % 8)
		i := 0
		err := read(damaged, testColumns, func(row []figure.Value) {
			if !slices.Equal(row, testRow(i)) {
				t.Errorf("byte %d: row %d is %+v", at, i, row)
			}
			i++
		})
		if err == nil && i != rows {
			t.Errorf("byte %d: %d rows", at, i)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(testTable(f, 5))
	f.Fuzz(func(_ *testing.T, file []byte) {
		_ = read(file, testColumns, func([]figure.Value) {})
	})
}
