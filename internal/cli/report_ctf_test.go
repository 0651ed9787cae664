package cli

import (
	"os"
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
