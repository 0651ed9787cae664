package docs

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// publicPackages returns the folders of the packages that other programs can import.
func publicPackages(t *testing.T) (dirs []string) {
	t.Helper()
	const root = "../.."
	hidden := []string{"internal", "cmd", "examples", "tools", "test", "testdata", "web"} // web has no Go
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case slices.Contains(hidden, d.Name()) || path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		}
		if p, err := build.ImportDir(path, 0); err == nil && len(p.GoFiles) > 0 && !p.IsCommand() {
			dirs = append(dirs, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) < 30 {
		t.Errorf("only %d packages", len(dirs))
	}
	return dirs
}

// TestExamples: every public package shows by an example how it is used.
func TestExamples(t *testing.T) {
	for _, path := range publicPackages(t) {
		p, err := build.ImportDir(path, 0)
		if err != nil {
			t.Fatal(err)
		}
		has := slices.ContainsFunc(slices.Concat(p.TestGoFiles, p.XTestGoFiles), func(name string) bool {
			source, err := os.ReadFile(filepath.Join(path, name))
			if err != nil {
				t.Fatal(err)
			}
			return strings.Contains(string(source), "\nfunc Example")
		})
		if !has {
			t.Errorf("%s has no example", path)
		}
	}
}
