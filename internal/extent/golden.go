package extent

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files of tests anew")

// Update reports whether go test -update was run, which writes the files of tests anew.
func Update() bool { return *update }

// Golden compares a file that people have read with its content now, which go test -update
// writes to it.
func Golden(tb testing.TB, path, want string) {
	tb.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			tb.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		tb.Fatal(err)
	}
	old, lines := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for i := range max(len(old), len(lines)) {
		if i == len(old) || i == len(lines) || old[i] != lines[i] {
			tb.Errorf("%s:%d is old, -update writes it anew:\n%s\nshould be\n%s", path, i+1, at(old, i), at(lines, i))
			return
		}
	}
}

// at returns a line, and nothing behind the last one.
func at(lines []string, i int) string {
	if i == len(lines) {
		return "(the end)"
	}
	return lines[i]
}
