package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// avoided maps the start of a phrase to what says the same in plain English. A
// phrase is added once the repository is free of it.
var avoided = map[string]string{
	"stand still":        "are paused",
	"stood still":        "were paused",
	"that is to say":     "in other words",
	"of which none":      "none of",
	"is handed on":       "is passed through",
	"in silence":         "silently",
	"says whether":       "reports whether",
	"tells whether":      "reports whether",
	"told whether":       "reports whether",
	"told apart":         "distinguished",
	"handed out":         "emitted",
	"hands out":          "emits",
	"held against":       "compared with",
	"in order of time":   "in time order",
	"is told of":         "learns of",
	"leave holes":        "leave free space",
	"holes are left":     "free space is left",
	"its holes":          "its free space",
	"is nothing for":     "is not for",
	"ask for leave":      "you have no permission",
	"holes in gen":       "free space in gen",
	"asks for what":      "is invalid",
	"no arguments are":   "unexpected argument",
	"there is no column": "unknown column",
	"is no figure":       "unknown figure",
	"did not come":       "was never met",
	"goes on without":    "continues untraced",
	"tells of ":          "reports",
	" tell of ":          "report",
	"are told of ":       "are listed",
	" is one that ":      "a noun in place of one",
	"passes over":        "skips",
	"passed over":        "skipped",
	"where there is no":  "if there is no",
	"nil where ":         "nil if",
	"zero where ":        "zero if",
}

// TestAvoided checks the string literals and comments of Go files, and Markdown.
func TestAvoided(t *testing.T) {
	const root = "../.."
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		switch {
		case strings.HasSuffix(path, ".md"), filepath.Base(filepath.Dir(path)) == "help":
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files++
			check(t, path, string(text))
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			files++
			return checkGo(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("only %d files were found", files)
	}
}

// TestCheckFinds checks that a phrase is found across a line break.
func TestCheckFinds(t *testing.T) {
	if got := found("Threads Stand\n// still."); got != "stand still" {
		t.Errorf("found %q", got)
	}
}

func checkGo(t *testing.T, path string) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	at := func(n ast.Node) string { return fset.Position(n.Pos()).String() }
	ast.Inspect(file, func(n ast.Node) bool {
		if n, ok := n.(*ast.BasicLit); ok && n.Kind == token.STRING {
			if s, err := strconv.Unquote(n.Value); err == nil {
				check(t, at(n), s)
			}
		}
		return true
	})
	for _, group := range file.Comments {
		check(t, at(group), group.Text())
	}
	return nil
}

func check(t *testing.T, where, text string) {
	if phrase := found(text); phrase != "" {
		t.Errorf("%s: %q; say: %s", where, phrase, avoided[phrase])
	}
}

// found returns the first avoided phrase in a text, or nothing.
func found(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(text, "//", " ")), " "))
	for phrase := range avoided {
		if strings.Contains(text, phrase) {
			return phrase
		}
	}
	return ""
}
