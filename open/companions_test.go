package open_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/open"
)

// partFile returns a file like etwFile's of another session of the same
// recording.
func partFile(us int64) []byte { return part(us, func(*tracetest.ETLHeader) {}) }

// mergedFile returns one that a tool made of several.
func mergedFile(us int64) []byte { return part(us, func(h *tracetest.ETLHeader) { h.Mode |= 0x10000 }) }

// anotherDay returns a file like etwFile's of a session a day later.
func anotherDay(us int64) []byte {
	const day = 24 * 3600 * 10_000_000
	return part(us, func(h *tracetest.ETLHeader) { h.Start += day; h.End += day })
}

// secondsLater returns a file like etwFile's of a session that began some
// seconds later.
func secondsLater(s int64) []byte {
	f := tracetest.NewETL()
	f.Header.Time += s * 10_000_000
	f.Header.Start += s * 10_000_000
	f.Header.End = f.Header.Start
	f.Buffer(0).Event(tracetest.ETLEvent{
		Type: tracetest.ETLEvent64, Time: f.Header.Time, PID: 1, TID: 2,
		Provider: tracetest.RuntimeGUID, ID: 1, Version: 2, Payload: make([]byte, 26),
	})
	return f.Bytes()
}

func part(us int64, change func(*tracetest.ETLHeader)) []byte {
	f := tracetest.NewETL()
	e := tracetest.ETLEvent{
		Type: tracetest.ETLEvent64, Time: f.Header.Time + 10*us, PID: 1, TID: 2,
		Provider: tracetest.RuntimeGUID, ID: 1, Version: 2, Payload: make([]byte, 26),
	}
	f.Header.Time += us // each session's first event is its own
	f.Header.Start += us
	change(&f.Header)
	f.Buffer(0).Event(e)
	return f.Bytes()
}

// TestCompanions opens ETW traces with parts in files next to them.
func TestCompanions(t *testing.T) {
	parts := map[string][]byte{"x.etl": etwFile(1, 4), "x.kernel.etl": partFile(2), "x.clrRundown.etl": partFile(3)}
	for _, c := range []struct {
		name                  string
		files                 map[string][]byte
		open                  []string // "." is the folder
		times                 string
		companions, strangers string
	}{
		{name: "the main file", files: parts, open: []string{"x.etl"}, times: "1µs 2µs 3µs 4µs", companions: "x.clrRundown.etl x.kernel.etl"},
		{name: "the folder", files: parts, open: []string{"."}, times: "1µs 2µs 3µs 4µs", companions: "x.clrRundown.etl x.kernel.etl"},
		{name: "a part", files: parts, open: []string{"x.kernel.etl"}, times: "1.8µs"}, // since its own start
		{name: "all, by name", files: parts, open: []string{"x.kernel.etl", "x.etl", "x.clrRundown.etl"}, times: "1µs 2µs 3µs 4µs"},
		{name: "some, by name", files: parts, open: []string{"x.etl", "x.kernel.etl"}, times: "1µs 2µs 3µs 4µs", companions: "x.clrRundown.etl"},
		{
			name:  "other spellings",
			files: map[string][]byte{"x.ETL": etwFile(1), "X.Kernel.Etl": partFile(2), "x.user1.etl": partFile(3), "x.other.etl": partFile(4), "y.kernel.etl": partFile(5), "x.kernel.txt": nil},
			open:  []string{"x.ETL"}, times: "1µs 2µs 3µs", companions: "X.Kernel.Etl x.user1.etl",
		},
		{
			name:  "left from another day",
			files: map[string][]byte{"x.etl": etwFile(1), "x.kernel.etl": anotherDay(2), "x.user.etl": []byte("no trace")},
			open:  []string{"x.etl"}, times: "1µs", strangers: "x.kernel.etl x.user.etl",
		},
		{
			name:  "merged already",
			files: map[string][]byte{"x.etl": mergedFile(1), "x.kernel.etl": partFile(2)},
			open:  []string{"x.etl"}, times: "900ns", strangers: "x.kernel.etl",
		},
		{
			name:  "all rewritten",
			files: map[string][]byte{"x.etl": mergedFile(1), "x.user.etl": mergedFile(3), "x.user1.etl": mergedFile(1)},
			open:  []string{"x.etl"}, times: "900ns 2.9µs", companions: "x.user.etl", strangers: "x.user1.etl",
		},
		{
			name:  "one between two",
			files: map[string][]byte{"a.etl": secondsLater(0), "b.etl": secondsLater(100), "c.etl": secondsLater(50)},
			open:  []string{"b.etl", "a.etl", "c.etl"}, times: "0s 50s 1m40s",
		},
		{
			name:  "the same twice",
			files: map[string][]byte{"x.etl": etwFile(1)},
			open:  []string{"x.etl", "x.etl"}, times: "1µs", // PID 1 is the first's
		},
		{
			name:  "another day, by name",
			files: map[string][]byte{"a.etl": etwFile(1), "b.etl": anotherDay(2), "a.kernel.etl": partFile(3)},
			open:  []string{"a.etl", "b.etl"}, times: "1µs 3µs", companions: "a.kernel.etl", // PID 1 is a's
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, data := range c.files {
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var paths []string
			for _, name := range c.open {
				paths = append(paths, filepath.Join(dir, name))
			}
			in, err := open.Files(paths, open.Options{})
			if err != nil {
				t.Fatal(err)
			}
			again, err := in.Reopen()
			if err != nil {
				t.Fatal(err)
			}
			inputs := []*open.Input{in, again}
			if c.open[0] != "." {
				inputs = append(inputs, asContents(t, c.open, c.files))
			}
			for _, in := range inputs {
				var times []string
				for ev, err := range in.Source.Events() {
					if err != nil {
						t.Fatal(err)
					}
					times = append(times, ev.Time().String())
				}
				inDir := func(names []string) string {
					return strings.ReplaceAll(strings.Join(names, " "), dir+string(filepath.Separator), "")
				}
				got := fmt.Sprintf("%s; %s; %s", strings.Join(times, " "), inDir(in.Companions), inDir(in.Foreign))
				if want := fmt.Sprintf("%s; %s; %s", c.times, c.companions, c.strangers); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				if err := in.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// asContents opens files as contents, with the other files beside them.
func asContents(t *testing.T, names []string, files map[string][]byte) *open.Input {
	t.Helper()
	var opts open.Options
	content := func(name string) open.Content {
		return open.Content{ReaderAt: bytes.NewReader(files[name]), Size: int64(len(files[name])), Name: name}
	}
	for _, other := range slices.Sorted(maps.Keys(files)) {
		if !slices.Contains(names, other) {
			opts.Beside = append(opts.Beside, content(other))
		}
	}
	var contents []open.Content
	for _, name := range names {
		contents = append(contents, content(name))
	}
	in, err := open.Contents(contents, opts)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestFolderOfTraces: no trace of a folder with several is chosen.
func TestFolderOfTraces(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.etl", "a.kernel.etl", "b.etl"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, etwFile(1), 0o600), os.Chtimes(path, time.Time{}, time.Unix(0, 0))); err != nil {
			t.Fatal(err)
		}
	}
	_, err := open.File(dir, open.Options{})
	if want := "a folder that holds a.etl, a.kernel.etl, b.etl; give one or more of them"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
