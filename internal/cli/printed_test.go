package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/text"
)

// A printedCommand is a command line in a document, or in the help of a command.
type printedCommand struct {
	at   string // "docs/heap.md:7"
	line string // from gctrail to the end of the command
}

// standIns are the files that documents name, and the ones of testdata that commands read
// in their place.
var standIns = map[string]string{
	"app.nettrace":                         "net9-srv-datas-web-collect.nettrace.gz",
	"earlier.nettrace":                     objectsToo,
	"nameless.nettrace":                    "net10-wks-leak.nettrace.gz",
	"other.nettrace":                       "net10-wks-leak.nettrace.gz",
	"heap.nettrace":                        "net10-wks-leak-event.nettrace.gz",
	"leak.nettrace":                        "net10-wks-leak.nettrace.gz",
	"pins.nettrace":                        "net10-wks-leak.nettrace.gz",
	"web.nettrace":                         "net10-wks-requests.nettrace.gz",
	"web8.nettrace":                        "net10-wks-stacks.nettrace.gz",
	"made-up.nettrace":                     "net10-wks-web-collect.nettrace.gz",
	"before.nettrace":                      "cures/collect-bad.nettrace.gz",
	"after.nettrace":                       "cures/collect-good.nettrace.gz",
	"b1.nettrace":                          "cures/runs/before/1.nettrace.gz",
	"b2.nettrace":                          "cures/runs/before/2.nettrace.gz",
	"a1.nettrace":                          "cures/runs/after/1.nettrace.gz",
	"a2.nettrace":                          "cures/runs/after/2.nettrace.gz",
	"app.gcdump":                           "net8-wks-rich.gcdump.gz",
	"before.gcdump":                        "net8-wks-rich.gcdump.gz",
	"after.gcdump":                         "net8-wks-rich.gcdump.gz",
	"gcload-net8_20261123_081427.nettrace": "net10-wks-web-collect.nettrace.gz",
}

// folderStandIns are the same for folders.
var folderStandIns = map[string]string{
	"before": "cures/runs/before", "after": "cures/runs/after", "baseline": "cures/runs/before", "main": "cures/runs/before", "branch": "cures/runs/after",
	"traces": "cures/runs/after", "nightly": "cures/runs/after",
}

// objectsToo stands in for app.nettrace where a command needs allocations, or a heap snapshot.
const objectsToo = "net10-wks-allocs-snapshot.nettrace.gz"

// notRun are the commands that a test cannot run as they are printed, and why. Their flags
// and arguments are checked nevertheless.
var notRun = []struct{ begins, why string }{
	{"gctrail", "lists the processes of the machine until it is stopped"},
	{"gctrail agent", "runs until it is stopped; test/e2e runs it"},
	{"gctrail collect", "needs a process; internal/collect and its scripts have some"},
	{"gctrail dump", "needs a process; its scripts have some"},
	{"gctrail fleet", "needs a store; test/e2e has ClickHouse, and internal/fleet files"},
	{"gctrail ledger", "needs a record of the process"},
	{"gctrail mcp", "answers on standard input until it ends; TestMCP calls it"},
	{"gctrail ps", "lists the processes of the machine"},
	{"gctrail run", "needs a program of .NET"},
	{"gctrail serve", "runs until it is stopped; test/browser opens its pages"},
	{"gctrail top", "needs a process, and a terminal"},
	{"gctrail try", "needs a program of .NET"},
	{"gctrail report app.nettrace --ledger", "needs a record of the process"},
}

// inCode matches a command of gctrail in a line of code, with any prefix: a prompt, variables,
// npx, the step of a pipeline, or kubectl exec.
var inCode = regexp.MustCompile(`^\s*(?:\$ |- run: |- script: |- )?(?:[A-Z_]+=\S+ )*(?:npx |dnx |kubectl exec .* -- /)?(gctrail(?:\s.*)?)$`)

// commandEnd matches the end of a command in its line: a remark, another command, a redirection,
// or an explanation in the next column.
var commandEnd = regexp.MustCompile(` +(#|\||&&?|>|<) ?.*$|\s&$|   +.*$| >\S+$`)

// printedCommands returns the commands in the code of documents, and in the help.
func printedCommands(t *testing.T) []printedCommand {
	t.Helper()
	var all []printedCommand
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "docs/format/*.md", "deploy/registry/*/README.md", "editor/vscode/README.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if file != filepath.FromSlash("docs/commands.md") { // which is the help
				all = append(all, commandsOf(t, file)...)
			}
		}
	}
	return append(all, helpExamples(newRootCmd(&stdio{out: &bytes.Buffer{}, err: text.NewPrinter(&bytes.Buffer{})}))...)
}

