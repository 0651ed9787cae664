package list_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/trace"
)

type row struct {
	pid    uint64
	name   string
	size   gc.Opt[int64]
	is     gc.Certainty
	took   time.Duration
	share  float64
	load   float64
	moved  bool
	frames []string
}

var fields = []list.Field[row]{
	{Name: "pid", Heading: "pid", Type: figure.Int, Varies: true, Value: func(r *row) figure.Value { return list.PID(r.pid) }},
	{Name: "name", Heading: "name", Left: true, Type: figure.Text, Value: func(r *row) figure.Value { return list.Word(r.name) }},
	{
		Name: "bytes", Heading: "MB", Rank: 2, Type: figure.Bytes,
		Value: func(r *row) figure.Value { return list.Opt(r.size, list.Bytes) }, Is: func(r *row) gc.Certainty { return r.is },
	},
	{Name: "took_ms", Heading: "ms", Type: figure.Millis, Value: func(r *row) figure.Value { return list.Time(r.took) }},
	{Name: "count", Heading: "count", Type: figure.Int, Value: func(r *row) figure.Value { return list.Count(len(r.frames) * 1234) }},
	{Name: "share_pct", Heading: "%", Type: figure.Percent, Value: func(r *row) figure.Value { return list.Percent(r.share) }},
	{Name: "memory_load_pct", Heading: "load %", Type: figure.Percent, Value: func(r *row) figure.Value { return list.Percent(r.load) }},
	{Name: "moved", Heading: "moved", Type: figure.Bool, Value: func(r *row) figure.Value { return list.Bool(r.moved) }},
	{Name: "stack", Type: figure.List, Value: func(r *row) figure.Value { return list.Words(r.frames) }},
}

var rows = []row{
	{pid: 12345, name: "=web, é", size: gc.Some[int64](1_234_567), is: gc.LowerBound, took: 1500 * time.Microsecond, share: 0.01, load: 45, moved: true, frames: []string{"Main", "A\nB"}},
	{pid: trace.UnknownID, share: 12.34},
}

func TestCells(t *testing.T) {
	var got [][]string
	for i := range rows {
		got = append(got, list.Cells(fields, &rows[i]))
	}
	want := [][]string{
		{"12345", "=web, é", ">1.23", "1.50", "2,468", "<0.1", "45", "yes"},
		{"-", "-", "-", "0", "0", "12.3", "0", "no"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	columns := list.Columns(fields)
	if len(columns) != len(want[0]) || columns[2].Rank != 2 || !columns[1].Left || !columns[0].Varies || columns[1].Varies {
		t.Errorf("columns %+v", columns)
	}
}

// written returns the output of two writers of one file, as for two traces.
func written(t *testing.T, format string, raw bool, lines func([]byte, *row) []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	f := &list.File{Out: &out, Format: format, Raw: raw}
	for i := range rows {
		w := list.NewWriter(f, fields)
		w.AppendLine = lines
		if err := w.Head(); err != nil {
			t.Fatal(err)
		}
		if err := w.Row(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestFormats(t *testing.T) {
	const head = "pid,name,bytes,took_ms,count,share_pct,memory_load_pct,moved,stack\n"
	const unknown = ",,,0,0,12.34,0,false,\n"
	for _, tt := range []struct {
		format string
		raw    bool
		lines  func([]byte, *row) []byte
		want   string
	}{
		{list.CSV, false, nil, head + `12345,"'=web, é",1234567,1.5,2468,0.01,45,true,Main;A B` + "\n" + unknown},
		{list.CSV, true, nil, head + `12345,"=web, é",1234567,1.5,2468,0.01,45,true,Main;A B` + "\n" + unknown},
		{
			list.JSONL, false, nil,
			`{"pid":12345,"name":"=web, é","bytes":1234567,"took_ms":1.5,"count":2468,"share_pct":0.01,"memory_load_pct":45,"moved":true,"stack":["Main","A B"]}` + "\n" +
				`{"pid":null,"name":null,"bytes":null,"took_ms":0,"count":0,"share_pct":12.34,"memory_load_pct":0,"moved":false,"stack":[]}` + "\n",
		},
		{list.JSONL, false, func(b []byte, r *row) []byte { return append(append(b, r.name...), '\n') }, "=web, é\n\n"},
	} {
		if diff := cmp.Diff(tt.want, string(written(t, tt.format, tt.raw, tt.lines))); diff != "" {
			t.Errorf("%s, raw %t: %s", tt.format, tt.raw, diff)
		}
	}
}

// TestParquet: another implementation reads the rows of both writers from one file.
func TestParquet(t *testing.T) {
	file := written(t, list.Parquet, false, nil)
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, group := range f.RowGroups() {
		buffer := make([]parquet.Row, 10)
		n, err := group.Rows().ReadRows(buffer)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		for _, r := range buffer[:n] {
			var cells []string
			for _, v := range r {
				cells = append(cells, fmt.Sprint(v))
			}
			got = append(got, cells)
		}
	}
	want := [][]string{
		{"12345", "=web, é", "1234567", "1.5", "2468", "0.01", "45", "true", "Main\nA B"},
		{"<null>", "<null>", "<null>", "0", "0", "12.34", "0", "false", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, c := range f.Schema().Columns() {
		if c[0] != fields[i].Name {
			t.Errorf("column %d is %q", i, c)
		}
	}
}

func TestSort(t *testing.T) {
	for by, want := range map[string]string{"bytes": "bac", "name": "abc", "took_ms": "cab", "share_pct": "acb", "no such field": "cba"} {
		rows := []row{
			{name: "c", took: 9, share: -1},
			{name: "b", size: gc.Some[int64](2), took: 1, share: -2.5},
			{name: "a", size: gc.Some[int64](1), took: 5, share: 0.5},
		}
		list.Sort(rows, fields, by)
		got := ""
		for _, r := range rows {
			got += r.name
		}
		if got != want {
			t.Errorf("by %s: %s, want %s", by, got, want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestFull(t *testing.T) {
	for _, format := range []string{list.JSONL, list.CSV, list.Parquet} {
		f := &list.File{Out: full{}, Format: format}
		w := list.NewWriter(f, fields)
		if errors.Join(w.Head(), w.Row(&rows[0]), f.Close()) == nil {
			t.Errorf("%s: no error", format)
		}
	}
}
