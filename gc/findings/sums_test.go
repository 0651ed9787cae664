package findings_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/open"
)

// TestSumsOnly checks that findings are the same with SumsOnly, except for the sentence
// on the longest pause.
func TestSumsOnly(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/net*-collect.nettrace.gz")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, path := range paths {
		judged := func(sumsOnly bool) (all []string) {
			f, err := open.File(path, open.Options{Want: gc.Wants})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			results, err := findings.Examine(f.Source, findings.Options{SumsOnly: sumsOnly})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				all = append(all, r.Verdict)
				for _, f := range r.Findings {
					all = append(all, fmt.Sprintln(f.ID, f.Severity, f.Confidence, f.Evidence, f.Collections, f.Shown, f.Settings))
				}
			}
			return all
		}
		if got, want := fmt.Sprint(judged(true)), fmt.Sprint(judged(false)); got != want || len(want) < 100 {
			t.Errorf("%s: with sums only\n%s\nwant\n%s", path, got, want)
		}
	}
}
