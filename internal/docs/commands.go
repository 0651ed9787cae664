// Package docs tests what people read: that each command in the documents runs, that the map of
// the packages is true, that public packages have examples, and that nothing reads as if
// translated.
package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A Command is a command line in the code of a document.
type Command struct {
	At   string // "docs/heap.md:7"
	Line string // from the first word to the end of the command, with pipes and redirections
}

// pages are the files of the site with code, but for the textbook, whose commands a test of its
// own compares with what they print, and the texts of packages.
var pages = []string{
	"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "testdata/README.md", "docs/*.md", "docs/format/*.md",
	"deploy/release/*/README.md", "editor/vscode/README.md",
}

// inCode matches a command in a line of code: after a prompt or the beginning of a step, with
// variables before the program.
var inCode = regexp.MustCompile(`^\s*(?:\$ |- run: |- script: |- |sh ')?((?:[A-Z_]\w*=(?:"[^"]*"|\S+) )*(?:` + programs + `)(?: .*)?)$`)

// programs are the ones that documents run.
const programs = `gctrail|npx|npm|dnx|dotnet|go|bash|curl|brew|winget|gh|cosign|skopeo|helm|kubectl|wasmtime|wine64|code|python3|lttng|duckdb|\./app`

// afterCommand matches what follows a command in its line: a remark, the sign of a background
// job, or an explanation in the next column.
var afterCommand = regexp.MustCompile(` +# .*$| &$|   +.*$`)

// Commands returns the commands in the documents of the repository with a root folder.
func Commands(root string) ([]Command, error) {
	var all []Command
	for _, pattern := range pages {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("no %s", pattern)
		}
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			name = filepath.ToSlash(name)
			all = append(all, commandsOf(name, strings.Split(string(text), "\n"))...)
		}
	}
	return all, nil
}

// commandsOf returns the commands in the code of a document: fenced, or indented. The document
// of the commands is the help of gctrail, in which only the examples are commands.
func commandsOf(name string, lines []string) []Command {
	isHelp := name == "docs/commands.md"
	var found []Command
	isFenced, isExample := false, false
	for i := 0; i < len(lines); i++ {
		at, line := fmt.Sprintf("%s:%d", name, i+1), lines[i]
		switch {
		case strings.HasPrefix(line, "```"):
			isFenced, isExample = !isFenced, false
			continue
		case isHelp && line == "Examples:", isHelp && line == "":
			isExample = line != ""
			continue
		}
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, `\`) + strings.TrimSpace(lines[i])
		}
		isCode := isFenced || strings.HasPrefix(line, "    ")
		if m := inCode.FindStringSubmatch(line); m != nil && isCode && (isExample || !isHelp) {
			command := strings.TrimSpace(afterCommand.ReplaceAllString(m[1], ""))
			if strings.Contains(line, "sh '"+m[1]) {
				command = strings.TrimSuffix(command, "'")
			}
			if !strings.Contains(command, "  ") { // else it is a line of a screen
				found = append(found, Command{at, command})
			}
		}
	}
	return found
}

// Gctrail returns the arguments of gctrail in a command that runs it, up to the next command of
// the line.
func (c *Command) Gctrail() (line string, ok bool) {
	m := ofGctrail.FindStringSubmatch(c.Line)
	if m == nil {
		return "", false
	}
	line = strings.Replace(m[1], "gctrail -- ", "gctrail ", 1) // what dnx passes on
	return nextCommand.ReplaceAllString(line, ""), true
}

var (
	ofGctrail   = regexp.MustCompile(`^(?:\S+=(?:"[^"]*"|\S+) )*(?:npx |dnx |kubectl exec .* -- /)?(gctrail(?: .*)?)$`)
	nextCommand = regexp.MustCompile(` +(\||&&|>|<) ?.*$| >\S+$`)
)
