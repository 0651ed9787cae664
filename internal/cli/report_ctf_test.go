package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReportWithoutContexts: an LTTng trace need not say which process an event
// is of; then that is the first thing to know of it.
func TestReportWithoutContexts(t *testing.T) {
	text, err := os.ReadFile("../../ctf/testdata/no_contexts.txt")
	if err != nil {
		t.Fatal(err)
	}
	trace, _, _ := strings.Cut(string(text), "-- want --")
	out := report80(t, assembleCTF(t, trace))
	for _, want := range []string{"processes cannot be", "lttng add-context"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
}

// TestReportOfEmptyStream: a trace whose only stream file is empty names that, and why it may be.
func TestReportOfEmptyStream(t *testing.T) {
	text, err := os.ReadFile("../../ctf/testdata/no_contexts.txt")
	if err != nil {
		t.Fatal(err)
	}
	trace, _, _ := strings.Cut(string(text), "-- want --")
	const none = "stream files of this LTTng trace hold none. The session recorded nothing, still runs"
	folder := assembleCTF(t, trace)
	if out := strings.Join(strings.Fields(report80(t, folder)), " "); strings.Contains(out, none) {
		t.Errorf("a trace with events: %s", out)
	}
	err = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "metadata" {
			return err
		}
		return os.Truncate(path, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	if out := strings.Join(strings.Fields(report80(t, folder)), " "); !strings.Contains(out, none) {
		t.Errorf("the report lacks %q: %s", none, out)
	}
}
