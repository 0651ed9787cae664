package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
)

// TestObjectColumns holds the columns of the page's lists of objects to the columns of the command;
// -update writes them.
func TestObjectColumns(t *testing.T) {
	const path = "../../web/src/data/objects.ts"
	var b bytes.Buffer
	b.WriteString("// The columns of lists of objects. Made of gctrail objects by go generate ./internal/cli.\n\nexport const objectColumns = {\n")
	var seen []string
	for by := range heap.Groupings() {
		for _, f := range objectFields(heap.Grouping(by), "") {
			if slices.Contains(seen, f.Name) {
				continue
			}
			seen = append(seen, f.Name)
			defined := report.Definitions(f.Name)
			if len(defined) == 0 {
				t.Fatalf("%s has no definition", f.Name)
			}
			fmt.Fprintf(&b, "  %s: { label: %q, term: %q },\n", f.Name, pageLabel(&f), defined[0].Name)
		}
	}
	b.WriteString("};\n")
	if extent.Update() {
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("%s is old: run go generate ./internal/cli\n%s", path, diff)
	}
}

// pageLabel returns the heading of a column on the page, where each size has its unit.
func pageLabel(f *list.Field[objectRow]) string {
	if f.Type != figure.Bytes {
		return cmp.Or(f.Heading, f.Name)
	}
	return cmp.Or(strings.TrimSpace(strings.TrimSuffix(f.Heading, "MB")), f.Name)
}
