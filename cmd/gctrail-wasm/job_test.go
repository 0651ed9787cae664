package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
)

const (
	stacks = "net10-wks-stacks.nettrace.gz"
	packed = "net8-win-x64-gcevents.etl.zip"
	dump   = "net8-wks-rich.gcdump.gz"
)

// newJob returns work on files of testdata. No temporary file can be made meanwhile.
func newJob(t *testing.T, names ...string) *job {
	t.Helper()
	j := &job{program: "gctrail test"}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("../../testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		j.files = append(j.files, open.Content{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Name: name})
	}
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("TMPDIR", none)
	t.Setenv("TMP", none)
	return j
}

// ofFile returns the report on the file itself.
func ofFile(t *testing.T, name string) string {
	t.Helper()
	t.Chdir("../../testdata")
	in, err := open.File(name, report.Options())
	if err != nil {
		t.Fatal(err)
	}
	r := report.NewReading(t.Context(), in, name, []string{name})
	defer r.Close()
	details := report.NewDetails(new(selection.Selection), r.Info())
	r.Names = details.Names()
	rep, err := report.Gather(r, new(selection.Selection), report.Budget{}, details)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := rep.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestReport(t *testing.T) {
	for _, name := range []string{stacks, packed, "net31-net9-lttng.trace.zip"} {
		t.Run(name, func(t *testing.T) {
			want := ofFile(t, name)
			t.Chdir("../cmd/gctrail-wasm")
			var read, size int64
			j := newJob(t, name)
			j.progress = func(r, s, _ int64) { read, size = r, s }
			got, err := j.Report(t.Context(), "full")
			if err != nil || string(got) != want {
				t.Errorf("%v\n%.500s, want\n%.500s", err, got, want)
			}
			if size != j.files[0].Size || read == 0 || read > size {
				t.Errorf("progress: %d of %d bytes", read, size)
			}
		})
	}
}

func TestPage(t *testing.T) {
	for name, of := range map[string]string{stacks: stacks, packed: packed, dump: "What is on the heap"} {
		page, err := newJob(t, name).Page(t.Context())
		if err != nil || !bytes.HasPrefix(page, []byte("<!doctype html>")) || !bytes.Contains(page, []byte(of)) {
			t.Errorf("%s: %v, %.100s", name, err, page)
		}
	}
}

// TestSelect: outputs about a part of a trace have only that part, redacted or not.
func TestSelect(t *testing.T) {
	whole, err := newJob(t, stacks).Report(t.Context(), "full")
	if err != nil {
		t.Fatal(err)
	}
	for _, redact := range []bool{false, true} {
		j := newJob(t, stacks)
		j.redact.On = redact
		if err := j.Select("gcload*", "1s", "2s"); err != nil {
			t.Fatal(err)
		}
		part, err := j.Report(t.Context(), "full")
		if err != nil || len(part) == 0 || bytes.Count(part, []byte(`"number"`)) >= bytes.Count(whole, []byte(`"number"`)) {
			t.Errorf("redact %v: %v, %d of %d bytes", redact, err, len(part), len(whole))
		}
		rows, err := j.Convert(t.Context(), "csv")
		if n := bytes.Count(rows, []byte("\n")); err != nil || n < 2 {
			t.Errorf("redact %v: %d lines, %v", redact, n, err)
		}
		if _, err := j.Convert(t.Context(), "nettrace"); err != nil {
			t.Errorf("redact %v: %v", redact, err)
		}
	}
	for _, of := range [][4]string{
		{"other*", "", "", "no process matches: the trace has"},
		{"999", "", "", "nothing of it is selected: the trace has"},
		{"", "1h", "", "nothing of it is selected: the trace is"},
		{"", "2s", "1s", "from must be before to"},
		{"", "soon", "", `from "soon": must be a time`},
		{"[", "", "", "unclosed ["},
	} {
		j := newJob(t, stacks)
		err := j.Select(of[0], of[1], of[2])
		if err == nil {
			_, err = j.Page(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), of[3]) {
			t.Errorf("%q: %v", of, err)
		}
	}
}

// TestEntry: a list has the process and the verdict of a trace, and the objects of a snapshot.
func TestEntry(t *testing.T) {
	for name, want := range map[string]string{stacks: `"verdict":"`, packed: `"process":"`, dump: `"verdict":"Heap snapshot: `} {
		got, err := newJob(t, name).Entry(t.Context())
		if err != nil || !json.Valid(got) || !bytes.Contains(got, []byte(want)) {
			t.Errorf("%s: %v, %s", name, err, got)
		}
	}
}

// TestDiff: a comparison has the figures of both runs.
func TestDiff(t *testing.T) {
	j := newJob(t, "net10-srv-web-1.nettrace.gz", "net10-srv-web-2.nettrace.gz")
	page, err := j.Diff(t.Context(), 1)
	if err != nil || !bytes.Contains(page, []byte("<title>Comparison - gctrail</title>")) {
		t.Errorf("%v, %.100s", err, page)
	}
	for _, before := range []int{0, 2} {
		if _, err := j.Diff(t.Context(), before); err == nil {
			t.Errorf("%d of 2 runs are from before: no error", before)
		}
	}
}

// TestGrowth: several heap snapshots are on one page, and its names are redacted in all.
func TestGrowth(t *testing.T) {
	for _, redact := range []bool{false, true} {
		j := newJob(t, dump, dump)
		j.files[1].Name = "later.gcdump.gz"
		j.redact.On = redact
		page, err := j.Page(t.Context())
		if err != nil || !bytes.HasPrefix(page, []byte("<!doctype html>")) || bytes.Contains(page, []byte(dump)) == redact {
			t.Errorf("redact %v: %v, %d bytes", redact, err, len(page))
		}
	}
	if _, err := newJob(t, dump, stacks).Page(t.Context()); err == nil {
		t.Error("a snapshot and a trace are one page")
	}
}

// TestRedact: nothing that is made of a redacted trace names the program, or its file.
func TestRedact(t *testing.T) {
	for _, name := range []string{stacks, packed} {
		j := newJob(t, name)
		j.redact.On = true
		got, err := j.Report(t.Context(), "full")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, secret := range []string{"GcLoad", "gcload", name} {
			if strings.Contains(string(got), secret) {
				t.Errorf("%s: the report has %s", name, secret)
			}
		}
		events, err := j.Convert(t.Context(), "nettrace")
		if err != nil || !bytes.HasPrefix(events, []byte("Nettrace")) || bytes.Contains(events, []byte("gcload")) {
			t.Errorf("%s: %v, %.20q", name, err, events)
		}
	}
}

func TestConvert(t *testing.T) {
	for _, f := range exportFormats() {
		name := stacks
		if f.Name == "heapsnapshot" || f.Name == "gcdump" {
			name = dump
		}
		data, err := newJob(t, name).Convert(t.Context(), f.Name)
		if err != nil || len(data) < 100 {
			t.Errorf("%s: %d bytes, %v", f.Name, len(data), err)
		}
		switch {
		case strings.HasSuffix(f.Suffix, ".zip"):
			if z, err := zip.NewReader(bytes.NewReader(data), int64(len(data))); err != nil || len(z.File) < 2 {
				t.Errorf("%s: %v", f.Name, err)
			}
		case strings.HasSuffix(f.Suffix, ".json"):
			if !json.Valid(data) {
				t.Errorf("%s: %.100s", f.Name, data)
			}
		}
	}
}

// TestRefused: errors say in words why something cannot be done.
func TestRefused(t *testing.T) {
	none := &job{files: []open.Content{{ReaderAt: strings.NewReader("no trace"), Size: 8, Name: "notes.txt"}}}
	_, page := none.Page(t.Context())
	_, format := newJob(t, stacks).Convert(t.Context(), "xml")
	_, nothing := newJob(t, "net10-wks-induced-collect.nettrace.gz").Convert(t.Context(), "pprof")
	for err, want := range map[error]string{page: "notes.txt: not a trace", format: `no format "xml"`, nothing: "nothing for pprof"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
