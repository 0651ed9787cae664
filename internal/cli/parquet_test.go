package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/gctrail/gctrail/internal/extent"
)

// TestEveryListAsParquet reads the Parquet of each list with an independent implementation, and
// compares it with the list's JSON lines.
func TestEveryListAsParquet(t *testing.T) {
	lists := map[string]int{} // rows
	traces := []string{
		"net10-wks-requests.nettrace.gz", "net10-wks-leak.nettrace.gz",
		"net10-wks-stacks.nettrace.gz", "net9-srv-datas-web-collect.nettrace.gz", "net10-wks-handles-collect.nettrace.gz", "net10-wks-pin-collect.nettrace.gz",
		"net10-wks-finalizers-collect.nettrace.gz", "net10-wks-background-collect.nettrace.gz",
		"net10-lossy-handles.nettrace.gz", "net31-net9-lttng.trace.zip",
	}
	for i, args := range []string{
		"allocs --by type,stack", "allocs --by method", "handles", "handles --by kind,stack", "pins", "finalizers", "requests", "requests --by route", "joins --tunings", "heap", "heap --per-heap", "objects", "objects --by root", "objects --by dominator", "objects --by path", "objects --tree", "objects --root pinned", "objects --free gaps",
		"phases", "phases --blocking", "pauses", "pauses --show windows", "pauses --show bottlenecks", "gcs --per-heap", "gcs --metrics",
	} {
		for j, trace := range traces {
			if lists[args] > 0 && (!extent.Sparse(i+j, 5) || !extent.Due(i+j, 2)) {
				continue // a list with rows is looked at in some traces
			}
			command := append(listOf(trace, strings.Fields(args)...), "--format")
			lines, talk, code := onOnce(t, 0, append(command, "jsonl")...)
			if code != exitDone {
				t.Fatalf("%s of %s: exit %d: %s", args, trace, code, talk)
			}
			file, talk, code := on(t, 0, append(command, "parquet")...)
			if code != exitDone {
				t.Fatalf("%s of %s as parquet: exit %d: %s", args, trace, code, talk)
			}
			got := readParquet(t, file)
			if diff := cmp.Diff(flatLines(t, lines), got); diff != "" {
				t.Fatalf("%s of %s differs between JSON lines and parquet: %s", args, trace, diff)
			}
			lists[args] += len(got)
		}
		if lists[args] == 0 {
			t.Errorf("%s: no trace has any", args)
		}
	}
}

// flatLines returns the rows of JSON lines as readParquet does.
func flatLines(t *testing.T, lines string) []map[string]string {
	t.Helper()
	var rows []map[string]string
	for line := range strings.Lines(lines) {
		var values map[string]any
		if err := json.Unmarshal([]byte(line), &values); err != nil {
			t.Fatal(err)
		}
		row := map[string]string{}
		for name, v := range values {
			switch v := v.(type) {
			case nil:
				row[name] = "null"
			case float64:
				row[name] = number(v)
			case []any:
				words, between := make([]string, len(v)), "\n"
				for i := range v {
					if n, is := v[i].(float64); is {
						words[i], between = number(n), " "
					} else {
						words[i] = v[i].(string)
					}
				}
				row[name] = strings.Join(words, between)
			default:
				row[name] = fmt.Sprint(v)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// number writes a number to nine digits, which times keep as JSON and as binary fractions.
func number(v float64) string {
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.9g", v)
}

func readParquet(t *testing.T, file string) []map[string]string {
	t.Helper()
	f, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	columns := f.Schema().Columns()
	var rows []map[string]string
	for _, g := range f.RowGroups() {
		all := g.Rows()
		buffer := make([]parquet.Row, 64)
		for {
			n, err := all.ReadRows(buffer)
			for _, values := range buffer[:n] {
				row := map[string]string{}
				for _, v := range values {
					cell := fmt.Sprint(v)
					switch {
					case v.IsNull():
						cell = "null"
					case v.Kind() == parquet.Double:
						cell = number(v.Double())
					case v.Kind() == parquet.ByteArray:
						cell = string(v.ByteArray())
					}
					row[columns[v.Column()][0]] = cell
				}
				rows = append(rows, row)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return rows
}

// TestEveryListHasEveryFormat: lists of traces have the same formats, and no parquet goes
// to a terminal.
func TestEveryListHasEveryFormat(t *testing.T) {
	for name, cmd := range commandsWith("sort") {
		if cmd.Flags().Lookup("top") == nil { // top watches processes
			continue
		}
		want := []string{"table", "jsonl", "csv", "parquet"}
		if name == "objects" { // json and html have more than its rows
			want = append(want, "json", "html")
		}
		if format, ok := cmd.Flags().Lookup("format").Value.(*choice); !ok || !slices.Equal(format.of, want) {
			t.Errorf("%s has the formats %v", name, format)
		}
		_, talk, code := on(t, 80, name, "--format", "parquet", "../../testdata/net10-wks-stacks.nettrace.gz")
		if code != exitUsage || !strings.Contains(talk, "refusing to write parquet") {
			t.Errorf("%s wrote parquet to a terminal: exit %d: %s", name, code, talk)
		}
	}
}

// TestParquetWithoutRows: a list of nothing is a file that can be read, with all columns.
func TestParquetWithoutRows(t *testing.T) {
	for _, args := range []string{"joins", "pauses --from 1h", "pauses --show windows --from 1h", "pauses --show bottlenecks --from 1h", "pins --from 1h", "gcs --from 1h", "gcs --per-heap --from 1h", "gcs --metrics --from 1h", "heap --from 1h"} {
		file, _, code := on(t, 0, append(strings.Fields(args), "--format", "parquet", "../../testdata/net10-wks-stacks.nettrace.gz")...)
		if code != exitDone {
			t.Fatalf("%s: exit %d", args, code)
		}
		f, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		if n := len(f.Schema().Columns()); f.NumRows() != 0 || n < 5 {
			t.Errorf("%s: %d rows, %d columns", args, f.NumRows(), n)
		}
		if f.Schema().Columns()[0][0] == "" {
			t.Errorf("%s: a column without a name", args)
		}
	}
}
