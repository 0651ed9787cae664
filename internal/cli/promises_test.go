package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
)

// A promise is a command that a report prints, with what it is for.
type promise struct{ purpose, command string }

// TestSuggestedCommands runs every command of gctrail in the report of a trace: commands
// that read the trace show the promised data, and the others are accepted.
func TestSuggestedCommands(t *testing.T) {
	t.Parallel()
	tried := make(map[string]int)
	for i, path := range tracesToTry(t) {
		if !extent.Sampled(path, 3) || !extent.Due(i, 2) {
			continue
		}
		all := suggestions(t, path)
		done := make(map[string]bool)
		for _, s := range all {
			if !strings.HasPrefix(s.command, "gctrail ") || done[s.command] {
				continue
			}
			done[s.command] = true
			args := accepted(t, s.command)
			tried[args[0]]++
			if slices.Contains(args, path) {
				if err := checkPromise(t, s.purpose, args); err != nil {
					t.Errorf("%s: to %s: %s: %v", filepath.Base(path), s.purpose, s.command, err)
				}
			}
		}
		printed := shownReport(t, 0, path)
		for line := range strings.Lines(printed) {
			command, is := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			if is && !slices.ContainsFunc(all, func(s promise) bool { return s.command == command }) {
				t.Errorf("%s: only the text has %s", path, command)
			}
		}
	}
	for _, name := range []string{"gcs", "report", "collect", "allocs"} {
		if tried[name] == 0 {
			t.Errorf("no report suggests gctrail %s", name)
		}
	}
	t.Log(tried)
}

// tracesToTry returns the traces of the tests, and the reference traces if they are
// available.
func tracesToTry(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"../../testdata/*.net*.gz", "../../testdata/*.zip"} {
		found, _ := filepath.Glob(pattern)
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		t.Fatal("no traces")
	}
	before := len(paths)
	if !extent.All() {
		return paths
	}
	for _, suffix := range []string{".nettrace.gz", ".netperf.gz", ".zip", ".tar.xz"} {
		found, _ := filepath.Glob("../../../shared/traces/*/*" + suffix)
		found = slices.DeleteFunc(found, func(path string) bool {
			return slices.Contains(paths, filepath.Join("../../testdata", filepath.Base(path)))
		})
		paths = append(paths, extent.Share(found, 4)...)
	}
	if len(paths) == before {
		t.Log("only the traces of the tests: the reference traces are not available")
	}
	return paths
}

// suggestions returns the commands in the JSON of a report.
func suggestions(t *testing.T, path string, flags ...string) []promise {
	t.Helper()
	out, talk, code := onOnce(t, 0, append([]string{"report", "--full", "--format", "json", path}, flags...)...)
	if code != exitDone {
		t.Fatalf("%s: exit %d: %s", path, code, talk)
	}
	var rep struct {
		Processes []struct {
			Findings []struct {
				Next []struct{ Purpose, Command string }
			}
		}
		CannotTell []struct {
			What    string
			Command *string
		} `json:"cannot_tell"`
		Next        []string
		NextIfEnded *string `json:"next_if_ended"`
	}
	if err := json.Unmarshal([]byte(out), &rep); err != nil {
		t.Fatal(err)
	}
	var all []promise
	for _, command := range rep.Next {
		all = append(all, promise{"", command})
	}
	if rep.NextIfEnded != nil {
		all = append(all, promise{"", *rep.NextIfEnded})
	}
	for _, p := range rep.Processes {
		for _, f := range p.Findings {
			for _, s := range f.Next {
				all = append(all, promise{s.Purpose, s.Command})
			}
		}
	}
	for _, g := range rep.CannotTell {
		if g.Command != nil {
			all = append(all, promise{g.What, *g.Command})
		}
	}
	return all
}

