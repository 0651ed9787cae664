package cli

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOutputIsNoInput: -o never replaces an input, whatever part it is.
func TestOutputIsNoInput(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{"x.etl": userPart(), "x.kernel.etl": kernelPart(), "other.txt": []byte("old")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile("../../ctf/testdata/no_contexts.txt")
	if err != nil {
		t.Fatal(err)
	}
	trace, _, _ := strings.Cut(string(b), "-- want --")
	folder := assembleCTF(t, trace)
	var stream string
	for _, e := range mustRead(t, folder) {
		if !e.IsDir() && e.Name() != "metadata" {
			stream = filepath.Join(folder, e.Name())
		}
	}
	for _, tt := range []struct {
		in, out string
		refused string
	}{
		{filepath.Join(dir, "x.etl"), filepath.Join(dir, "x.etl"), "it is an input"},
		{filepath.Join(dir, "x.etl"), filepath.Join(dir, "x.kernel.etl"), "it is an input"},
		{folder, stream, "it is an input"},
		{folder, filepath.Join(folder, "metadata"), "it is an input"},
		{filepath.Join(dir, "x.etl"), dir, "it is not a regular file"},
		{filepath.Join(dir, "x.etl"), filepath.Join(dir, "other.txt"), ""},
		{filepath.Join(dir, "x.etl"), os.DevNull, ""},
	} {
		for _, command := range []string{"report", "gcs", "events"} {
			before, _ := os.ReadFile(tt.out)
			_, talk, code := on(t, 0, command, "-o", tt.out, tt.in)
			after, _ := os.ReadFile(tt.out)
			if tt.refused == "" {
				if code != exitDone || tt.out != os.DevNull && (len(after) == 0 || string(after[:3]) == "old") {
					t.Errorf("%s -o %s: exit code %d: %s", command, tt.out, code, talk)
				}
				continue
			}
			if code != exitUnreadable || !strings.Contains(talk, tt.refused) || string(before) != string(after) {
				t.Errorf("%s -o %s: exit code %d: %s", command, tt.out, code, talk)
			}
		}
	}
}

func mustRead(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestOutputErrors: however an output is written, an error names it once.
func TestOutputErrors(t *testing.T) {
	full := func([]byte) (int, error) { return 0, syscall.ENOSPC }
	for name, write := range map[string]func(*output) error{
		"bytes": func(o *output) error { _, err := o.Write([]byte("some text")); return err },
		"text":  func(o *output) error { _, err := io.WriteString(o, "some text"); return err },
		"flush": (*output).Flush,
	} {
		out := &output{Writer: bufio.NewWriterSize(writerFunc(full), 16), name: "page.html"}
		if _, err := out.WriteString("before"); err != nil {
			t.Fatal(err)
		}
		err := write(out)
		for err == nil { // up to the end of the buffer
			err = write(out)
		}
		if want := "page.html: " + syscall.ENOSPC.Error(); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
