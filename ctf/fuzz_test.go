package ctf_test

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// FuzzReader reads any metadata with any two files of packets. It must end, keep events
// in order or mark them as late, and count the emitted ones.
func FuzzReader(f *testing.F) {
	texts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(texts) == 0 {
		f.Fatalf("no assembled traces: %v", err)
	}
	for _, name := range texts {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		text, _, _ := strings.Cut(string(b), wantMark)
		files, err := tracetest.CTF(text)
		if err != nil {
			f.Fatal(err)
		}
		addFiles(f, files)
	}
	f.Fuzz(func(t *testing.T, metadata, one, two []byte) {
		files := fstest.MapFS{"metadata": {Data: metadata}, "one": {Data: one}, "two": {Data: two}}
		first := read(t, files)
		for what, opts := range map[string]ctf.Options{
			"when none is wanted":  {Want: func(*trace.Descriptor) bool { return false }},
			"of the first 5 bytes": {Head: func(*trace.Descriptor) int { return 5 }},
		} {
			opts.Resolve = clr.Tracepoint
			r, err := ctf.Open(files, opts)
			if (err == nil) != (first.err == nil) {
				t.Fatalf("%v, %v %s", first.err, err, what)
			}
			if err != nil {
				return
			}
			for range r.Events() {
				if opts.Want != nil {
					t.Fatal("an event that is not wanted")
				}
			}
			if n := counted(r); n != first.events {
				t.Fatalf("%d events, %d %s", first.events, n, what)
			}
		}
	})
}

// addFiles adds the first trace among files to the corpus.
func addFiles(f *testing.F, files fstest.MapFS) {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var parts [3][]byte
	n := 1
	dir := ""
	for _, name := range names {
		switch {
		case path.Base(name) == "metadata" && dir == "":
			dir = path.Dir(name)
			parts[0] = files[name].Data
		case path.Base(name) != "metadata" && n < len(parts):
			parts[n] = files[name].Data
			n++
		}
	}
	f.Add(parts[0], parts[1], parts[2])
}
