package export_test

import (
	"bytes"
	encoding "encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/open"
)

// Every figure of a real trace is the same as in JSON lines.
func TestAgreesWithJSON(t *testing.T) {
	in, err := open.File("../testdata/net10-wks-background-collect.nettrace.gz", open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	w := export.CSV{Columns: figure.All()}
	text := w.AppendHeader(nil)
	var objects []map[string]any
	var m gc.Model
	for c, err := range m.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		text = w.AppendCollection(text, c)
		var o map[string]any
		d := json.NewDecoder(bytes.NewReader(jsonl.AppendCollection(nil, in.Source.Info().Start, c)))
		d.UseNumber()
		if err := d.Decode(&o); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	rows, err := encoding.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(objects)+1 || len(objects) == 0 {
		t.Fatalf("%d rows of %d collections", len(rows)-1, len(objects))
	}
	compared := 0
	for i, o := range objects {
		for j, name := range rows[0] {
			want, ok := jsonValue(o, name)
			if !ok {
				continue
			}
			compared++
			if got := rows[i+1][j]; got != want {
				t.Errorf("collection %v: %s is %q, in JSON %q", o["number"], name, got, want)
			}
		}
	}
	if each := compared / len(objects); each < 80 {
		t.Errorf("only %d figures of each collection were compared", each)
	}
}

// jsonValue returns the text of a figure, and whether CSV has it in the same form.
func jsonValue(o map[string]any, name string) (string, bool) {
	switch name {
	case "longest_pause_ms":
		return "", false
	case "pauses":
		return strconv.Itoa(len(o[name].([]any))), true
	}
	v, ok := o[name]
	if !ok {
		gen, figure, _ := strings.Cut(name, "_")
		gens, _ := o["generations"].([]any)
		for _, g := range gens {
			if g := g.(map[string]any); g["name"] == gen {
				v = g[figure]
			}
		}
	}
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case []any:
		words := make([]string, len(v))
		for i := range v {
			words[i] = v[i].(string)
		}
		return strings.Join(words, " "), true
	}
	return "", false
}

func TestQuotes(t *testing.T) {
	process, _ := figure.Named("process")
	since, _ := figure.Named("since_last_ms")
	c := &gc.Collection{Process: &gc.Process{Name: `a,"b"`}, SinceLast: gc.Some(1500 * time.Microsecond)}
	columns := []figure.Figure{process, since}
	if got, want := string((&export.CSV{Columns: columns}).AppendCollection(nil, c)), "\"a,\"\"b\"\"\",1.5\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFormulas: a cell that a spreadsheet would compute begins with a '.
func TestFormulas(t *testing.T) {
	for word, want := range map[string]string{
		"=1+1": "'=1+1", "@sum": "'@sum", "+1+1": "'+1+1", "-2+3": "'-2+3", "\tx": "'?x", "\rx": "'?x", "a\x1b[31m\n": "a?[31m?",
		"-12.5": "-12.5", "-inf": "'-inf", "web": "web", "a=1": "a=1", `=cmd|"x"`: `"'=cmd|""x"""`, "\xff": "\ufffd",
	} {
		w := export.CSV{Columns: []figure.Figure{{Key: "word", Value: func(*gc.Collection) figure.Value {
			return figure.Value{Type: figure.Text, Text: word}
		}}}}
		if got := string(w.AppendCollection(nil, nil)); got != want+"\n" {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
		w.Raw = true
		if got := string(w.AppendCollection(nil, nil)); strings.Contains(got, "'") {
			t.Errorf("%q: raw is %q", word, got)
		}
	}
}

// TestLists checks that the words of a list are one field.
func TestLists(t *testing.T) {
	w := export.CSV{Columns: []figure.Figure{{Key: "words", Value: func(*gc.Collection) figure.Value {
		return figure.Value{Type: figure.List, Text: "one\ntwo, three\n"}
	}}}}
	if got, want := string(w.AppendCollection(nil, &gc.Collection{})), "\"one;two, three\"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRow: the values of a row are apart, whatever they are.
func TestRow(t *testing.T) {
	values := []figure.Value{
		{Type: figure.Text, Text: "a"},
		{},
		{Type: figure.List, Text: "b\nc\n"},
		{Type: figure.Int, Int: -1},
		{Type: figure.Bytes, Int: 2},
		{Type: figure.Bool},
		{Type: figure.Bool, Int: 1},
		{Type: figure.Millis, Int: 1_500_000},
		figure.Number(figure.Float, 0.1),
		figure.Number(figure.Percent, 1e21),
	}
	const want = "a,,b;c,-1,2,false,true,1.5,0.1,1000000000000000000000\n"
	if got := string(new(export.CSV).AppendRow(nil, values)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
