package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/docs"
	"github.com/gctrail/gctrail/internal/text"
)

// TestPrintedCommands: each command of gctrail in the code of documents has flags and arguments
// that gctrail accepts. internal/docs runs them.
func TestPrintedCommands(t *testing.T) {
	t.Chdir("../..")
	commands, err := docs.Commands(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, c := range commands {
		if line, ok := c.Gctrail(); ok {
			found++
			accepted(t, asTyped(line))
		}
	}
	if found < 230 {
		t.Errorf("only %d commands of gctrail", found)
	}
}

// inText matches a command within a sentence of a document.
var inText = regexp.MustCompile("`(gctrail [^`]+)`")

// TestCommandsInText: each command within a sentence has flags that exist. Placeholders make
// it one that cannot be run.
func TestCommandsInText(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	root, flags := newRootCmd(&stdio{out: &bytes.Buffer{}, err: text.NewPrinter(&bytes.Buffer{})}), 0
	for _, file := range append(files, "../../README.md", "../../CONTRIBUTING.md", "../../editor/vscode/README.md") {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inText.FindAllStringSubmatch(string(content), -1) {
			command, _, _ := strings.Cut(m[1], " -- ")
			cmd, rest, err := root.Find(shellWords(command)[1:])
			if err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(file), m[1], err)
				continue
			}
			for _, word := range rest {
				name, isFlag := strings.CutPrefix(word, "--")
				if name, _, _ = strings.Cut(name, "="); !isFlag || name == "" {
					continue
				}
				flags++
				if cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
					t.Errorf("%s: %s: %s has no flag --%s", filepath.Base(file), m[1], cmd.CommandPath(), name)
				}
			}
		}
	}
	if flags < 40 {
		t.Errorf("only %d flags in commands", flags)
	}
}

// asTyped returns a command as Main takes it over: a file alone is reported on.
func asTyped(line string) string {
	root := newRootCmd(&stdio{out: &bytes.Buffer{}, err: text.NewPrinter(&bytes.Buffer{})})
	words := shellWords(line)
	if args := implied(root, words[1:]); len(args) > len(words)-1 {
		return strings.Replace(line, "gctrail", "gctrail "+args[0], 1)
	}
	return line
}
