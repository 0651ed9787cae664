package findings_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
)

//go:generate go test -run TestDocs|TestRuleTraces -update

const (
	tracesFile = "testdata/traces.json" // findings by trace
	matrixFile = "testdata/matrix.json" // findings by program
	rulesFile  = "testdata/rules.json"  // traces by rule, which the textbook shows
)

// TestDocs compares docs/findings.md with the rules, and with the tables that the tests
// below make if traces and programs are available.
func TestDocs(t *testing.T) {
	extent.Golden(t, "../../docs/findings.md", string(findingsDoc(load(t, tracesFile), load(t, matrixFile), loadEvidence(t))))
}

// TestRuleTraces compares the file of ruleTraces, from which docs/textbook is made, with them.
func TestRuleTraces(t *testing.T) {
	traces := map[string]string{}
	for id, of := range ruleTraces {
		traces[id] = of.finds
	}
	b, err := json.MarshalIndent(traces, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	extent.Golden(t, rulesFile, string(b)+"\n")
}

// A row holds the findings on a trace, or on a program.
type row struct {
	Name    string
	Verdict string
	Found   []string // R24 for a note, R24W for a warning, R24P for a problem
}

func load(t *testing.T, path string) []row {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// asFile is the file of rows.
func asFile(t *testing.T, rows []row) string {
	t.Helper()
	b, err := json.MarshalIndent(rows, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

func rowOf(name string, r *findings.Result) row {
	out := row{Name: name, Verdict: r.Verdict, Found: []string{}}
	for _, f := range r.Findings {
		out.Found = append(out.Found, f.ID+[...]string{findings.Note: "", findings.Warning: "W", findings.Problem: "P"}[f.Severity])
	}
	return out
}

// TestTraceTable compares the table of traces with the reference traces.
func TestTraceTable(t *testing.T) {
	extent.Long(t, "reads all reference traces")
	shared := os.Getenv("GCTRAIL_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	var rows []row
	for _, pattern := range []string{"eventpipe/*.nettrace.gz", "eventpipe/*.netperf.gz", "etw/*.etl.zip", "lttng/*.trace.zip", "real/*.zip"} {
		paths, _ := filepath.Glob(filepath.Join(shared, "traces", pattern))
		slices.Sort(paths)
		for _, path := range paths {
			rows = append(rows, rowsOf(t, path)...)
		}
	}
	if len(rows) == 0 {
		t.Skip("there are no reference traces at hand")
	}
	extent.Golden(t, tracesFile, asFile(t, rows))
}

// rowsOf returns the two processes of a trace that paused for longest.
func rowsOf(t *testing.T, path string) []row {
	t.Helper()
	f, err := open.File(path, open.Options{Want: wantsJoined, Head: gc.Head})
	if err != nil {
		t.Logf("%s: %v", filepath.Base(path), err)
		return nil
	}
	defer f.Close()
	results, err := examineJoined(f.Source)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var rows []row
	for i := range results[:min(2, len(results))] {
		name := strings.SplitN(filepath.Base(path), ".n", 2)[0]
		if i > 0 {
			name += ", second process"
		}
		rows = append(rows, rowOf(name, &results[i]))
	}
	return rows
}

// programs are the ones of the matrix: mode, runtime, and settings.
var programs = []struct {
	mode    string
	version int
	env     []string
	verbose bool
}{
	{mode: "idle", version: 10},
	{mode: "web", version: 10},
	{mode: "web", version: 8},
	{mode: "web", version: 10, env: []string{"DOTNET_GCgen0size=0x40000"}},
	{mode: "web", version: 10, env: []string{"DOTNET_gcServer=1"}},
	{mode: "web", version: 10, env: []string{"DOTNET_gcServer=1", "DOTNET_GCDynamicAdaptationMode=0"}},
	{mode: "web", version: 10, env: []string{"DOTNET_GCHeapHardLimit=0x5400000"}},
	{mode: "leak", version: 10},
	{mode: "leak", version: 8},
	{mode: "leak", version: 10, env: []string{"DOTNET_gcConcurrent=0"}},
	{mode: "leak", version: 10, env: []string{"DOTNET_gcServer=1"}},
	{mode: "loh", version: 10},
	{mode: "loh", version: 8},
	{mode: "loh", version: 10, env: []string{"DOTNET_gcServer=1"}},
	{mode: "loh", version: 10, env: []string{"DOTNET_gcConcurrent=0"}},
	{mode: "loh", version: 10, env: []string{"DOTNET_GCConserveMemory=8"}},
	{mode: "pin", version: 10},
	{mode: "pin", version: 10, env: []string{"DOTNET_gcServer=1"}},
	{mode: "pin", version: 10, env: []string{"DOTNET_GCgen0size=0x8000000"}},
	{mode: "handles", version: 10},
	{mode: "handles", version: 10, verbose: true},
	{mode: "finalizers", version: 10},
	{mode: "induced", version: 10},
	{mode: "pressure", version: 10},
	{mode: "pressure", version: 10, verbose: true},
	{mode: "fragment", version: 10},
	{mode: "fragment", version: 10, env: []string{"DOTNET_GCConserveMemory=8"}},
	{mode: "background", version: 10},
	{mode: "background", version: 10, env: []string{"DOTNET_gcServer=1"}},
}

// TestMatrix runs programs whose trouble is known, and records their findings. It
// takes minutes.
func TestMatrix(t *testing.T) {
	extent.Full(t, "captures the programs anew")
	var rows []row
	for _, p := range programs {
		path := filepath.Join(t.TempDir(), "out.nettrace")
		config := "0x1:4"
		if p.verbose {
			config = "0x8003:5"
		}
		run := dotnettest.Start(t, p.version, p.mode, 4, append(slices.Clone(p.env),
			"DOTNET_EnableEventPipe=1", "DOTNET_EventPipeOutputPath="+path, "DOTNET_EventPipeConfig=Microsoft-Windows-DotNETRuntime:"+config)...)
		run.Totals()
		name := strings.Join(append([]string{p.mode, fmt.Sprintf(".NET %d", p.version)}, p.env...), ", ")
		if p.verbose {
			name += ", gc-verbose"
		}
		found := rowsOf(t, path)
		if len(found) == 0 {
			found = []row{{Verdict: "No GC happened.", Found: []string{}}}
		}
		found[0].Name = name
		rows = append(rows, found[0])
	}
	if err := os.WriteFile(matrixFile, []byte(asFile(t, rows)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// findingsDoc is docs/findings.md.
func findingsDoc(traces, matrix []row, e *evidence) []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("<!-- Written by go generate ./gc/findings from the rules. -->\n")
	p("# Findings\n")
	p("Each rule detects one kind of trouble in the collections of a process. A problem costs a lot, a warning costs something, and a")
	p("note is worth knowing. Symptoms come first, then specific causes, then generic causes, then findings about memory rather than")
	p("pauses. A finding gives only the advice that fits its evidence, and only the settings that the process's runtime and flavour of")
	p("GC read and that are not in force already. How much is too much is set by a budget: 5 %% of the time and 100 ms for the longest")
	p("pause, unless `--budget` sets another one.\n")
	p("If the trace includes the start of a process, its first 2 s are judged apart. In a trace of less than 10 s or 20 GCs, no finding")
	p("has high confidence.\n")
	p("The values of environment variables are hexadecimal. Before .NET 6, and on the .NET Framework, their prefix is `COMPlus_`.\n")
	p("Each rule was tested on a program whose trouble is known. Advice was measured on such a program before and after, as the table")
	p("below shows, or is worded as a thing to try.\n")
	p("Four numbers have no rule of their own: R20 covers R26 (gen 2 too small for a background GC), R22 covers R53 (low memory signals),")
	p("R70 covers R73 (small budgets under DATAS), and R80 covers R82 (sampled allocation).\n")
	firing := map[string][]string{}
	for _, r := range traces {
		for _, id := range r.Found {
			id = strings.TrimRight(id, "WP")
			if !slices.Contains(firing[id], r.Name) {
				firing[id] = append(firing[id], r.Name)
			}
		}
	}
	p("## Rules")
	settings := map[string]findings.Setting{}
	for _, r := range findings.Rules() {
		for _, a := range r.Advice {
			for _, s := range a.Settings {
				settings[s.Variable+"="+s.Value] = s
			}
		}
		describe(p, &r, firing[r.ID], e)
	}
	settingsTable(p, settings)
	measurements(p, settings, e)
	p("\n## Programs with known trouble\n")
	p("Each program ran for four seconds and was recorded with `gc-collect`, or `gc-verbose` where noted, on two processors shared with")
	p("other work, which explains some of R03, R10 and R11.")
	p("W marks a warning, P a problem.\n")
	table(p, "mode, runtime, settings", matrix)
	p("\n## Reference traces\n")
	table(p, "trace", traces)
	return b.Bytes()
}

// describe writes the section of a rule that fires on the named reference traces.
func describe(p func(string, ...any), r *findings.Rule, firing []string, e *evidence) {
	p("\n### %s: %s\n", r.ID, r.Title)
	p("*%s.* %s.\n", strings.ToUpper(r.Kind[:1])+r.Kind[1:], strings.ToUpper(r.Threshold[:1])+r.Threshold[1:])
	p("Source: %s.\n", r.Source)
	for _, a := range r.Advice {
		var parts []string
		if a.Text != "" {
			parts = append(parts, a.Text)
		}
		for _, s := range a.Settings {
			parts = append(parts, fmt.Sprintf("Setting: `%s=%s`.", s.Variable, s.Value))
		}
		if len(parts) == 0 {
			continue
		}
		when := ""
		if a.When != "" {
			when = "(" + a.When + ") "
		}
		p("- %s%s%s", when, strings.Join(parts, " "), basisText(e.ofAdvice(r, &a)))
	}
	if len(firing) > 0 {
		p("\nFires on: %s.", strings.Join(firing, "; "))
	} else {
		p("\nFires on none of the reference traces.")
	}
	for _, c := range e.Rules[r.ID].Tested {
		p("\nTested on %s: %s.", c.Program, c.Truth)
	}
	of := ruleTraces[r.ID]
	p("\nTested on traces in `testdata`: fires on %s, not on %s. [The first of them, read](textbook/%s.md).", traceName(of.finds), traceName(of.not), r.ID)
}

// settingsTable writes the table of settings that rules propose.
func settingsTable(p func(string, ...any), settings map[string]findings.Setting) {
	p("\n## Settings\n")
	p("| variable | runtimeconfig.json | from | effect | cost |\n|---|---|---|---|---|")
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		s := settings[key]
		property := "-"
		if s.Property != "" {
			property = fmt.Sprintf("`\"%s\": %s`", s.Property, s.JSON)
		}
		since := s.Since
		if since == "" {
			since = "-"
		}
		p("| `%s` | %s | %s | %s | %s |", key, property, since, s.Effect, s.Cost)
	}
}

// basisText describes the basis of advice, as a sentence that follows it.
func basisText(b basis) string {
	if b.Untried != "" {
		return " *Not measured: " + b.Untried + ".*"
	}
	if len(b.Measured) > 0 {
		return " *Measured.*"
	}
	return ""
}

// measurements writes the tables of measured advice, and of settings without
// measurements.
func measurements(p func(string, ...any), settings map[string]findings.Setting, e *evidence) {
	rows := map[string][]string{} // by row, the rules and settings that rest on it
	var order []string
	add := func(from string, measured []measurement) {
		for _, m := range measured {
			row := fmt.Sprintf("%s | %s | %s | %s", m.Program, m.Change, m.Before, m.After)
			if rows[row] == nil {
				order = append(order, row)
			}
			if !slices.Contains(rows[row], from) {
				rows[row] = append(rows[row], from)
			}
		}
	}
	var untried []string
	for _, r := range findings.Rules() {
		for _, a := range r.Advice {
			add(r.ID, e.ofAdvice(&r, &a).Measured)
			for _, s := range a.Settings {
				add(r.ID, e.ofSetting(&s).Measured)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if why := e.Settings[key].Untried; why != "" {
			untried = append(untried, fmt.Sprintf("- `%s`: %s.", key, why))
		}
	}
	p("\n## Advice, before and after\n")
	p("Each row is a program whose trouble is known, run with and without a change, three times each in turn on two processors shared with")
	p("other work; the figures are medians. `lab`, `gcload` and `cures` name the programs and their modes.\n")
	p("| rules | program | change | before | after |\n|---|---|---|---|---|")
	for _, row := range order {
		p("| %s | %s |", strings.Join(rows[row], ", "), row)
	}
	if len(untried) > 0 {
		p("\nSettings that were not measured are things to try:\n")
		for _, line := range untried {
			p("%s", line)
		}
	}
}

// traceName is a trace's name, or two, without what all have.
func traceName(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, ".nettrace.gz", ""), "+", " merged with ")
}

func table(p func(string, ...any), heading string, rows []row) {
	p("| %s | findings | verdict |\n|---|---|---|", heading)
	for _, r := range rows {
		p("| %s | %s | %s |", r.Name, strings.Join(r.Found, " "), r.Verdict)
	}
}
