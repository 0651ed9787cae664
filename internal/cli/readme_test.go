package cli

import (
	"bytes"
	"os"
	"regexp"
	"slices"
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
