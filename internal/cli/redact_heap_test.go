package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/tracetest"
)

const (
	leakTrace = "../../testdata/net10-wks-leak.nettrace.gz"
	richDump  = "../../testdata/net8-wks-rich.gcdump.gz"
)

// A named is an input with heap snapshots, and its names.
type named struct {
	path           string
	types, modules []string
	fields, files  []string
}

// namedIn returns the names in snapshots of a file. Short ones can be a part of hashes, and
// two fields are called as words of the output.
func namedIn(path string, snapshots ...*heap.Snapshot) named {
	of := named{path: path, files: []string{strings.TrimSuffix(filepath.Base(path), ".gz")}}
	add := func(names *[]string, name string) {
		const shortest = 5
		if len(name) >= shortest && name != "handles" && name != "Value" && !slices.Contains(*names, name) {
			*names = append(*names, name)
		}
	}
	for _, s := range snapshots {
		for _, u := range s.Types {
			add(&of.types, u.Name)
			add(&of.types, u.Declaring)
			add(&of.modules, u.Module)
			add(&of.modules, u.Module[strings.LastIndexAny(u.Module, `/\`)+1:])
		}
		for _, r := range s.Graph.Roots() {
			add(&of.fields, r.Field)
		}
	}
	return of
}

// redacted are all outputs that have names of the heap, by a name.
func (of *named) redacted(t *testing.T, flags ...string) map[string][]byte {
	t.Helper()
	outputs := make(map[string][]byte)
	for name, args := range map[string][]string{
		"table": {"--top", "0"}, "json": {"--format", "json"}, "jsonl": {"--format", "jsonl"}, "csv": {"--format", "csv"},
		"modules": {"--by", "module", "--format", "csv"}, "objects": {"--by", "dominator", "--format", "csv"},
		"paths": {"--by", "path", "--format", "csv"}, "roots": {"--root", "static", "--format", "csv"}, "tree": {"--tree", "--format", "csv"},
		"page": {"--format", "html"},
	} {
		code, out, talk := gctrail(t.Context(), slices.Concat([]string{"objects", of.path}, args, flags)...)
		if code != 0 || out == "" {
			t.Fatalf("%s: %d, %s", name, code, talk)
		}
		outputs[name] = []byte(out)
	}
	formats := []string{"heapsnapshot", "gcdump", "perfetto", "pprof", "speedscope", "collapsed", "nettrace"}
	if strings.HasSuffix(of.path, ".gcdump.gz") {
		formats = formats[:len(formats)-1]
	}
	for _, format := range formats {
		file := filepath.Join(t.TempDir(), "out")
		if code, _, talk := gctrail(t.Context(), slices.Concat([]string{"convert", "--to", format, "-o", file, of.path}, flags)...); code != 0 {
			t.Fatalf("%s: %d, %s", format, code, talk)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if z, err := gzip.NewReader(bytes.NewReader(b)); err == nil {
			if b, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		outputs[format] = b
	}
	return outputs
}

// has reports whether bytes have a text in UTF-8 or UTF-16.
func has(b []byte, text string) bool {
	var wide []byte
	for _, u := range utf16.Encode([]rune(text)) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	return bytes.Contains(b, []byte(text)) || bytes.Contains(b, wide)
}

// TestRedactTwice: files of one command have the same hash for the same name.
func TestRedactTwice(t *testing.T) {
	code, out, talk := gctrail(t.Context(), "objects", "--redact", "--top", "0", "--format", "csv", leakTrace, leakTrace)
	lines := strings.Split(strings.TrimSpace(out), "\n")[1:]
	half := len(lines) / 2
	if code != 0 || half < 600 || !slices.Equal(lines[:half], lines[half:]) {
		t.Errorf("%d, %d lines, %s", code, len(lines), talk)
	}
}

// TestRedactHeap: no output with --redact has a name of a type, a file or a static field;
// with --keep-system, types of the framework stay, and the program's do not.
func TestRedactHeap(t *testing.T) {
	dump, err := heap.ReadGCDump(bytes.NewReader(tracetest.Gunzip(t, richDump)))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []named{namedIn(leakTrace, dotnettest.Snapshots(t, leakTrace)...), namedIn(richDump, dump)} {
		if len(of.types) < 80 || len(of.modules) < 2 || len(of.fields) < 20 {
			t.Fatalf("%s: %d types, %d files, %d fields", of.path, len(of.types), len(of.modules), len(of.fields))
		}
		own := func(name string) bool { return strings.Contains(name, "Shop") || strings.Contains(name, "load.dll") }
		for output, b := range of.redacted(t, "--redact") {
			names := slices.Concat(of.types, of.modules, of.fields, of.files)
			if output == "page" { // has a script full of words, and the same snapshots packed
				names = of.files
			}
			for _, name := range names {
				if has(b, name) {
					t.Errorf("%s: %s has %s", of.path, output, name)
				}
			}
		}
		for output, b := range of.redacted(t, "--redact", "--keep-system") {
			for _, name := range slices.Concat(of.types, of.modules) {
				if own(name) && has(b, name) {
					t.Errorf("%s: %s has %s", of.path, output, name)
				}
			}
			if !slices.Contains([]string{"roots", "modules", "page"}, output) && !has(b, "System.Object[]") && !has(b, "System.Object") {
				t.Errorf("%s: %s has no name of the framework", of.path, output)
			}
		}
	}
}
