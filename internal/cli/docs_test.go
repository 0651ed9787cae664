package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/text"
)

//go:generate go test -run TestCommandDocs|TestFiguresDocument|TestSchemaFiles|TestObjectColumns -update

// TestCommandDocs compares docs/commands.md with the help of the commands.
func TestCommandDocs(t *testing.T) {
	const path = "../../docs/commands.md"
	want := commandDocs(newRootCmd(&stdio{out: &bytes.Buffer{}, err: text.NewPrinter(&bytes.Buffer{})}))
	if extent.Update() {
		if err := os.WriteFile(path, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/commands.md is old: run go generate ./internal/cli\n%s", diff)
	}
}

// commandDocs returns a chapter for each command.
func commandDocs(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString("<!-- Written by go generate ./internal/cli from the commands' own help. -->\n\n# Commands\n")
	describe(&b, root)
	for _, cmd := range root.Commands() {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		describe(&b, cmd)
		for _, part := range cmd.Commands() {
			describe(&b, part)
		}
	}
	return b.Bytes()
}

func describe(b *bytes.Buffer, cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n```text\n", cmd.CommandPath(), cmd.Short)
	long, examples := helpOf(cmd)
	if long != "" {
		fmt.Fprintf(b, "%s\n\n", strings.TrimSpace(long))
	}
	fmt.Fprintf(b, "%s\n", cmd.UseLine())
	if examples != "" {
		fmt.Fprintf(b, "\nExamples:\n%s\n", examples)
	}
	if flags := flagTable(cmd.LocalFlags()); flags != "" {
		fmt.Fprintf(b, "\nFlags:\n%s", flags)
	}
	b.WriteString("```\n")
}
