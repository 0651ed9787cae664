package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shortest is the length in characters from which a comment block is measured. Shorter
// ones are excluded because they are labels, in which nobody looks for a reason. With it,
// cilium/ebpf gives a reason in 11.6 % of its blocks, and has few of the avoided words
// (0.1 % and 0.7 %).
const shortest = 60

// measures are the shares of comment blocks that match a pattern, with limits in percent.
var measures = []struct {
	name    string
	pattern *regexp.Regexp
	// all includes trailing and short comments, because the word is bad in these, too.
	all         bool
	least, most float64
}{
	// "What" as a noun among the first seven words, as in "padding is what survivors may be".
	{name: "opens with what", pattern: regexp.MustCompile(`(?i)^(\S+ ){0,6}what\b`), most: 0.5},
	{name: "those", pattern: regexp.MustCompile(`(?i)\bthose\b`), most: 0.5},
	{name: "tell", pattern: regexp.MustCompile(`(?i)\b(un)?(tells?|told)\b`), all: true, most: 0},
	{
		name:    "reason",
		pattern: regexp.MustCompile(`(?i)\b(because|so that|otherwise|would|since|to avoid|in case)\b`),
		least:   12, most: 100,
	},
}

// A comment is an ast.CommentGroup without its directives.
type comment struct {
	at       string // path:line
	text     string // in one line
	trailing bool   // code precedes it in its line
}

// TestComments limits the measures of all comments outside generated files. With -v it
// lists the offenders, file by file.
func TestComments(t *testing.T) {
	comments := comments(t)
	for _, m := range measures {
		blocks, matches := 0, 0
		for _, c := range comments {
			if !m.all && (c.trailing || len(c.text) < shortest) {
				continue
			}
			blocks++
			if m.pattern.MatchString(c.text) {
				matches++
				if testing.Verbose() && m.most < 100 {
					t.Logf("%s: %s: %s", c.at, m.name, c.text)
				}
			}
		}
		share := 100 * float64(matches) / float64(max(blocks, 1))
		t.Logf("%s: %d of %d comments, %.2f %%", m.name, matches, blocks, share)
		if share < m.least || share > m.most {
			t.Errorf("%s: %.2f %% of comments, want %g to %g", m.name, share, m.least, m.most)
		}
	}
}

func comments(t *testing.T) (all []comment) {
	t.Helper()
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || path != root && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		code := linesWithCode(fset, file)
		for _, group := range file.Comments {
			if text := strings.Join(strings.Fields(group.Text()), " "); text != "" {
				at := fset.Position(group.Pos())
				all = append(all, comment{at.String(), text, code[at.Line]})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 5000 {
		t.Errorf("only %d comments", len(all))
	}
	return all
}

// linesWithCode returns the lines where a node of the file begins or ends.
func linesWithCode(fset *token.FileSet, file *ast.File) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.CommentGroup:
			return false
		case *ast.File: // may begin with its comments
		default:
			lines[fset.Position(n.Pos()).Line] = true
			lines[fset.Position(n.End()-1).Line] = true
		}
		return true
	})
	return lines
}
