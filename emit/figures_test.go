package emit_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
)

// TestFiguresInAllFormats: the same collections have the same figures, whatever the
// format.
func TestFiguresInAllFormats(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		p, err := emit.NewProvider(emit.ProviderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range formats {
			if _, err := f.create(p, filepath.Join(dir, string('a'+rune(i))+f.file), emit.SessionOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		h := newHistory(t, p)
		h.run()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		var first []string
		for i, f := range formats {
			got := figuresOf(t, filepath.Join(dir, string('a'+rune(i))+f.file))
			if i == 0 {
				first = got
			}
			if len(got) != len(h.raised) {
				t.Errorf("%s: %d collections, want %d", f.name, len(got), len(h.raised))
			}
			if diff := cmp.Diff(first, got); diff != "" {
				t.Errorf("%s and %s: %s", formats[0].name, f.name, diff)
			}
		}
	})
}

// figuresOf returns the collections of a trace as "gctrail gcs" shows them, with times
// from the first one's start, because LTTng traces do not contain when the recording
// began. They also contain less about the process.
func figuresOf(t *rapid.T, path string) []string {
	t.Helper()
	in, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var model gc.Model
	var lines []string
	var start time.Duration
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) == 0 {
			start = c.Start.Or(0)
		}
		c.Process = &gc.Process{}
		c.Start = gc.Some(c.Start.Or(0) - start)
		c.End = gc.Some(c.End.Or(0) - start)
		c.PauseStart = gc.Some(c.PauseStart.Or(0) - start)
		for i := range c.Pauses {
			c.Pauses[i].Start -= start
		}
		lines = append(lines, string(jsonl.AppendCollection(nil, time.Time{}, c)))
	}
	return lines
}
