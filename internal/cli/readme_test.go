package cli

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/text"
)

// TestReadme: the table in the README names every command that is about traces.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var table []byte
	for line := range bytes.Lines(readme) {
		if bytes.HasPrefix(line, []byte("| `gctrail")) {
			table = append(table, line...)
		}
	}
	for _, cmd := range newRootCmd(&stdio{err: text.NewPrinter(&bytes.Buffer{})}).Commands() {
		if !cmd.IsAvailableCommand() || slices.Contains([]string{"completion", "help", "version"}, cmd.Name()) {
			continue
		}
		if !regexp.MustCompile("`(gctrail )?" + regexp.QuoteMeta(cmd.Name()) + `\b`).Match(table) {
			t.Errorf("%s is not in the README", cmd.Name())
		}
	}
}

// TestReadmeReport: the report that the README shows parts of is that of the trace that
// gctrail demo reads.
func TestReadmeReport(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "$ gctrail app.nettrace\n")
	shown, _, found := strings.Cut(shown, "```")
	if !found {
		t.Fatal("the README shows no report")
	}
	out, talk, code := on(t, 0, "report", datasTrace)
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, talk)
	}
	rest := strings.Split(strings.ReplaceAll(out, datasTrace, "app.nettrace"), "\n")
	for line := range strings.Lines(shown) {
		line = strings.TrimSuffix(line, "\n")
		if line == "…" {
			continue
		}
		i := slices.Index(rest, line)
		if i < 0 {
			t.Fatalf("the report has no line %q here: take what it prints over to the README", line)
		}
		rest = rest[i+1:]
	}
}
