package docs

import (
	"bytes"
	"cmp"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/extent"
)

//go:generate go test -run TestMap -update

const module = "github.com/gctrail/gctrail/"

var (
	mapRow = regexp.MustCompile("^\\| (`.*?) \\| (.*) \\|.*\\|\n$")
	quoted = regexp.MustCompile("`([^`]+)`")
	major  = regexp.MustCompile(`/v\d+$`)
	two    = regexp.MustCompile(`^[^/]+(/[^/]+)?`)
)

// mostPackages is how many packages of this module the last column of the map lists.
const mostPackages = 30

// TestMap holds the map in docs/architecture.md to the packages: each has one
// row, which says what its files import on any system. None imports a package of a later row.
func TestMap(t *testing.T) {
	const file = "../../docs/architecture.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	packages := importsOf(t)
	var want []byte
	rows := map[string]int{} // the line of each package
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if m := mapRow.FindStringSubmatch(line); m != nil {
			var names []string
			for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
				if rows[q[1]] != 0 {
					t.Errorf("%s: %s has two rows, in lines %d and %d", file, q[1], rows[q[1]], number)
				}
				names, rows[q[1]] = append(names, q[1]), number
				if packages[q[1]] == nil {
					t.Errorf("%s: there is no package %s", file, q[1])
				}
			}
			line = "| " + m[1] + " | " + m[2] + " | " + importColumn(packages, names) + " |\n"
		}
		want = append(want, line...)
	}
	for name := range packages {
		if rows[name] == 0 {
			t.Errorf("%s: %s has no row in the map", file, name)
		}
	}
	for name, imports := range packages {
		slices.Sort(imports)
		for _, imported := range slices.Compact(imports) {
			if inside, ok := strings.CutPrefix(imported, module); ok && rows[name] != 0 && rows[inside] > rows[name] {
				t.Errorf("%s: %s is before %s, which it imports: data flows one way", file, name, inside)
			}
		}
	}
	if bytes.Equal(text, want) {
		return
	}
	if !extent.Update() {
		t.Fatalf("%s: the map is old: run go generate ./internal/docs", file)
	}
	if err := os.WriteFile(file, want, 0o666); err != nil {
		t.Fatal(err)
	}
}

// importColumn returns the packages that packages import except from each other, with
// this module's first.
func importColumn(packages map[string][]string, names []string) string {
	var own, others []string
	for _, name := range names {
		for _, imported := range packages[name] {
			if inside, ok := strings.CutPrefix(imported, module); ok {
				if !slices.Contains(names, inside) {
					own = append(own, inside)
				}
			} else if first, rest, ok := strings.Cut(imported, "/"); ok && strings.Contains(first, ".") {
				others = append(others, two.FindString(major.ReplaceAllString(rest, "")))
			}
		}
	}
	slices.Sort(own)
	slices.Sort(others)
	own, others = slices.Compact(own), slices.Compact(others)
	for i := range own {
		own[i] = "`" + own[i] + "`"
	}
	if len(own) > mostPackages {
		own = []string{"most of the above"}
	}
	return cmp.Or(strings.Join(append(own, others...), ", "), "std")
}

// importsOf returns the packages of this module, and what each imports on any system.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	const root = "../.."
	packages := map[string][]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			others := []string{"testdata", "node_modules", "test", "tools"} // the last two are modules of their own
			if slices.Contains(others, d.Name()) || name != root && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		p := filepath.ToSlash(dir)
		packages[p] = append(packages[p], "") // a package that imports nothing is one too
		for _, i := range f.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			packages[p] = append(packages[p], imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 60 {
		t.Errorf("only %d packages", len(packages))
	}
	return packages
}
