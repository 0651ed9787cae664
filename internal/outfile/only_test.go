package outfile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// exempt lists the files that make, open to write or rename files themselves, and the
// reasons why no earlier file is destroyed.
var exempt = map[string]string{
	"open/spool_unix.go":        "a temporary file without a name",
	"open/spool_windows.go":     "a temporary file that the system removes",
	"ctf/writer_files.go":       "new files only, in a folder that was empty",
	"internal/lttng/receive.go": "new files only",
	"internal/collect/join.go":  "renames a complete trace",
	"internal/etw/join.go":      "extends a trace, which is then renamed",
	"internal/cli/run.go":       "renames a complete trace",
	"internal/trial/program.go": "renames a complete trace",
	"diag/discover_linux.go":    "opens a folder to read",
	"diag/root_linux.go":        "opens a file to read",
	"diag/flavour_other.go":     "opens a file to read",
	"diag/transport_windows.go": "opens a pipe",
	"clr/internal/gen/main.go":  "generates source files, which git has",
	"deploy/release/sbom.go":    "writes to the folder of a release, which is new",
	"tools/mutate/main.go":      "writes to a folder of its own",
	"tools/licenses/main.go":    "generates a source file, which git has",
	"internal/extent/golden.go": "writes what tests expect, which git has",
}

// making are the functions of package os that make, open to write or rename files.
var making = map[string]bool{"Create": true, "CreateTemp": true, "OpenFile": true, "Rename": true, "WriteFile": true}

// TestOnly: no other package makes files, so that no earlier file is destroyed.
func TestOnly(t *testing.T) {
	root, found := "../..", map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || strings.HasSuffix(name, "test") || name == "outfile") {
			return fs.SkipDir // hidden files, tests and their helpers, and this package
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !making[s.Sel.Name] {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "os" {
				found[rel] = true
				if exempt[rel] == "" {
					t.Errorf("%s calls os.%s: use outfile.Create or outfile.WriteFile", rel, s.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file := range exempt {
		if !found[file] {
			t.Errorf("%s makes no files any more: remove it from exempt", file)
		}
	}
}
