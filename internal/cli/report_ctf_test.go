package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/ctftest"
)

// TestReportWithoutContexts: an LTTng trace need not say which process an event
// is of; then that is the first thing to know of it.
func TestReportWithoutContexts(t *testing.T) {
	text, err := os.ReadFile("../../ctf/testdata/no_contexts.txt")
	if err != nil {
		t.Fatal(err)
	}
	trace, _, _ := strings.Cut(string(text), "-- want --")
	files, err := ctftest.Assemble(trace)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, f := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := report80(t, dir)
	for _, want := range []string{"processes cannot be told apart", "lttng add-context"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
}
