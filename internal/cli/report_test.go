package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
)

// on runs gctrail in-process, on a terminal of some width; 0 is a pipe.
func on(t *testing.T, width int, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, talk bytes.Buffer
	std := &stdio{out: &out, err: text.NewPrinter(&talk), outTerm: text.Terminal{Is: width > 0, Width: width}}
	cmd := newRootCmd(std)
	cmd.SetArgs(args)
	code = std.complain(cmd.ExecuteContext(t.Context()))
	return out.String(), talk.String(), code
}

// A ran is the result of a command line.
type ran struct {
	out, talk string
	code      int
}

// once has the results of onOnce by width and command line.
var once sync.Map

// onOnce is on for command lines that several tests look at: only the first call runs. The
// files must not change.
func onOnce(t *testing.T, width int, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	key := fmt.Sprint(width, args)
	p, ok := once.Load(key)
	if !ok {
		var now ran
		now.out, now.talk, now.code = on(t, width, args...)
		p, _ = once.LoadOrStore(key, now)
	}
	was := p.(ran)
	return was.out, was.talk, was.code
}

// shownReport returns the report on a trace, on a terminal of some width.
func shownReport(t *testing.T, width int, path string) string {
	t.Helper()
	out, talk, code := onOnce(t, width, "report", path)
	if code != exitDone {
		t.Fatalf("%s: exit %d: %s", path, code, talk)
	}
	return out
}

func report80(t *testing.T, args ...string) string {
	t.Helper()
	out, talk, code := on(t, 80, append([]string{"report"}, args...)...)
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, talk)
	}
	return out
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if extent.Update() {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; -update writes it anew:\n%s", path, diff)
	}
}

const (
	webTrace     = "../../testdata/net10-wks-web-collect.nettrace.gz"
	inducedTrace = "../../testdata/net10-wks-induced-collect.nettrace.gz"
	datasTrace   = "../../testdata/net9-srv-datas-web-collect.nettrace.gz"
	lossyTrace   = "../../testdata/net10-lossy-handles.nettrace.gz"
	killedTrace  = "../../testdata/net10-killed-web.nettrace.gz"
)

