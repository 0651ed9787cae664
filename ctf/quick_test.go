package ctf

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// TestQuickHeader: events are the same with and without quick headers.
func TestQuickHeader(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	used := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ = bytes.Cut(text, []byte("-- want --\n"))
		files, err := tracetest.CTF(string(text))
		if err != nil {
			t.Fatal(err)
		}
		want, _ := planned(files, false)
		got, quick := planned(files, true)
		used += quick
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nby plans %+v", path, got, want)
		}
	}
	if used == 0 {
		t.Error("no trace has headers of the usual form")
	}
}

// planned reads a trace with or without quick headers, and counts these.
func planned(files fs.FS, quick bool) (events []*trace.Event, used int) {
	r, err := Open(files, Options{})
	if err != nil {
		return nil, 0
	}
	for _, of := range r.m.members {
		for _, class := range of.streams {
			if class.quick != nil {
				used++
			}
			if !quick {
				class.quick = nil
			}
		}
	}
	for ev := range r.Events() {
		events = append(events, ev.Clone())
	}
	return events, used
}
