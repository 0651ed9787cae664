package wording

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExamples: every public package shows by an example how it is used.
func TestExamples(t *testing.T) {
	const root = "../.."
	hidden := []string{"internal", "cmd", "examples", "tools", "test", "testdata", "web"} // web has only text
	packages := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case slices.Contains(hidden, d.Name()) || path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		}
		p, err := build.ImportDir(path, 0)
		if err != nil || len(p.GoFiles) == 0 {
			return nil // no package
		}
		packages++
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			source, err := os.ReadFile(filepath.Join(path, name))
			if err != nil {
				return err
			}
			if strings.Contains(string(source), "\nfunc Example") {
				return nil
			}
		}
		t.Errorf("%s has no example", path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if packages < 30 {
		t.Errorf("only %d packages", packages)
	}
}
