package findings_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
)

// TestFound holds the findings on each trace of testdata, with its evidence.
func TestFound(t *testing.T) {
	t.Parallel()
	var paths []string
	for _, pattern := range []string{"*.nettrace.gz", "*.etl.zip", "*.trace.zip"} {
		found, err := filepath.Glob(filepath.Join("../../testdata", pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	var b strings.Builder
	for _, path := range paths {
		f, err := open.File(path, open.Options{Want: wantsJoined, Head: gc.Head})
		if err != nil {
			t.Fatal(err)
		}
		results, err := examineJoined(f.Source)
		fmt.Fprintf(&b, "%s: %v\n", filepath.Base(path), err)
		for _, r := range results {
			fmt.Fprintf(&b, "  %s: %s\n", r.Summary.Process.Name, r.Verdict)
			for _, f := range r.Findings {
				fmt.Fprintf(&b, "    %s, %s, %s: %s: %s\n", f.ID, f.Severity, f.Confidence, f.Title, f.Description)
				fmt.Fprintf(&b, "      %d show it: %v; %+v\n", f.Shown, f.Collections, f.Evidence)
				for _, a := range f.Advice {
					fmt.Fprintf(&b, "      %+v\n", a)
				}
			}
		}
		f.Close()
	}
	extent.Golden(t, "testdata/found.txt", b.String())
}
