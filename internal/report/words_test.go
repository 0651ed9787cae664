package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
)

// TestWordsAreExplained checks every word of an enum, and every rule, that a report
// or a list of collections can show.
func TestWordsAreExplained(t *testing.T) {
	shown := []string{"gen 0", "gen 1", "gen 2", "time in GC", "R01", "exact", "estimate", "lower_bound", "heap_walk"}
	for _, r := range findings.Rules() {
		shown = append(shown, r.ID)
	}
	generations := gc.GenerationNames()
	shown = append(shown, generations[:]...)
	for k := gc.Blocking; k <= gc.Foreground; k++ {
		shown = append(shown, k.String())
	}
	named := func(name string) bool { return !strings.HasSuffix(name, ")") } // GCReason(18)
	for r := clr.GCReason(0); named(r.String()); r++ {
		shown = append(shown, r.String())
	}
	for r := clr.SuspendReason(0); named(r.String()); r++ {
		shown = append(shown, r.String())
	}
	for r := clr.RootType(0); named(r.String()); r++ {
		shown = append(shown, r.String())
	}
	for bit := range 32 {
		for _, names := range [][]string{clr.CondemnReasons1(1 << bit).Names(), clr.GlobalMechanisms(1 << bit).Names()} {
			for _, name := range names {
				if !strings.HasPrefix(name, "0x") {
					shown = append(shown, name)
				}
			}
		}
	}
	for severity := findings.Note; severity <= findings.Problem; severity++ {
		shown = append(shown, severity.String(), findings.Confidence(severity).String())
	}
	for _, name := range shown {
		found := Definitions(name)
		if len(found) == 0 {
			t.Errorf("%s is not explained", name)
		}
		for _, f := range found {
			if f.Text == "" || f.Unit == "" || f.Source == "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	for alias := range aliases {
		if len(Definitions(alias)) == 0 {
			t.Errorf("%s means nothing", alias)
		}
	}
	if n := len(shown); n < 120 {
		t.Errorf("%d words", n)
	}
}

// TestHeadingsAreExplained checks the headings of the report's tables, which it
// takes from the source: a table shows the columns that there are figures for.
func TestHeadingsAreExplained(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	headings := 0
	check := func(e ast.Expr) {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING || lit.Value == `""` {
			return
		}
		heading, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		headings++
		for _, shown := range []string{heading, heading + " ms", heading + " µs", heading + " GB"} {
			if len(Definitions(shown)) == 0 {
				t.Errorf("%q is not explained", shown)
			}
		}
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Heading" {
					check(n.Value)
				}
			case *ast.CallExpr:
				method, ok := n.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				switch method.Sel.Name {
				case "words", "numbers", "times", "sizes":
					check(n.Args[0])
				case "timesIn":
					check(n.Args[1])
				}
			}
			return true
		})
	}
	if headings < 30 {
		t.Errorf("only %d headings were found", headings)
	}
}
