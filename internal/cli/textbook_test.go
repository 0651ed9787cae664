package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/extent"
)

//go:generate go test -run TestTextbook -update

const (
	textbook = "docs/textbook"                           // from the root of the repository
	openPage = "https://gctrail.github.io/gctrail/open/" // the page that opens traces, on the site
)

// A lesson is the page of the textbook about a rule.
type lesson struct {
	*findings.Rule
	traces []string // of testdata, in which it fires; several are merged
	about  string   // the traces
	cure   *cure
	*evidence
}

// The evidence for the rules is in testdata/evidence.json of gc/findings.
type evidence struct {
	Shared map[string]measurement // that more than one basis names
	Rules  map[string]struct {
		Tested []struct{ Program, Truth string }
		Advice map[string]basis // by text
	}
	Settings map[string]basis // by variable and value
}

// A basis supports advice, or a setting.
type basis struct{ Measured []measurement }

// A measurement compares a program before and after it followed advice.
type measurement struct{ Shared, Program, Change, Before, After string }

// TestTextbook compares the pages about the rules with the rules, and each command in them
// with what it prints.
func TestTextbook(t *testing.T) {
	t.Chdir("../..")
	lessons := lessons(t)
	hold(t, filepath.Join(textbook, "README.md"), textbookContents(t, lessons))
	for i, l := range lessons {
		if extent.Update() || extent.All() || i%8 == 0 {
			hold(t, l.file(), l.page(t))
		}
	}
	files, err := filepath.Glob(filepath.Join(textbook, "*.md"))
	if err != nil || len(files) != len(lessons)+1 {
		t.Errorf("%d pages about %d rules: %v", len(files), len(lessons), err)
	}
}

// lessons returns those of all rules.
func lessons(t *testing.T) []lesson {
	t.Helper()
	traces, about := map[string]string{}, aboutTraces(t)
	read(t, "gc/findings/testdata/rules.json", &traces)
	var cures []cure
	read(t, "internal/cli/testdata/cures.json", &cures)
	e := new(evidence)
	read(t, "gc/findings/testdata/evidence.json", e)
	var all []lesson
	for _, r := range findings.Rules() {
		l := lesson{Rule: &r, traces: strings.Split(traces[r.ID], "+"), evidence: e}
		for _, name := range l.traces {
			if about[name] == "" {
				t.Fatalf("%s: testdata/README.md does not describe %q", r.ID, name)
			}
		}
		l.about = about[l.traces[0]]
		i := slices.IndexFunc(cures, func(c cure) bool { return c.Rule == r.ID })
		if i < 0 {
			t.Fatalf("%s: testdata/cures.json has no pair of traces", r.ID)
		}
		l.cure = &cures[i]
		all = append(all, l)
	}
	if len(cures) != len(all) {
		t.Fatalf("testdata/cures.json has %d rows for %d rules", len(cures), len(all))
	}
	return all
}

// aboutTraces returns the descriptions of the traces of testdata, by name, from the first
// table that it has of them.
func aboutTraces(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/README.md")
	if err != nil {
		t.Fatal(err)
	}
	about := map[string]string{}
	names := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(line, "|\n"), " | ")
		if len(cells) != 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		first := ""
		for _, m := range names.FindAllStringSubmatch(cells[0], -1) {
			name := m[1]
			if rest, isVariant := strings.CutPrefix(name, "-"); isVariant { // of the name before it
				name = first[:strings.LastIndex(first, "-")+1] + rest + ".nettrace.gz"
			}
			if first == "" {
				first = name
			}
			if about[name] == "" {
				about[name] = strings.TrimSpace(cells[1]) + ": " + strings.TrimSpace(cells[2])
			}
		}
	}
	return about
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// hold compares a file with its new content, or writes it.
func hold(t *testing.T, path, want string) {
	t.Helper()
	if extent.Update() {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is old: run go generate ./internal/cli; it should be\n%s", path, want)
	}
}

// inTestdata returns the path of a trace from the root of the repository.
func inTestdata(name string) string {
	for _, dir := range []string{"testdata", "testdata/cures"} {
		path := dir + "/" + name
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return "testdata/" + name
}

// printed returns the output of a command that is given with its arguments, from the root of
// the repository.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	full := args
	if strings.HasPrefix(args[0], "testdata/") {
		full = append([]string{"report"}, args...) // as Main has it
	}
	out, talk, code := onOnce(t, 0, full...)
	if code != exitDone {
		t.Fatalf("gctrail %s: exit %d: %s", strings.Join(args, " "), code, talk)
	}
	return out
}

func (l *lesson) file() string { return filepath.Join(textbook, l.ID+".md") }

// readingOf returns the arguments of the command that reads traces of testdata, several merged.
func readingOf(names []string) []string {
	var args []string
	if len(names) > 1 {
		args = append(args, "report", "--merge")
	}
	for _, name := range names {
		args = append(args, inTestdata(name))
	}
	return args
}

// opening returns the address at which the page opens traces on the spot.
func opening(traces []string) string {
	return openPage + "?" + url.Values{"trace": traces}.Encode()
}

