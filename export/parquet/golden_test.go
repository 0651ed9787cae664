package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	reader "github.com/parquet-go/parquet-go"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// list writes what another implementation reads of a file: its columns, and its first rows.
func list(t *testing.T, b *strings.Builder, file []byte) {
	t.Helper()
	const most = 3
	f, err := reader.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	m := f.Metadata()
	fmt.Fprintf(b, "version %d, by %s, %d rows\n", m.Version, m.CreatedBy, m.NumRows)
	for i := range m.Schema {
		e := &m.Schema[i]
		fmt.Fprintf(b, "  %s: %v %v %v %v %v\n", e.Name, e.Type, e.RepetitionType, e.NumChildren, e.ConvertedType, e.LogicalType)
	}
	at := int64(len(magic))
	for g, group := range m.RowGroups {
		size := int64(0)
		for c := range group.Columns {
			of := &group.Columns[c].MetaData
			if of.DataPageOffset != at || group.Columns[c].FileOffset != at || of.NumValues != group.NumRows || of.PathInSchema[0] != m.Schema[1+c].Name || fmt.Sprint(of.Codec, of.Encoding) != "ZSTD [PLAIN RLE]" {
				t.Errorf("group %d, column %d, expected at %d: %.200v", g, c, at, of)
			}
			at += of.TotalCompressedSize
			size += of.TotalUncompressedSize
		}
		if group.TotalByteSize != size {
			t.Errorf("group %d has %d bytes, its columns %d", g, group.TotalByteSize, size)
		}
	}
	rows := make([]reader.Row, most)
	all := f.RowGroups()[0].Rows()
	defer all.Close()
	n, err := all.ReadRows(rows)
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	for _, row := range rows[:n] {
		for _, v := range row {
			fmt.Fprintf(b, "  %q", v.String())
		}
		fmt.Fprintln(b)
	}
}

// TestTables compares the tables of real traces, as another implementation reads them, to a
// golden file.
func TestTables(t *testing.T) {
	in, err := open.File("../../testdata/net10-wks-stacks.nettrace.gz", open.Options{Stacks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	start := func() time.Time { return in.Source.Info().Start }
	var collections, pauses, generations, events, allocations bytes.Buffer
	var columns []figure.Figure
	for _, key := range []string{"process", "number", "condemned", "pause_ms", "heap_after_bytes", "memory_load_pct", "compacted"} {
		f, _ := figure.Named(key)
		columns = append(columns, f)
	}
	tables := []*Writer{Collections(&collections, start, columns), Pauses(&pauses), Generations(&generations)}
	raw := NewEvents(&events)
	var table symbol.Table
	allocs := alloc.Model{Stacks: symbol.NewStacks(&table)}
	each := pass.Raw(func(*trace.Descriptor) bool { return true }, func(ev *trace.Event) {
		if err := raw.Add(start(), ev); err != nil {
			t.Error(err)
		}
	})
	var model gc.Model
	var process *gc.Process
	for c, err := range model.Collections(in.Source, pass.Raw(symbol.Wants, table.Feed), &allocs, each) {
		if err != nil {
			t.Fatal(err)
		}
		process = c.Process
		for _, w := range tables {
			if err := w.Add(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = raw.Close()
	for _, w := range tables {
		err = errors.Join(err, w.Close())
	}
	of := &export.Allocations{Process: process, Stacks: allocs.Stacks, Rows: allocs.Rows(process.PID, alloc.Tick, alloc.ByType|alloc.ByStack)}
	if err := errors.Join(err, WriteAllocations(&allocations, []*export.Allocations{of})); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, file := range []*bytes.Buffer{&collections, &pauses, &generations, &events, &allocations} {
		list(t, &b, file.Bytes())
	}
	extent.Golden(t, "testdata/tables.txt", b.String())
}

// TestManyColumns: lists of 15 elements and more have another head in the footer.
func TestManyColumns(t *testing.T) {
	for _, n := range []int{1, 12, 13, 14, 15, 200} {
		var columns []Column
		row := make([]figure.Value, n)
		for i := range n {
			columns = append(columns, Column{fmt.Sprint("column ", i), figure.Int})
			row[i] = integer(int64(i))
		}
		var out bytes.Buffer
		w := NewRowWriter(&out, "test", columns)
		if err := errors.Join(w.Add(row), w.Close()); err != nil {
			t.Fatal(err)
		}
		f, err := reader.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil || len(f.Schema().Fields()) != n {
			t.Fatalf("%d columns: %v", n, err)
		}
		r, err := NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatalf("%d columns: %v", n, err)
		}
		for got, err := range r.Rows(columns) {
			if err != nil || fmt.Sprint(got) != fmt.Sprint(row) {
				t.Errorf("%d columns: %v, %v", n, got, err)
			}
		}
		r.Close()
	}
}

// TestNoRows: a table without rows can be read.
func TestNoRows(t *testing.T) {
	var out bytes.Buffer
	if err := NewRowWriter(&out, "test", []Column{{"n", figure.Int}}).Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for row, err := range r.Rows([]Column{{"n", figure.Int}}) {
		t.Errorf("row %v, %v", row, err)
	}
}

// TestGroups: a group of rows is written once it has so many rows, or so many bytes.
func TestGroups(t *testing.T) {
	for _, c := range []struct{ rows, size, want int }{
		{rowsPerGroup - 1, 0, 0},
		{rowsPerGroup, 0, 1},
		{2*rowsPerGroup + 1, 0, 2},
		{1, groupBytes - 4, 1}, // with the length
		{1, groupBytes - 5, 0},
	} {
		table := newTable(io.Discard, "test", []field[string]{{"s", figure.Text, func(s string) figure.Value { return figure.Value{Type: figure.Text, Text: s} }}})
		for range c.rows {
			if err := table.add(strings.Repeat("x", c.size)); err != nil {
				t.Fatal(err)
			}
		}
		if len(table.groups) != c.want {
			t.Errorf("%d rows of %d bytes are in %d groups, expected %d", c.rows, c.size, len(table.groups), c.want)
		}
	}
}

// TestFails: whatever cannot be written is an error.
func TestFails(t *testing.T) {
	c := &gc.Collection{Process: new(gc.Process), Pauses: []gc.Pause{{}}, Generations: []gc.Generation{{}}}
	ev := &trace.Event{Desc: new(trace.Descriptor), Clock: &trace.Clock{Frequency: 1}}
	rows, events := NewRowWriter(full{}, "test", nil), NewEvents(full{})
	collections, pauses, generations := Collections(full{}, time.Now, nil), Pauses(full{}), Generations(full{})
	for name, err := range map[string]error{
		"row": rows.Add(nil), "rows": rows.Close(),
		"event": events.Add(time.Time{}, ev), "events": events.Close(),
		"collection": collections.Add(c), "collections": collections.Close(),
		"pause": pauses.Add(c), "pauses": pauses.Close(),
		"generation": generations.Add(c), "generations": generations.Close(),
		"allocation":  WriteAllocations(full{}, []*export.Allocations{{Process: c.Process, Rows: make([]alloc.Row, 1)}}),
		"allocations": WriteAllocations(full{}, nil),
	} {
		if !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
