package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// standIn is the trace that the documents call leak.nettrace.
const standIn = "testdata/net10-wks-leak.nettrace.gz"

// readers are the commands that only read traces.
var readers = []string{"report", "gcs", "objects", "allocs", "requests", "what-if", "pauses", "diff", "events"}

// A shown command is one of a document, with its output as the document has it.
type shown struct {
	file    string
	args    []string
	printed []string
}

var (
	fenced = regexp.MustCompile("(?s)```[a-z]*\n(.*?)```")
	prompt = regexp.MustCompile(`(?m)^\$ gctrail `)
)

// shownCommands returns the commands of a document that begin a line of a block of code.
func shownCommands(t *testing.T, file string) []shown {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []shown
	for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
		for _, part := range prompt.Split(block[1], -1)[1:] {
			command, output, _ := strings.Cut(part, "\n")
			all = append(all, shown{file, strings.Fields(command), strings.Split(output, "\n")})
		}
	}
	return all
}

// run returns the output of a command that reads a trace of testdata. Others need a machine
// like the one on which the document was written.
func (s *shown) run(t *testing.T) (string, bool) {
	t.Helper()
	args := slices.Clone(s.args)
	last := len(args) - 1
	if args[last] == "leak.nettrace" {
		args[last] = standIn
	}
	if !strings.HasPrefix(args[last], "testdata/") || last > 0 && !slices.Contains(readers, args[0]) {
		return "", false
	}
	return strings.ReplaceAll(printed(t, args...), standIn, "leak.nettrace"), true
}

// TestDocumentedCommands: commands that the documents show on traces of testdata print what
// the documents show. A line of "…" stands for any number of lines.
func TestDocumentedCommands(t *testing.T) {
	t.Chdir("../..")
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, file := range append(files, "README.md") {
		for _, s := range shownCommands(t, file) {
			if out, ok := s.run(t); ok {
				ran++
				s.compare(t, strings.Split(out, "\n"))
			}
		}
	}
	if ran < 8 {
		t.Errorf("only %d commands were run", ran)
	}
}

// compare looks for the shown parts in the output, one after the other.
func (s *shown) compare(t *testing.T, out []string) {
	t.Helper()
	empty := func(line string) bool { return line == "" }
	out = slices.DeleteFunc(out, empty)
	for i, part := range strings.Split(strings.Join(s.printed, "\n"), "…\n") {
		lines := slices.DeleteFunc(strings.Split(part, "\n"), empty)
		last := len(out) - len(lines)
		if i == 0 {
			last = min(last, 0)
		}
		at := 0
		for at <= last && !slices.Equal(out[at:at+len(lines)], lines) {
			at++
		}
		if at > last {
			t.Errorf("%s: gctrail %s does not print:\n%s", s.file, strings.Join(s.args, " "), part)
			return
		}
		out = out[at+len(lines):]
	}
}
