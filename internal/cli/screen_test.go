package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/text"
)

// partOfReport matches the first line of a report that need not be on the first
// screen.
var partOfReport = regexp.MustCompile(`(?m)^(Trace|[0-9,]+ processes with GCs, by total pause)$`)

// TestFirstScreen checks that the beginning of a report fits a terminal of 80 columns and
// 24 lines: the verdict, figures, evidence, findings and the next commands.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	var paths []string
	for _, pattern := range []string{"../../testdata/*.net*.gz", "../../testdata/*.zip", "../../../shared/traces/*/*.nettrace.gz", "../../../shared/traces/*/*.zip", "../../../shared/traces/*/*.tar.xz"} {
		found, _ := filepath.Glob(pattern)
		if !extent.All() {
			if strings.Contains(pattern, "shared") {
				continue
			}
			found = slices.DeleteFunc(found, func(path string) bool { return !extent.Sampled(path, 3) })
		}
		if strings.Contains(pattern, "shared") {
			found = extent.Share(found, 4)
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		t.Fatal("no traces")
	}
	const width, height = 80, 24
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.Size() > 32<<20 {
			continue
		}
		out := shownReport(t, width, path)
		at := partOfReport.FindStringIndex(out)
		if at == nil {
			t.Errorf("%s: the report has no second part", path)
			continue
		}
		first := strings.Split(strings.TrimRight(out[:at[0]], "\n"), "\n")
		if len(first) > height-1 {
			t.Errorf("%s: %d lines before the rest of the report:\n%s", path, len(first), out[:at[0]])
		}
		empty := strings.HasPrefix(out, "No ") && !strings.Contains(out[:at[0]], "Next")
		if !empty && !strings.Contains(out[:at[0]], "\nNext\n  $ gctrail ") {
			t.Errorf("%s: the first screen suggests no command:\n%s", path, out[:at[0]])
		}
		for _, line := range first {
			if n := text.Width(line); n > width && !strings.HasPrefix(line, "  $ ") {
				t.Errorf("%s: %d cells: %s", path, n, line)
			}
		}
	}
}