// accepted returns the arguments of a command that gctrail accepts: it parses the flags,
// and checks the ones that collect takes for the system's tracer.
func accepted(t *testing.T, command string) []string {
	t.Helper()
	args := shellWords(command)[1:]
	if i := slices.Index(args, "PID"); i > 0 {
		args[i] = "1"
	}
	cmd, rest, err := newRootCmd(&stdio{out: &bytes.Buffer{}, err: text.NewPrinter(&bytes.Buffer{})}).Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err == nil && cmd.Name() == "collect" {
		o := &collectOptions{given: newGivenFlags(cmd.Flags())}
		o.etw, o.lttng = o.given["etw"], o.given["lttng"]
		switch {
		case o.etw:
			err = o.etwConflict()
		case o.lttng:
			err = o.lttngConflict()
		}
	}
	if err != nil {
		t.Errorf("%s: %v", command, err)
	}
	return args
}

// TestSelectionIsKept: a report on a part of a trace suggests commands about that part.
func TestSelectionIsKept(t *testing.T) {
	const (
		one  = "../../testdata/net10-srv-web-2.nettrace.gz"
		many = "../../testdata/net31-net9-lttng.trace.zip"
	)
	for _, tt := range []struct {
		path  string
		flags []string
	}{
		{one, []string{"--from", "1s", "--to", "3.5s"}},
		{one, []string{"--from", "2s", "--budget", "10ms,3%"}},
		{many, []string{"--pid", "21386"}},
		{many, []string{"--process", "dot*"}},
	} {
		for _, s := range suggestions(t, tt.path, tt.flags...) {
			args := accepted(t, s.command)
			if !slices.Contains(args, tt.path) {
				continue
			}
			if err := checkPromise(t, s.purpose, args); err != nil {
				t.Errorf("%s: %v", s.command, err)
			}
			for _, flag := range []string{"--from", "--to"} {
				if want, got := flagOf(tt.flags, flag), flagOf(args, flag); got != want {
					t.Errorf("%s: %s is %q, want %q", s.command, flag, got, want)
				}
			}
			if flagOf(tt.flags, "--pid") != "" && flagOf(args, "--pid") != flagOf(tt.flags, "--pid") {
				t.Errorf("%s: --pid is %q", s.command, flagOf(args, "--pid"))
			}
			if tt.path == many && flagOf(args, "--pid")+flagOf(args, "--process") == "" {
				t.Errorf("%s: it is about all processes", s.command)
			}
			if args[0] == "report" && flagOf(args, "--budget") != flagOf(tt.flags, "--budget") {
				t.Errorf("%s: --budget is %q", s.command, flagOf(args, "--budget"))
			}
		}
	}
}