// commandsOf returns the commands in the code of a document: fenced, or indented.
func commandsOf(t *testing.T, file string) []printedCommand {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []printedCommand
	isFenced := false
	lines := strings.Split(string(content), "\n")
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "```") {
			isFenced = !isFenced
			continue
		}
		at, line := fmt.Sprintf("%s:%d", filepath.ToSlash(file), i+1), lines[i]
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, `\`) + strings.TrimSpace(lines[i])
		}
		m := inCode.FindStringSubmatch(line)
		if m != nil && (isFenced || strings.HasPrefix(line, "    ")) {
			found = append(found, printedCommand{at, strings.TrimSpace(commandEnd.ReplaceAllString(m[1], ""))})
		}
	}
	return found
}

// helpExamples returns the examples in the help of a command and of its subcommands.
func helpExamples(cmd *cobra.Command) []printedCommand {
	var found []printedCommand
	for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", " ")) {
		if m := inCode.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			found = append(found, printedCommand{cmd.CommandPath() + " --help", strings.TrimSpace(commandEnd.ReplaceAllString(m[1], ""))})
		}
	}
	for _, sub := range cmd.Commands() {
		found = append(found, helpExamples(sub)...)
	}
	return found
}

// TestPrintedCommands: each command in the code of documents and in the help is one that
// gctrail accepts, and ends well on the files that stand in for the named ones, unless it is
// in notRun.
func TestPrintedCommands(t *testing.T) {
	t.Chdir("../..")
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	commands := printedCommands(t)
	placeStandIns(t, filepath.Join(root, "testdata"))
	reasons, tried := map[string]int{}, map[string]bool{}
	ran, share := 0, extent.Pick(6, 3, 1)
	for i, c := range commands {
		args := accepted(t, c.asTyped())
		if why := c.notRun(); why != "" {
			reasons[why]++
			continue
		}
		if tried[c.line] || (i+extent.Turn())%share != 0 {
			continue
		}
		tried[c.line] = true
		ran++
		if out, talk, code := on(t, 0, onStandIns(t, args, root)...); code != exitDone && (code != exitOverBudget || args[0] != "check") {
			t.Errorf("%s: %s: exit %d: %s%.300s", c.at, c.line, code, talk, out)
		}
	}
	if len(commands) < 200 || ran < 10 {
		t.Errorf("%d of %d commands were run", ran, len(commands))
	}
	for _, n := range notRun {
		if reasons[n.why] == 0 {
			t.Errorf("no document has %s: take it from the list of what is not run", n.begins)
		}
	}
	t.Logf("%d commands, of which %d were run", len(commands), ran)
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

// asTyped returns the command as Main takes it over: a file alone is reported on.
func (c *printedCommand) asTyped() string {
	root := newRootCmd(&stdio{out: &bytes.Buffer{}, err: text.NewPrinter(&bytes.Buffer{})})
	c.line = strings.Replace(c.line, "gctrail -- ", "gctrail ", 1) // what dnx passes on
	words := shellWords(c.line)
	if args := implied(root, words[1:]); len(args) > len(words)-1 {
		return strings.Replace(c.line, "gctrail", "gctrail "+args[0], 1)
	}
	return c.line
}

// notRun returns the reason that the test does not run the command, if there is one.
func (c *printedCommand) notRun() string {
	for _, n := range notRun {
		if c.line == n.begins || n.begins != "gctrail" && strings.HasPrefix(c.line, n.begins+" ") {
			return n.why
		}
	}
	return ""
}

// onStandIns returns the arguments with which a command finds files in the folder of
// placeStandIns: with the names that a shell would put for patterns, and of testdata.
func onStandIns(t *testing.T, args []string, root string) []string {
	t.Helper()
	budget := "version: 1\nlimits: {pause_max_ms: 200}\n"
	if slices.Contains(args, "--baseline") {
		budget = "version: 1\nbaseline: {allocated_bytes: 3}\n"
	}
	if err := os.WriteFile("gc-budget.yaml", []byte(budget), 0o666); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(args, "--init") { // which writes over no file
		if err := os.Remove("gc-budget.yaml"); err != nil {
			t.Fatal(err)
		}
	}
	var all []string
	for _, arg := range args {
		switch matches, _ := filepath.Glob(arg); {
		case strings.HasPrefix(arg, "testdata/"):
			all = append(all, filepath.Join(root, arg))
		case arg == "app.nettrace" && slices.Contains([]string{"allocs", "convert", "objects"}, args[0]):
			all = append(all, objectsToo)
		case len(matches) > 0:
			all = append(all, matches...)
		default:
			all = append(all, arg)
		}
	}
	return all
}

// placeStandIns changes to a folder that has the files that documents name, made from traces of
// testdata.
func placeStandIns(t *testing.T, testdata string) {
	t.Helper()
	dir := t.TempDir()
	place := func(name, standIn string) {
		content, err := os.ReadFile(filepath.Join(testdata, standIn))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, standIn := range standIns {
		place(name, standIn)
	}
	place(objectsToo, objectsToo)
	for name, standIn := range folderStandIns {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			place(fmt.Sprintf("%s/build-%d.nettrace", name, i+1), fmt.Sprintf("%s/%d.nettrace.gz", standIn, i+1))
		}
	}
	t.Chdir(dir)
}
