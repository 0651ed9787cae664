package cli

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/schema"
	"github.com/gctrail/gctrail/internal/text"
)

// commandsWith returns the commands that have a flag, by their names without gctrail.
func commandsWith(flag string) map[string]*cobra.Command {
	found := map[string]*cobra.Command{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Flags().Lookup(flag) != nil {
			_, name, _ := strings.Cut(cmd.CommandPath(), " ")
			found[name] = cmd
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRootCmd(&stdio{out: &bytes.Buffer{}, err: text.NewPrinter(&bytes.Buffer{}), shell: true}))
	return found
}

// unpublished are the commands whose JSON has no schema.
var unpublished = []string{
	"run",         // that of check
	"fleet-query", // that of the query
}

// TestEveryJSONHasASchema: a command that writes JSON has a schema of its name.
func TestEveryJSONHasASchema(t *testing.T) {
	for name, cmd := range commandsWith("format") {
		format, ok := cmd.Flags().Lookup("format").Value.(*choice)
		if !ok || !slices.Contains(format.of, "json") && !slices.Contains(format.of, "jsonl") {
			continue
		}
		name = strings.ReplaceAll(name, " ", "-")
		has := slices.ContainsFunc(schema.Names(), func(s string) bool { return s == name || strings.HasPrefix(s, name+"-") })
		if has == slices.Contains(unpublished, name) {
			t.Errorf("%s: a schema in internal/schema/shapes: %t", name, has)
		}
	}
}

// TestEveryListIsExplained: --explain defines the columns that lists can be sorted by.
func TestEveryListIsExplained(t *testing.T) {
	for name, cmd := range commandsWith("sort") {
		offer, ok := cmd.GetFlagCompletionFunc("sort")
		if !ok {
			t.Errorf("%s: --sort has no completion", name)
			continue
		}
		columns, _ := offer(cmd, nil, "")
		for _, c := range columns {
			if len(report.Definitions(c)) == 0 {
				t.Errorf("%s: %q is not explained", name, c)
			}
		}
	}
}

// TestEveryFormatIsDocumented: docs/convert.md has a row for each format.
func TestEveryFormatIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/convert.md")
	if err != nil {
		t.Fatal(err)
	}
	var first []byte // column of the table
	for line := range bytes.Lines(doc) {
		if cells := bytes.Split(line, []byte("|")); len(cells) > 2 {
			first = append(first, cells[1]...)
		}
	}
	for _, name := range convert.Names() {
		if !bytes.Contains(first, []byte(name)) {
			t.Errorf("docs/convert.md has no row for %s", name)
		}
	}
}
