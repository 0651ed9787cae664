package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestGeneratedFilesAreCurrent compares the committed files with the table's output.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	const dir = "../.."
	table, err := os.ReadFile(filepath.Join(dir, "events.json"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(table)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate ./clr", name)
		}
	}
	committed, err := filepath.Glob(filepath.Join(dir, "*_gen*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range committed {
		if files[filepath.Base(name)] == nil {
			t.Errorf("%s is not generated any more", name)
		}
	}
}

func TestTableErrors(t *testing.T) {
	const head, tail = `{"providers": [{"name": "P", "events": [{"name": "E", "level": "Verbose", "fields": [`, `]}]}]}`
	for _, fields := range []string{
		`{"name": "A", "type": "u24"}`,
		`{"name": "A", "type": "u32", "enum": "Nothing"}`,
		`{"name": "A", "type": "bytes", "count_field": "Missing"}`,
		`{"name": "A", "type": "u32", "sinse": 1}`,
		`{"name": "N", "type": "u32"}, {"name": "A", "type": "array", "count_field": "N", "element": {"fields": [{"name": "B", "type": "x"}]}}`,
	} {
		if _, err := generate([]byte(head + fields + tail)); err == nil {
			t.Errorf("no error for %s", fields)
		}
	}
	if _, err := generate([]byte(`{"rundowns": [{"name": "R", "keywords": ["Nothing"]}]}`)); err == nil {
		t.Error("no error for an unknown keyword of a rundown")
	}
	for _, event := range []string{
		`{"level": "Loud"}`, `{"level": "Verbose", "keywords": ["Nothing"]}`,
		`{"level": "Verbose", "frequent": true, "fields": [{"name": "A", "type": "utf16z"}]}`,
		`{"level": "Verbose", "frequent": true, "fields": [{"name": "A", "type": "u32", "since": 1}]}`,
	} {
		if _, err := generate([]byte(`{"providers": [{"events": [` + event + `]}]}`)); err == nil {
			t.Errorf("no error for %s", event)
		}
	}
}

func TestGoWord(t *testing.T) {
	for in, want := range map[string]string{
		"AllocSmall":         "AllocSmall",
		"begin_mark_phase":   "BeginMarkPhase",
		"SERVER_GC":          "ServerGC",
		"ETW":                "ETW",
		"joined_limit_loh_x": "JoinedLimitLOHX",
		"done":               "Done",
	} {
		if got := goWord(in); got != want {
			t.Errorf("goWord(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLower(t *testing.T) {
	for in, want := range map[string]string{
		"GCReason": "gcReason", "BGCAllocWaitReason": "bgcAllocWaitReason", "EventPipe": "eventPipe", "CCWFlags": "ccwFlags",
	} {
		if got := lower(in); got != want {
			t.Errorf("lower(%q) = %q, want %q", in, got, want)
		}
	}
}
