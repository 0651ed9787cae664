package html

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/assets"
	"github.com/gctrail/gctrail/open"
)

// collections reads a trace.
func collections(t *testing.T, path string) []*gc.Collection {
	t.Helper()
	in, err := open.File(path, open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	m := gc.Model{PerHeap: true}
	var all []*gc.Collection
	for c, err := range m.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// decoded returns a data block of a page as it is in it, without base64.
func decoded(t *testing.T, page, id string) []byte {
	t.Helper()
	found := regexp.MustCompile(`<script type="text/plain" id="` + id + `">([^<]*)</script>`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no block %s", id)
	}
	packed, err := base64.StdEncoding.DecodeString(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// blockOf returns a data block of a page.
func blockOf(t *testing.T, page, id string) []byte {
	t.Helper()
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(decoded(t, page, id))))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// headerOf returns the header of a page.
func headerOf(t *testing.T, page string) *header {
	t.Helper()
	data := blockOf(t, page, "columns")
	var h header
	if err := json.Unmarshal(data[4:4+binary.LittleEndian.Uint32(data)], &h); err != nil {
		t.Fatal(err)
	}
	return &h
}

// rows decodes the columns of the processes, as the page does.
func rows(t *testing.T, h *header, data []byte) [][]gc.Opt[int64] {
	t.Helper()
	var all [][]gc.Opt[int64]
	for _, trace := range h.Traces {
		for _, p := range trace.Processes {
			streams := make([][]byte, len(h.Columns))
			for i, n := range p.Lengths {
				streams[i], data = data[:n], data[n:]
			}
			var last []gc.Opt[int64]
			for range p.Rows {
				row := make([]gc.Opt[int64], len(h.Columns))
				for i, c := range h.Columns {
					code, n := binary.Uvarint(streams[i])
					streams[i] = streams[i][n:]
					if code == 0 {
						continue
					}
					v := int64((code-1)>>1) ^ -int64((code-1)&1)
					for _, f := range c.From {
						switch {
						case f[1] == 0:
							v += int64(f[2]) * row[f[0]].Or(0)
						case last != nil:
							v += int64(f[2]) * last[f[0]].Or(0)
						}
					}
					row[i] = gc.Some(v)
				}
				all = append(all, row)
				last = row
			}
		}
	}
	if len(data) > 0 {
		t.Errorf("%d bytes are left", len(data))
	}
	return all
}

// TestColumns: a page has every figure and all details of every collection of every
// fixture.
func TestColumns(t *testing.T) {
	traces, err := filepath.Glob("../../testdata/*.*")
	if err != nil || len(traces) < 10 {
		t.Fatal(traces, err)
	}
	for _, path := range traces {
		if strings.HasSuffix(path, ".md") || strings.Contains(path, ".gcdump") {
			continue
		}
		trace := &Trace{Report: json.RawMessage(`{"processes":[]}`)}
		all := collections(t, path)
		for _, c := range all {
			trace.Add(c)
		}
		var out strings.Builder
		if err := (&Page{Traces: []*Trace{trace}}).Write(&out); err != nil {
			t.Fatal(err)
		}
		data := blockOf(t, out.String(), "columns")
		h := headerOf(t, out.String())
		got := rows(t, h, data[4+binary.LittleEndian.Uint32(data):])
		if len(got) != len(all) {
			t.Fatalf("%s: %d collections, want %d", path, len(got), len(all))
		}
		details := detailsOf(t, out.String(), h, trace.processes)
		at := 0
		for i, p := range trace.processes {
			row := 0
			for _, c := range all {
				if c.Process != p.Process {
					continue
				}
				for i := range columns {
					if want := columns[i].value(c); got[at][i] != want {
						t.Fatalf("%s: GC %d: %s is %v, want %v", path, c.Number, columns[i].name, got[at][i], want)
					}
				}
				at++
				if want := detail(nil).appendCollection(c); !slices.Equal(details[[2]int{i, row}], want) {
					t.Fatalf("%s: GC %d: details %v, want %v", path, c.Number, details[[2]int{i, row}], want)
				}
				row++
			}
		}
	}
}

// TestTerms: a column is predicted from existing columns, of the same collection only
// from ones further up.
func TestTerms(t *testing.T) {
	index := make(map[string]int)
	for i := range columns {
		index[columns[i].name] = i
	}
	for i := range columns {
		for _, term := range columns[i].from {
			at, known := index[term.name]
			if !known || term.back == 0 && at >= i || term.back < 0 || term.back > 1 {
				t.Errorf("%s is predicted from %+v", columns[i].name, term)
			}
		}
	}
}

// TestRows: the rows that a server sends have the same figures.
func TestRows(t *testing.T) {
	for _, c := range collections(t, "../../testdata/net10-wks-induced-collect.nettrace.gz")[:10] {
		var figures row
		var row []*int64
		if err := json.Unmarshal(figures.appendFigures(c).appendJSON(nil), &row); err != nil {
			t.Fatal(err)
		}
		for i := range columns {
			if v, known := columns[i].value(c).Get(); known != (row[i] != nil) || known && v != *row[i] {
				t.Fatalf("%s is %v, want %v", columns[i].name, row[i], columns[i].value(c))
			}
		}
	}
}

// TestBounds: a page of more collections than fit says how many it leaves out,
// and takes at most 60 bytes for each, and for details.
func TestBounds(t *testing.T) {
	all := collections(t, "../../testdata/net10-wks-induced-collect.nettrace.gz")
	const limit, more = 25_000, 10
	trace := &Trace{Report: json.RawMessage(`{"processes":[]}`), limit: limit}
	for i := range limit + more {
		trace.Add(all[i%len(all)])
	}
	if p := trace.processes[0]; p.leftOut != more || p.table.rows != limit {
		t.Errorf("%d collections are left out, %d are kept", p.leftOut, p.table.rows)
	}
	if trace.details.bytes > maxDetails {
		t.Errorf("%d bytes of details", trace.details.bytes)
	}
	var out bytes.Buffer
	if err := (&Page{Traces: []*Trace{trace}}).Write(&out); err != nil {
		t.Fatal(err)
	}
	if most := 60*limit + 500_000; out.Len() > most {
		t.Errorf("%d bytes, at most %d are expected", out.Len(), most)
	}
}

// TestPolicy: the page's policy names its script and its style, and nothing in the
// page can end them or pass for markup.
func TestPolicy(t *testing.T) {
	const evil = `</script><script>alert(1)</script><!--`
	p := &gc.Process{Name: evil, CommandLine: evil}
	trace := &Trace{Name: evil, Report: json.RawMessage(`{"processes":[]}`), Start: time.Unix(0, 0)}
	trace.Add(&gc.Collection{Process: p, Number: 1})
	var out strings.Builder
	if err := (&Page{Title: evil, Verdict: evil, Program: evil, Traces: []*Trace{trace}}).Write(&out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, text := range []string{assets.Script, assets.Style} {
		lower := strings.ToLower(text)
		if strings.Contains(lower, "</script") || strings.Contains(lower, "<!--") || strings.Contains(lower, "</style") {
			t.Error("the script or the style can end its element")
		}
		if !strings.Contains(page, strings.ReplaceAll(Hash(text), "+", "&#43;")) && !strings.Contains(page, Hash(text)) {
			t.Error("the policy lacks a hash")
		}
	}
	if n := strings.Count(page, "<script"); n != 7 || strings.Contains(page, "alert(1)</script>") {
		t.Errorf("%d scripts", n)
	}
	for _, forbidden := range []string{"http://", "https://", "unsafe", "@import", "url("} {
		if rest := strings.ReplaceAll(page, "http://www.w3.org/", ""); strings.Contains(rest, forbidden) {
			t.Errorf("the page contains %s", forbidden)
		}
	}
}

func ExampleTrace_Add() {
	var trace Trace
	trace.Report = json.RawMessage(`{"processes":[]}`)
	trace.Add(&gc.Collection{Process: &gc.Process{PID: 4711, Name: "web"}, Number: 1})
	var page bytes.Buffer
	if err := (&Page{Title: "web", Traces: []*Trace{&trace}}).Write(&page); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.SplitN(page.String(), "\n", 2)[0])
	// Output: <!doctype html>
}
