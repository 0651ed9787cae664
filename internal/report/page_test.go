package report

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc"
)

// TestPageTerms: each term that the page explains has a definition, as the title of a
// heading, and a term without one has no title.
func TestPageTerms(t *testing.T) {
	var defined []string
	for _, term := range Terms() {
		defined = append(defined, strings.ToLower(term.Name))
	}
	uses := regexp.MustCompile(`\bterm: "([^"]*)"|<Term head=\{head\} name="([^"]*)"`)
	paths, err := filepath.Glob("../../web/src/ui/*.ts*")
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, "../../web/src/data/columns.ts", "../../web/src/data/objects.ts")
	found := 0
	for _, name := range gc.GenerationNames() {
		if !slices.Contains(defined, name) {
			t.Errorf("%s has no definition in internal/report", name)
		}
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range uses.FindAllSubmatch(b, -1) {
			name := string(slices.Concat(match[1], match[2]))
			found++
			if !slices.Contains(defined, strings.ToLower(name)) {
				t.Errorf("%s: %q has no definition in internal/report", filepath.Base(path), name)
			}
		}
	}
	if found < 20 {
		t.Errorf("%d terms in %q", found, paths)
	}
}
