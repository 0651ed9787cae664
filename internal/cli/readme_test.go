package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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

// TestEmitDocument compares the collections that docs/emit.md shows with the ones that its
// commands print now. Only the form of times is compared, because they differ from run to run.
func TestEmitDocument(t *testing.T) {
	document, err := os.ReadFile("../../docs/emit.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(document), "$ gctrail gcs made-up.nettrace\n")
	shown, _, found := strings.Cut(shown, "…")
	if !found {
		t.Fatal("docs/emit.md shows no collections")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no Go here to run the example: ", err)
	}
	trace := filepath.Join(t.TempDir(), "made-up.nettrace")
	emit := exec.CommandContext(t.Context(), "go", "run", "../../examples/emit", "-o", trace, "-collections", "12")
	if out, err := emit.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	printed, talk, code := on(t, 0, "gcs", trace)
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, talk)
	}
	lines := strings.Split(printed, "\n")
	for i, line := range strings.Split(strings.TrimRight(shown, " \n"), "\n") {
		if got, want := withoutTimes(strings.Fields(line), i), withoutTimes(strings.Fields(lines[i]), i); !slices.Equal(got, want) {
			t.Errorf("line %d of the list is %q here, and %q in docs/emit.md", i+1, want, got)
		}
	}
}

// threeDigits matches a number as lists print it.
var threeDigits = regexp.MustCompile(`^(0|0\.\d{3}|\d\.\d{2}|\d{2}\.\d|[\d,]{3,})$`)

// withoutTimes replaces the times of a row of gcs by a mark of their form; line 0 has the
// headings.
func withoutTimes(row []string, line int) []string {
	for _, at := range []int{1, 5, 6} { // start, pause and suspend
		if line > 0 && at < len(row) && threeDigits.MatchString(row[at]) {
			row[at] = "three digits"
		}
	}
	return row
}
