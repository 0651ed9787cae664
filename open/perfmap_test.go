package open_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