// TestRecordingsRaiseEvents: the recordings in advice raise the events that the advice is
// about.
func TestRecordingsRaiseEvents(t *testing.T) {
	kinds := make(map[string]clr.Kind)
	for k := range clr.Kind(clr.NumKinds) {
		if k.Provider() == clr.RuntimeProvider {
			kinds[k.String()] = k
		}
	}
	tried := 0
	for _, rule := range findings.Rules() {
		for _, advice := range rule.Advice {
			for _, s := range advice.Next {
				if s.Action != findings.Record {
					continue
				}
				command := report.Record(&gc.Process{Name: "web", Runtime: ".NET 9.0.1"}, "nettrace V4", s.Recording)
				config, _ := configOf(t, shellWords(command)[2:]...)
				of := collect.Providers(config.Providers)
				asked := of.Find(clr.RuntimeProvider)
				for _, name := range append([]string{"GCStart", "GCSuspendEEBegin"}, s.Events...) {
					k, known := kinds[name]
					if !known || asked == nil || asked.Keywords&k.Keywords() == 0 || asked.Level < k.Level() {
						t.Errorf("%s: %s does not record %s", rule.ID, command, name)
					}
					tried++
				}
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d events", tried)
	}
}

// TestRecord: each runtime is recorded with a suitable tracer, or not at all.
func TestRecord(t *testing.T) {
	for _, tt := range []struct {
		name, runtime, format string
		recording             findings.Recording
		want                  string
	}{
		{"web", ".NET 10.0.1", "nettrace V4", findings.Collections, "gctrail collect -n web --profile gc-collect"},
		{"my app", ".NET Core", "nettrace V4", findings.Collections, "gctrail collect -n 'my app' --profile gc-collect"},
		{"a,b*[c]", ".NET 8.0.1", "etl", findings.Longer, "gctrail collect -n 'a?b??c]' --profile gc-collect --duration 60s"},
		{"", ".NET 8.0.1", "CTF 2", findings.Verbose, "gctrail collect -p PID --profile gc-verbose"},
		{"w3wp", ".NET Framework 4.8", "etl", findings.Allocations, "gctrail collect --etw -n w3wp --profile gc-alloc"},
		{"web", ".NET Core 2.2.1", "etl", findings.Triggers, "gctrail collect --etw -n web --rundown true --clrevents gc+stack"},
		{"web", ".NET Core", "CTF 1.8", findings.Longer, "gctrail collect --lttng -n web --profile gc-collect --duration 60s"},
		{"web", ".NET Core", "CTF 1.8", findings.Triggers, ""}, // LTTng has no stacks
		{"web", ".NET Core 3.1.2", "CTF 1.8", findings.Allocations, "gctrail collect -n web --profile gc-alloc"},
		{"web", "", "netperf V3", findings.Collections, ""},
	} {
		got := report.Record(&gc.Process{Name: tt.name, Runtime: tt.runtime}, tt.format, tt.recording)
		if runtime.GOOS == "windows" {
			got = strings.ReplaceAll(got, `"`, "'")
		}
		if got != tt.want {
			t.Errorf("%s %s of %s: %q, want %q", tt.name, tt.runtime, tt.format, got, tt.want)
		}
		if got != "" {
			accepted(t, got)
		}
	}
}

// TestRecordStarts: a command that records a program again starts it, if the trace
// includes its start and its command line, and the system's tracer is not needed.
func TestRecordStarts(t *testing.T) {
	for _, tt := range []struct {
		line, runtime, format string
		started               bool
		want                  []string
	}{
		{"/app/my web /app/my web.dll --x 5", ".NET 10.0.1", "nettrace V4", true, []string{"/app/my web", "--x", "5"}},
		{"/usr/bin/dotnet /app/web.dll -p 5", ".NET 10.0.1", "nettrace V4", true, []string{"/usr/bin/dotnet", "/app/web.dll", "-p", "5"}},
		{"/app/web $(rm)", ".NET 10.0.1", "nettrace V4", true, []string{"/app/web", "$(rm)"}},
		{"/app/web", ".NET 10.0.1", "nettrace V4", false, nil},
		{"", ".NET 10.0.1", "nettrace V4", true, nil},
		{`C:\inetpub\w3wp.exe`, ".NET Framework 4.8", "etl", true, nil},
		{"/app/web", ".NET Core 2.2.1", "CTF 1.8", true, nil},
	} {
		p := &gc.Process{Name: "web", CommandLine: tt.line, Runtime: tt.runtime, StartSeen: tt.started}
		args := accepted(t, report.Record(p, tt.format, findings.Collections))
		var command []string
		if i := slices.Index(args, "--"); i >= 0 {
			command = args[i+1:]
		}
		if !slices.Equal(command, tt.want) || (command == nil) != slices.Contains(args, "-n") {
			t.Errorf("%s: %q", tt.line, args)
		}
	}
}

// TestHints: if a trace lacks the data of a command, the suggested recording command is
// accepted, and so is each command that a listing prints.
func TestHints(t *testing.T) {
	t.Parallel()
	paths, _ := filepath.Glob("../../testdata/*.nettrace.gz")
	zips, _ := filepath.Glob("../../testdata/*.zip")
	tried := make(map[string]bool)
	for i, path := range append(paths, zips...) {
		for j, command := range []string{
			"gcs", "allocs --by type,stack", "handles --by kind,stack", "pins", "finalizers", "joins", "joins --tunings", "phases",
			"phases --blocking", "pauses", "heap",
		} {
			if !extent.Sparse(i+j, 4) || !extent.Due(i+j, 2) {
				continue
			}
			out, talk, code := on(t, 0, append(strings.Fields(command), path)...)
			if code != exitDone {
				t.Errorf("%s of %s: exit %d: %s", command, path, code, talk)
			}
			for line := range strings.Lines(out + talk) {
				hint, found := strings.CutPrefix(strings.TrimSpace(line), "$ ")
				if !found {
					_, hint, found = strings.Cut(line, "with: ")
				}
				if found {
					accepted(t, strings.TrimSpace(hint))
					tried[hint] = true
				}
			}
		}
	}
	if len(tried) < 5 {
		t.Error(tried)
	}
}

// shellWords splits a command as a shell of the system does.
func shellWords(command string) []string {
	quotes, escape := "'", byte('\\')
	if runtime.GOOS == "windows" {
		quotes, escape = `'"`, 0
	}
	var words []string
	var word strings.Builder
	begun, quoted := false, false
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case strings.IndexByte(quotes, c) >= 0:
			quoted, begun = !quoted, true
		case c == escape && !quoted:
			i++
			word.WriteByte(command[i])
		case c == ' ' && !quoted:
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// checkPromise runs a command that reads a trace, and checks that it shows what it is for.
func checkPromise(t *testing.T, purpose string, args []string) error {
	t.Helper()
	out, talk, code := on(t, 0, args...)
	if code != exitDone || strings.TrimSpace(out) == "" {
		return fmt.Errorf("exit %d, %d bytes: %s", code, len(out), talk)
	}
	switch args[0] {
	case "report":
		if slices.Contains(args, "json") && !json.Valid([]byte(out)) {
			return fmt.Errorf("no JSON: %.100s", out)
		}
		if slices.Contains(args, "--from") && strings.HasPrefix(out, "No ") {
			return fmt.Errorf("it reports on nothing: %.100s", out)
		}
		return nil
	case "events":
		return nil
	}
	table, talk, code := on(t, 0, append(slices.Clone(args), "--format", "csv")...)
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if code != exitDone || len(rows) < 2 {
		return fmt.Errorf("exit %d, %d rows: %s: %w", code, len(rows), talk, err)
	}
	known := knownColumns(rows)
	for _, column := range promised(purpose, args) {
		if !known[column] {
			return fmt.Errorf("no row has a known %s: %.500s", column, table)
		}
	}
	if names := flagOf(args, "--columns"); names != "" && strings.Join(rows[0], ",") != names {
		return fmt.Errorf("the columns are %q", rows[0])
	}
	return selects(rows, args)
}

// knownColumns returns the columns that have a value in one of the rows.
func knownColumns(rows [][]string) map[string]bool {
	known := make(map[string]bool)
	for _, row := range rows[1:] {
		for i, value := range row {
			if value != "" && value != "?" {
				known[rows[0][i]] = true
			}
		}
	}
	return known
}

// promised returns the columns in which a command shows what it is for.
func promised(purpose string, args []string) []string {
	if names := flagOf(args, "--columns"); names != "" {
		return strings.Split(names, ",")
	}
	columns := map[string][]string{
		"gcs":        {"number", "start_ms", "generation", "kind"},
		"allocs":     {"type", "bytes"},
		"pins":       {"type", "count"},
		"handles":    {"kind", "created", "open"},
		"finalizers": {"type", "count"},
		"joins":      {"heap", "phase"},
	}[args[0]]
	if by := flagOf(args, "--by"); strings.HasSuffix(by, "stack") || strings.Contains(purpose, "what allocates") {
		columns = append(slices.Clone(columns), "stack")
	}
	return columns
}

// selects checks that the flags select the rows of collections.
func selects(rows [][]string, args []string) error {
	value := func(row []string, column string) string {
		if i := slices.Index(rows[0], column); i >= 0 {
			return row[i]
		}
		return ""
	}
	least, _ := time.ParseDuration(flagOf(args, "--min-pause"))
	for _, row := range rows[1:] {
		for flag, column := range map[string]string{"--gen": "generation", "--kind": "kind"} {
			if want, got := flagOf(args, flag), value(row, column); want != "" && got != "" && got != want {
				return fmt.Errorf("%s is %q", column, got)
			}
		}
		if pause, err := strconv.ParseFloat(value(row, "pause_ms"), 64); err == nil && pause < least.Seconds()*1000 {
			return fmt.Errorf("a pause of %v ms", pause)
		}
	}
	return nil
}

func flagOf(args []string, flag string) string {
	if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}