func traces(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/*.net*.gz")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	return paths
}

func TestReportText(t *testing.T) {
	for _, tt := range []struct {
		golden, trace string
		width         int
	}{
		{"report-web-80.txt", webTrace, 80},
		{"report-datas-200.txt", datasTrace, 200},
	} {
		out, talk, code := on(t, tt.width, "report", tt.trace)
		if code != exitDone || talk != "" {
			t.Fatalf("exit %d: %s", code, talk)
		}
		golden(t, tt.golden, quotedList.ReplaceAllString(out, "$1"))
	}
}

// quotedList is a list that PowerShell would take apart.
var quotedList = regexp.MustCompile(`"([a-z_]+(?:,[a-z_]+)+)"`)

// TestReportFitsTheTerminal looks at every trace, or in a sample at a third of them, on terminals
// of three widths: no line is wider, but for the commands to copy. A pipe and NO_COLOR get no
// escapes, a dumb terminal nothing but ASCII.
func TestReportFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, path := range traces(t) {
		if !extent.Sampled(path, 3) {
			continue
		}
		for _, width := range []int{60, 80, 200} {
			out := shownReport(t, width, path)
			for line := range strings.Lines(out) {
				line = strings.TrimSuffix(line, "\n")
				if n := utf8.RuneCountInString(line); n > width && !strings.HasPrefix(strings.TrimSpace(line), "$ ") && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s: %d cells on a terminal of %d: %s", path, n, width, line)
				}
				if strings.HasSuffix(line, " ") {
					t.Errorf("%s: blanks at the end of %q", path, line)
				}
			}
		}
		if strings.Contains(shownReport(t, 0, path), "\x1b") {
			t.Errorf("%s: escapes in a pipe", path)
		}
	}
}

// TestReportBeginsWithAScreen: on a terminal of 80 by 24, the verdict, the figures,
// the findings and the next command are on the first screen, above the prompt.
func TestReportBeginsWithAScreen(t *testing.T) {
	t.Parallel()
	for _, path := range traces(t) {
		if !extent.Sampled(path, 3) {
			continue
		}
		first, _, found := strings.Cut(shownReport(t, 80, path), "\nTrace\n")
		if n := strings.Count(first, "\n"); !found || n > 23 {
			t.Errorf("%s: %d lines:\n%s", path, n, first)
		}
		for _, want := range []string{"\n  Total pause ", "\n  Collections ", "\n  Allocated ", "\nEvidence: ", "\nNext\n  $ gctrail "} {
			if !strings.Contains(first, want) {
				t.Errorf("%s: the first screen lacks %q:\n%s", path, want, first)
			}
		}
	}
}

func TestReportOnADumbTerminal(t *testing.T) {
	t.Setenv("TERM", "dumb")
	out := report80(t, webTrace)
	for _, r := range out {
		if r >= utf8.RuneSelf {
			t.Fatalf("%q on a dumb terminal", r)
		}
	}
	if !strings.Contains(out, "####") {
		t.Error("no chart")
	}
}

func TestReportColour(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	var out bytes.Buffer
	std := &stdio{out: &out, err: text.NewPrinter(&out), outTerm: text.Terminal{Is: true, Width: 80, Colour: true}}
	cmd := newRootCmd(std)
	cmd.SetArgs([]string{"report", webTrace})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	plain := report80(t, webTrace)
	escapes := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "", "\x1b[31m", "", "\x1b[33m", "", "\x1b[36m", "", "\x1b[32m", "")
	if diff := cmp.Diff(plain, escapes.Replace(out.String())); diff != "" {
		t.Errorf("another text in colour:\n%s", diff)
	}
}

// TestReportOfUnknownPauses checks that pauses which are not in the trace are
// not reported as zero, and that the report says how to see them.
func TestReportOfUnknownPauses(t *testing.T) {
	const path = "../../testdata/lttng216-ctf2.trace.zip"
	out := report80(t, path)
	for _, want := range []string{"Total pause unknown", "Total pause unknown the trace lacks the suspensions of threads", "what was freed is unknown", "--profile gc-collect", "all 60 - -", "AllocSmall 60 - -"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	totals := oneLine(t, path)["processes"].([]any)[0].(map[string]any)["totals"].(map[string]any)
	for _, key := range []string{"pause_ms", "pause_pct", "suspend_ms", "allocated_max_bytes"} {
		if totals[key] != nil {
			t.Errorf("%s is %v", key, totals[key])
		}
	}
}

// TestReportOfEstimates checks that a sum with an unknown part is a lower bound, even if
// another part is an estimate.
func TestReportOfEstimates(t *testing.T) {
	const path = "../../testdata/net31-net9-lttng.trace.zip"
	out := report80(t, path)
	for _, want := range []string{", >368 MB freed", ", >307 MB freed"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	want := map[string]any{".NET 9.0.1": "lower_bound", ".NET Core 3.1.2": "lower_bound"}
	for _, p := range oneLine(t, path)["processes"].([]any) {
		p := p.(map[string]any)
		if is := p["totals"].(map[string]any)["freed_is"]; is != want[p["runtime"].(string)] {
			t.Errorf("freed is %v in %v", is, p["runtime"])
		}
	}
}

// oneLine decodes the report of one trace.
func oneLine(t *testing.T, args ...string) map[string]any {
	t.Helper()
	out, talk, code := onOnce(t, 0, append([]string{"report", "--full", "--format", "json"}, args...)...)
	if code != exitDone || strings.Count(out, "\n") != 1 {
		t.Fatalf("exit %d, %d lines: %s", code, strings.Count(out, "\n"), talk)
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestReportJSON checks each trace's totals against the lines of gcs.
func TestReportJSON(t *testing.T) {
	for _, path := range traces(t) {
		if !extent.Sampled(path, 3) {
			continue
		}
		rep := oneLine(t, path)
		nonNegative(t, path, rep)
		processes := rep["processes"].([]any)
		if len(processes) != 1 {
			t.Fatalf("%s: %d processes", path, len(processes))
		}
		totals := processes[0].(map[string]any)["totals"].(map[string]any)
		out, _, _ := on(t, 0, "gcs", "--format", "jsonl", path)
		sums := map[string]float64{}
		var pauses []float64
		for line := range strings.Lines(out) {
			var c map[string]any
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				t.Fatal(err)
			}
			sums["count"]++
			for _, key := range []string{"pause_ms", "freed_bytes", "promoted_bytes", "suspend_ms"} {
				if v, ok := c[key].(float64); ok {
					sums[key] += v
				}
			}
			if v, ok := c["pause_ms"].(float64); ok {
				pauses = append(pauses, v)
			}
		}
		if totals["freed_is"] == "lower_bound" { // without the error of estimates in the lines
			if got, most := totals["freed_bytes"].(float64), sums["freed_bytes"]; got > most || got < 0.85*most-1<<20 {
				t.Errorf("%s: at least %v bytes freed, gcs sums to %v", path, got, most)
			}
			delete(sums, "freed_bytes")
		}
		for key, want := range sums {
			if got := totals[key].(float64); math.Abs(got-want) > 1e-6*want {
				t.Errorf("%s: %s is %v, gcs sums to %v", path, key, got, want)
			}
		}
		slices.Sort(pauses)
		for key, p := range map[string]float64{"pause_p50_ms": 50, "pause_p90_ms": 90, "pause_p99_ms": 99, "pause_max_ms": 100} {
			want := pauses[int(math.Ceil(p/100*float64(len(pauses))))-1]
			if got := totals[key].(float64); got != want {
				t.Errorf("%s: %s is %v, of gcs %v", path, key, got, want)
			}
		}
		parts(t, path, totals, "generations")
		parts(t, path, totals, "kinds")
		parts(t, path, totals, "reasons")
	}
}

// parts checks that the parts of the totals hold all collections; generations of
// partial ones may be unknown.
func parts(t *testing.T, path string, totals map[string]any, key string) {
	t.Helper()
	var count float64
	for _, part := range totals[key].([]any) {
		count += part.(map[string]any)["count"].(float64)
	}
	if count != totals["count"] {
		t.Errorf("%s: %s have %v collections, all %v", path, key, count, totals["count"])
	}
}

func nonNegative(t *testing.T, at string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			nonNegative(t, at+" "+k, x)
		}
	case []any:
		for _, x := range v {
			nonNegative(t, at, x)
		}
	case float64:
		if v < 0 {
			t.Errorf("%s: %v", at, v)
		}
	}
}

func TestReportOfLoss(t *testing.T) {
	lost := oneLine(t, lossyTrace)["lost"].(map[string]any)
	if lost["events"].(float64) < 2e6 || lost["events_is"] != "exact" || len(lost["at"].([]any)) == 0 {
		t.Errorf("lost: %v", lost)
	}
	if out := report80(t, lossyTrace); !strings.HasPrefix(out, "No verdict: events were lost") {
		t.Errorf("verdict:\n%s", out[:200])
	}
	if cut := oneLine(t, killedTrace)["lost"].(map[string]any)["cut"]; cut != true {
		t.Errorf("cut: %v", cut)
	}
	if out := report80(t, killedTrace); !strings.Contains(out, "truncated") {
		t.Error("nothing is said of the cut")
	}
}

func TestReportNarrowed(t *testing.T) {
	whole := oneLine(t, webTrace)
	part := oneLine(t, "--from", "1s", "--to", "2s", webTrace)
	count := func(v map[string]any) float64 {
		return v["processes"].([]any)[0].(map[string]any)["totals"].(map[string]any)["count"].(float64)
	}
	if count(part) == 0 || count(part) >= count(whole) {
		t.Errorf("%v of %v collections", count(part), count(whole))
	}
	watched := part["processes"].([]any)[0].(map[string]any)["totals"].(map[string]any)["watched_ms"]
	if watched != 1000.0 {
		t.Errorf("watched %v ms", watched)
	}
	if out := report80(t, "--pid", "1", webTrace); !strings.HasPrefix(out, "None of the trace's 94 GCs is selected: the trace has gcload (pid 3701).\n") {
		t.Errorf("another process:\n%s", out)
	}
}

func TestReportOfSeveralFiles(t *testing.T) {
	out, talk, code := on(t, 0, "report", webTrace, "no-such-file", inducedTrace)
	if code != exitUnreadable || !strings.Contains(talk, "no-such-file") {
		t.Errorf("exit %d: %s", code, talk)
	}
	for _, name := range []string{webTrace, inducedTrace} {
		if !strings.Contains(out, name+"\nPauses took") {
			t.Errorf("no verdict under %s", name)
		}
	}
}

func TestReportUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"report"}, "no file given"},
		{[]string{"report", "--format", "pdf", webTrace}, "text, json, markdown, html"},
		{[]string{"report", "--explain", "nothing"}, "unknown term"},
	} {
		_, talk, code := on(t, 0, tt.args...)
		if code != exitUsage || !strings.Contains(talk, tt.want) {
			t.Errorf("%v: exit %d, %s", tt.args, code, talk)
		}
	}
}

// TestEveryFigureIsDefined checks the columns of gcs, and the figures in the
// JSON of report.
func TestEveryFigureIsDefined(t *testing.T) {
	names := map[string]bool{"pid": true, "process": true, "runtime": true}
	for _, c := range figure.All() {
		names[c.Key] = true
	}
	figureKeys(oneLine(t, datasTrace), names)
	identity := []string{"pid", "process", "runtime"}
	for name := range names {
		if !slices.Contains(identity, name) && len(report.Definitions(name)) == 0 {
			t.Errorf("no figure has the key %s", name)
		}
	}
}

// figureKeys adds the keys that end in a unit. It skips a finding's evidence, because its
// description has the figures.
func figureKeys(v any, names map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if k == "evidence" {
				continue
			}
			for _, unit := range []string{"_ms", "_bytes", "_pct", "_per_s"} {
				if strings.HasSuffix(k, unit) && k != "from_ms" && k != "to_ms" {
					names[k] = true
				}
			}
			figureKeys(x, names)
		}
	case []any:
		for _, x := range v {
			figureKeys(x, names)
		}
	}
}

func TestFigureNamesAreUnique(t *testing.T) {
	seen := map[string]string{}
	for _, f := range report.Definitions("all") {
		for _, key := range append([]string{f.Name}, f.Keys...) {
			if other, ok := seen[key]; ok && other != f.Name {
				t.Errorf("%s means %s and %s", key, other, f.Name)
			}
			seen[key] = f.Name
		}
	}
}

const (
	listBegins = "<!-- The list of figures, written by go generate ./internal/cli. -->\n"
	listEnds   = "<!-- End of the list. -->\n"
)

// TestFiguresDocument checks that docs/figures.md lists the figures as
// report --explain defines them.
func TestFiguresDocument(t *testing.T) {
	const path = "../../docs/figures.md"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(doc), listBegins)
	_, tail, ok2 := strings.Cut(rest, listEnds)
	if !ok || !ok2 {
		t.Fatal("the list's marks are missing")
	}
	var b strings.Builder
	for _, f := range report.Definitions("all") {
		b.WriteString("\n### " + f.Name + "\n\n" + f.Unit)
		if len(f.Keys) > 0 {
			b.WriteString("; `" + strings.Join(f.Keys, "`, `") + "`")
		}
		b.WriteString("\n\n" + f.Text + "\n\n*From:* " + f.Source + ".\n")
		if f.Differs != "" {
			b.WriteString("\n*Elsewhere:* " + f.Differs + "\n")
		}
	}
	want := head + listBegins + b.String() + "\n" + listEnds + tail
	if extent.Update() {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(doc)); diff != "" {
		t.Errorf("%s differs; -update writes it anew:\n%s", path, diff)
	}
}

func TestDemo(t *testing.T) {
	out, talk, code := on(t, 80, "demo")
	if code != exitDone || talk != "" {
		t.Fatalf("exit %d: %s", code, talk)
	}
	for _, want := range []string{"Pauses took", "Findings", "gctrail gcs lists", `"name":"GCStart"`, "gctrail collect -p PID"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in the demo", want)
		}
	}
}