func (l *lesson) page(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("<!-- Written by go generate ./internal/cli from the rules and what gctrail prints. -->\n")
	p("# %s: %s\n", l.ID, l.Title)
	p("*%s.* It fires where: %s.\n", capital(l.Kind), l.Threshold)
	p("Source: %s. [All rules](README.md), [definition](../findings.md#%s).\n", l.Source, anchor(l.ID+": "+l.Title))
	l.seen(t, p)
	l.advises(p)
	l.cured(t, p)
	l.measured(p)
	return b.String()
}

// seen writes the finding in the traces in which the rule fires.
func (l *lesson) seen(t *testing.T, p func(string, ...any)) {
	t.Helper()
	args := readingOf(l.traces)
	report := printed(t, args...)
	finding, found := findingIn(report, l.ID)
	if !found {
		t.Fatalf("%s finds nothing in %s", l.ID, l.traces)
	}
	p("## In a trace\n")
	p("%s is of %s. [Open it in the page](%s), or type, in a clone of the repository:\n", "`"+strings.Join(l.traces, "` with `")+"`", l.about, opening(l.traces))
	p("```console\n$ gctrail %s\n%s\n…\n%s\n…\n```\n", strings.Join(args, " "), verdictOf(report), finding)
	for _, c := range l.Rules[l.ID].Tested {
		p("The rule was tested on %s: %s.\n", c.Program, c.Truth)
	}
}

// advises writes all that the rule can advise.
func (l *lesson) advises(p func(string, ...any)) {
	p("## What to do\n")
	for _, a := range l.Advice {
		parts := []string{}
		if a.When != "" {
			parts = append(parts, "("+a.When+")")
		}
		if a.Text != "" {
			parts = append(parts, a.Text)
		}
		for _, s := range a.Settings {
			parts = append(parts, fmt.Sprintf("Setting: `%s=%s`.", s.Variable, s.Value))
		}
		if a.Text != "" || len(a.Settings) > 0 {
			p("- %s", strings.Join(parts, " "))
		}
	}
	p("")
}

// measured writes the measurements of the rule's advice.
func (l *lesson) measured(p func(string, ...any)) {
	var rows []string
	add := func(b basis) {
		for _, m := range b.Measured {
			if m.Shared != "" {
				m = l.Shared[m.Shared]
			}
			row := fmt.Sprintf("| %s | %s | %s | %s |", m.Program, m.Change, m.Before, m.After)
			if !slices.Contains(rows, row) {
				rows = append(rows, row)
			}
		}
	}
	for _, a := range l.Advice {
		add(l.Rules[l.ID].Advice[a.Text])
		for _, s := range a.Settings {
			add(l.Settings[s.Variable+"="+s.Value])
		}
	}
	if len(rows) > 0 {
		p("## Measured\n")
		p("Medians of three runs of each, in turn. [More](../findings.md#advice-before-and-after).\n")
		p("| program | change | before | after |\n|---|---|---|---|")
		for _, row := range rows {
			p("%s", row)
		}
	}
}

// verdictOf returns the first two paragraphs of a report: the verdict, and the key figures.
func verdictOf(report string) string {
	paragraphs := strings.SplitN(report, "\n\n", 3)
	return strings.Join(paragraphs[:min(2, len(paragraphs))], "\n\n")
}

// numbered matches the first line of a finding in full.
var numbered = regexp.MustCompile(`^ *\d+\. `)

// findingIn returns a finding in full, as a report prints it.
func findingIn(report, id string) (string, bool) {
	_, full, _ := strings.Cut(report, "Findings in full\n")
	lines := strings.Split(full, "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "("+id+",") })
	if at < 0 {
		return "", false
	}
	for at > 0 && !numbered.MatchString(lines[at]) {
		at-- // its first line is long
	}
	end := at + 1
	for end < len(lines) && lines[end] != "" && !numbered.MatchString(lines[end]) {
		end++
	}
	return strings.Join(lines[at:end], "\n"), true
}

// textbookContents returns the first page of the textbook.
func textbookContents(t *testing.T, lessons []lesson) string {
	t.Helper()
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("<!-- Written by go generate ./internal/cli from the rules. -->\n")
	p("# Findings in real traces\n")
	p("Each rule of `gctrail` has a page here: a real trace in which it fires, what gctrail prints, what to do, and traces of a")
	p("program from before and after it followed the advice, with their figures.")
	p("Every trace opens in the browser on the spot, and is in `testdata` of the repository. Every command was run, and a test compares what it")
	p("prints with these pages.")
	for kind := range slices.Values([]string{"symptom", "specific cause", "generic cause", "aside", "quality of the trace"}) {
		p("\n## %s\n\n| rule | finds | a trace | before and after |\n|---|---|---|---|", capital(kind))
		for _, l := range lessons {
			if l.Kind == kind {
				p("| [%s](%s.md) | %s | [open](%s) | %s |", l.ID, l.ID, l.Title, opening(l.traces), l.cure.links("compare", "before", "after"))
			}
		}
	}
	p("\n## Runs before and after a change\n")
	p("Whether a change helped, five runs before and five after it show, which were recorded in turn. These are of `cures collect`, on a machine that other")
	p("programs kept busy: it calls GC.Collect ten times a second, or never ([R21](R21.md)).\n")
	args := []string{"diff", "testdata/cures/runs/before", "--", "testdata/cures/runs/after"}
	p("```console\n$ gctrail %s\n%s\n```", strings.Join(args, " "), strings.TrimSpace(printed(t, args...)))
	return b.String()
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// anchor returns the anchor of a heading as GitHub makes it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
