//go:build unix

package open_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gctrail/gctrail/open"
)

// TestPerfMapPipe has a named pipe in place of a perf map, which would be waited for.
func TestPerfMapPipe(t *testing.T) {
	folder := unzipped(t, "../testdata/net31-net9-lttng.trace.zip", filepath.Join(t.TempDir(), "unpacked"))
	if err := syscall.Mkfifo(filepath.Join(folder, "perf-7.map"), 0o600); err != nil {
		t.Skip(err)
	}
	in, err := open.File(folder, open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if f, err := in.PerfMap(7); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", f, err)
	}
}
