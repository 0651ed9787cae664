package open_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zip"

	"github.com/gctrail/gctrail/open"
)

// TestPerfMap: perf maps come in the zip or the folder of a trace, or lie beside it.
func TestPerfMap(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bare := write("bare.nettrace", string(plain(t)))
	lttng := unzipped(t, "../testdata/net31-net9-lttng.trace.zip", filepath.Join(dir, "unpacked"))
	write("unpacked/perf-7.map", "of the folder")
	write("perf-8.map", "beside")
	packed := write("packed/app.zip", string(zipped(member{"app.trace/app.nettrace", plain(t)}, member{"app.trace/perf-7.map", []byte("of the zip")})))
	for _, c := range []struct {
		path string
		pid  uint64
		want string // of the file, empty for none
	}{
		{packed, 7, "of the zip"},
		{packed, 8, ""},
		{lttng, 7, "of the folder"},
		{lttng, 8, "beside"},
		{lttng, 9, ""},
		{bare, 7, ""},
		{bare, 8, "beside"},
	} {
		in, err := open.File(c.path, open.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range in.Source.Events() { // the first event sets the start of the trace
		}
		began := in.Source.Info().Start
		touch := func(at time.Time) {
			if err := os.Chtimes(filepath.Join(dir, "perf-8.map"), at, at); err != nil {
				t.Fatal(err)
			}
		}
		touch(began.Add(time.Second))
		if got := perfMap(t, in, c.pid); got != c.want {
			t.Errorf("%s, process %d: %q, expected %q", c.path, c.pid, got, c.want)
		}
		touch(began.Add(-time.Second))
		if got := perfMap(t, in, c.pid); got == "beside" {
			t.Errorf("%s, process %d: a perf map from before the trace is of another process", c.path, c.pid)
		}
		in.Close()
	}
}

// TestPerfMapOfContents: a perf map beside a content is used, unless it is from before the trace.
func TestPerfMapOfContents(t *testing.T) {
	bare, text := plain(t), "beside"
	for name, c := range map[string]struct {
		file string
		late time.Duration // after the start of the trace
		want string
	}{
		"later":           {"folder/perf-8.map", time.Second, text},
		"earlier":         {"folder/perf-8.map", -time.Second, ""},
		"another process": {"folder/perf-9.map", time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			beside := open.Content{ReaderAt: strings.NewReader(text), Size: int64(len(text)), Name: c.file}
			in, err := open.Contents([]open.Content{{ReaderAt: bytes.NewReader(bare), Size: int64(len(bare)), Name: "a.nettrace"}}, open.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for range in.Source.Events() { // the first event sets the start of the trace
			}
			beside.Modified = in.Source.Info().Start.Add(c.late)
			in.Close()
			in, err = open.Contents([]open.Content{{ReaderAt: bytes.NewReader(bare), Size: int64(len(bare)), Name: "a.nettrace"}}, open.Options{Beside: []open.Content{beside}})
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			for range in.Source.Events() {
			}
			if got := perfMap(t, in, 8); got != c.want || (got != "") != slices.Equal(in.PerfMaps, []string{"perf-8.map"}) {
				t.Errorf("%q, want %q; opened %q", got, c.want, in.PerfMaps)
			}
		})
	}
}

// unzipped unpacks a zip into a folder.
func unzipped(t *testing.T, path, folder string) string {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := os.CopyFS(folder, z); err != nil {
		t.Fatal(err)
	}
	return folder
}

// perfMap returns the content of a process's perf map, empty if there is none.
func perfMap(t *testing.T, in *open.Input, pid uint64) string {
	t.Helper()
	f, err := in.PerfMap(pid)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
