package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/internal/watch"
)

// hostile are names that a process or a trace can have, and that change what a
// terminal or a spreadsheet shows where they reach it.
var hostile = []string{
	"\x1b[31mred", "\x1b]0;title\x07", "\x1b[2J\x1b[H", "a\nroot 1 sshd", "a\rb", "a\tb", "a\x00b", "a\x7fb", "\u009b31mC1", "\u0085next",
	"\u202egnp.exe", "\u2066isolate\u2069", "\u200eltr", "\u061calm", "a\u2028b", "zero\u200bwidth", "=cmd|'/c calc'!A1", "@sum(1)", "+1+1", "-2+3", "\xff\xfe",
	"a|b\\|c", "::error::forged", "a ::error::forged", "##vso[task.complete]", "%0A::error::forged", "`code` *b* <script>", "]]>", "\"><testcase name=\"forged\">", "&#124;",
	"日本語の名前", "e\u0301\u0301\u0301",
}

// mustShow checks that output has nothing that a terminal obeys, but for line ends
// and colours of gctrail's own where colour is on.
func mustShow(t *testing.T, what, output string) {
	t.Helper()
	if !utf8.ValidString(output) {
		t.Errorf("%s: not UTF-8: %q", what, output)
	}
	for _, r := range output {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%s: %U in %q", what, r, output)
			return
		}
	}
}

// TestHostileNamesInTraces: texts from a trace reach a terminal as printable text,
// whatever the command and the form.
func TestHostileNamesInTraces(t *testing.T) {
	for _, name := range hostile {
		path := filepath.Join(t.TempDir(), "hostile.etl")
		if err := os.WriteFile(path, processNamed(name).Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		var lines int
		for _, args := range [][]string{
			{"report", path},
			{"report", "--format", "json", path},
			{"gcs", "--columns", "number,process,runtime,reason", path},
			{"gcs", "--format", "csv", path},
			{"gcs", "--format", "jsonl", path},
			{"events", path},
			{"report", filepath.Join(t.TempDir(), name)},
			{"gcs", "--process", name + "[", path},
			{"gcs", "--columns", name, path},
			{name},
		} {
			for _, width := range []int{0, 60} {
				out, talk, _ := on(t, width, args...)
				what := strings.Join(args[:1], " ") + " of " + strings.ToValidUTF8(name, "?")
				mustShow(t, what, out)
				mustShow(t, what, talk)
				lines += strings.Count(out, "\n")
				if slices.Contains(args, "csv") && (strings.Contains(out, ",=") || strings.Contains(out, ",@")) {
					t.Errorf("%s: a formula in %s", what, out)
				}
			}
		}
		if lines < 20 {
			t.Errorf("%q: only %d lines", name, lines)
		}
	}
}

// processNamed returns an ETW trace of a process with this name.
func processNamed(name string) *tracetest.ETLFile {
	f := twoCollections()
	e := kernelNames(name, 4)
	e.Time = f.Header.Time + 100_000
	f.Buffer(1).Event(e)
	return f
}

// TestHostileProcesses: so do the names of running processes, and what runtimes
// say of themselves.
func TestHostileProcesses(t *testing.T) {
	for _, name := range hostile {
		p := &diag.Process{
			PID: 7, Name: name, Container: name, Err: errors.New(name),
			Info: &diag.Info{CommandLine: name, Arch: name, OS: name, RID: name, RuntimeVersion: name, EntryAssembly: name},
		}
		for format, write := range map[string]func(*stdio, *output, []*diag.Process) error{"table": writeProcessTable, "jsonl": writeProcessLines} {
			var data bytes.Buffer
			std := &stdio{out: &data, err: text.NewPrinter(io.Discard)}
			out, err := std.create("-", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := out.end(write(std, out, []*diag.Process{p})); err != nil {
				t.Fatal(err)
			}
			mustShow(t, "ps as "+format, data.String())
			if n := strings.Count(data.String(), "\n"); n != map[string]int{"table": 2, "jsonl": 1}[format] {
				t.Errorf("%q: %d lines of %s:\n%s", name, n, format, data.String())
			}
			if format == "jsonl" && !json.Valid(data.Bytes()) {
				t.Errorf("%q: %s", name, data.String())
			}
		}
		var data, talk bytes.Buffer
		std := &stdio{out: &data, err: text.NewPrinter(&talk)}
		log := newCollectionLog(std, func() {})
		log.news(&watch.News{Process: p, Attached: true}, true)
		std.complain(collect.Unreachable(p))
		std.complain(&inputError{name, errors.New(name)})
		mustShow(t, "top and errors", data.String()+talk.String())
		if n := strings.Count(talk.String(), "\n"); n != 3 {
			t.Errorf("%q: %d lines:\n%s", name, n, talk.String())
		}
	}
}

// TestHostileCommandLine: the notices and the file of a trace of such a process.
func TestHostileCommandLine(t *testing.T) {
	t.Parallel()
	trace := tracetest.Gunzip(t, "../../testdata/net10-srv-web-1.nettrace.gz")
	for _, name := range hostile {
		t.Run("", func(t *testing.T) {
			t.Parallel() // each waits for the end of its trace
			f := dotnettest.NewRuntime(trace, nil)
			process := listen(t, f)
			process.Name = name
			dir := t.TempDir()
			o := newCollectOptions()
			o.output = dir + string(os.PathSeparator)
			var talk bytes.Buffer
			if err := o.gather(context.Background(), &stdio{out: io.Discard, err: text.NewPrinter(&talk)}, process); err != nil {
				t.Fatal(err)
			}
			mustShow(t, "collect", talk.String())
			files, err := os.ReadDir(dir)
			if err != nil || len(files) != 1 {
				t.Fatalf("%q: %v, %v", name, files, err)
			}
			mustShow(t, "the name of the file", files[0].Name())
		})
	}
}

// TestHostileRuns: names of runs, which are names of files, forge nothing in comparisons
// and checks, neither lines nor cells, elements and commands.
func TestHostileRuns(t *testing.T) {
	const budgetText = "version: 1\nlimits:\n  pause_max_ms: 0.001\n  collections: 1\n  committed_peak_bytes: 1\n"
	write := func(t *testing.T, dir, name string) {
		for i := range 3 {
			path := filepath.Join(dir, fmt.Sprint(name, i, ".etl"))
			if err := os.WriteFile(path, processNamed(name).Bytes(), 0o600); err != nil {
				t.Skip(err) // such files cannot be
			}
		}
	}
	run := func(t *testing.T, name string) map[string]string {
		dir := t.TempDir()
		limits := filepath.Join(dir, "budget.yaml")
		folder := filepath.Join(dir, "runs")
		if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(limits, []byte(budgetText), 0o600)); err != nil {
			t.Fatal(err)
		}
		write(t, folder, name)
		said := make(map[string]string)
		for _, args := range [][]string{
			{"report", "--format", "markdown"},
			{"diff", "--format", "text"},
			{"diff", "--format", "markdown"},
			{"diff", "--format", "json"},
			{"trend", "--format", "text"},
			{"trend", "--format", "json"},
			{"check", "--format", "text"},
			{"check", "--format", "json"},
			{"check", "--format", "junit"},
			{"check", "--format", "github"},
			{"check", "--format", "markdown"},
		} {
			line := args
			switch args[0] {
			case "check":
				line = append(line, "--budget", limits, folder)
			case "diff":
				line = append(line, folder, folder)
			case "report":
				files, err := os.ReadDir(folder)
				if err != nil {
					t.Fatal(err)
				}
				line = append(line, filepath.Join(folder, files[0].Name()))
			default:
				line = append(line, folder)
			}
			out, talk, code := on(t, 0, line...)
			if out == "" {
				t.Fatalf("%v: exit code %d: %s", args, code, talk)
			}
			what := args[0] + " " + args[2]
			mustShow(t, what, out)
			mustShow(t, what, talk)
			said[what] = out
		}
		return said
	}
	want := run(t, "web")
	for _, name := range hostile {
		if strings.ContainsAny(name, "/\x00") {
			continue // no name of a file
		}
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			for what, out := range run(t, name) {
				got, want := shapeOf(out), shapeOf(want[what])
				if what == "diff text" {
					got.lines = want.lines // its names are in prose, which is wrapped
				}
				if got != want {
					t.Errorf("%s has the shape %+v, want %+v:\n%s", what, got, want, out)
				}
				if strings.HasSuffix(what, "json") && !json.Valid([]byte(out)) {
					t.Errorf("%s: %s", what, out)
				}
			}
		})
	}
}

// A shape is the lines, cells and elements of an output, which a name must not change.
type shape struct{ lines, cells, elements, commands int }

func shapeOf(out string) shape {
	s := shape{lines: strings.Count(out, "\n")}
	escaped := strings.NewReplacer(`\\`, "", `\|`, "")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "|") {
			s.cells += strings.Count(escaped.Replace(line), "|")
		}
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			s.commands++
		}
	}
	if !strings.HasPrefix(out, "{") && !strings.HasPrefix(out, "<?xml") && !strings.HasPrefix(out, "::") { // a form for people
		s.commands += strings.Count(out, "##[") + strings.Count(out, "##vso[")
	}
	if !strings.HasPrefix(out, "<?xml") {
		return s
	}
	for d := xml.NewDecoder(strings.NewReader(out)); ; {
		token, err := d.Token()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.elements = -1
			}
			return s
		}
		if _, begins := token.(xml.StartElement); begins {
			s.elements++
		}
	}
}

// TestHostileRows: a collection is one line of top --plain with as many words as the
// heading, and what a process is called does not widen its column by more than its cells.
func TestHostileRows(t *testing.T) {
	for _, name := range hostile {
		var data bytes.Buffer
		log := newCollectionLog(&stdio{out: &data, err: text.NewPrinter(io.Discard)}, func() {})
		log.failed(log.table.Flush())
		log.news(&watch.News{
			Process:    &diag.Process{PID: 7, Name: name},
			Collection: &watch.Collection{Collection: &gc.Collection{Number: 3}, Process: &diag.Process{PID: 7, Name: name}},
		}, true)
		mustShow(t, "top --plain", data.String())
		lines := strings.Split(strings.TrimSuffix(data.String(), "\n"), "\n")
		if len(lines) != 2 || len(strings.Fields(lines[1])) != len(logColumns(fullTime)) {
			t.Errorf("%q: %q", name, lines)
		}
		if shapeOf(data.String()).commands > 0 {
			t.Errorf("%q: a command in %q", name, lines)
		}
	}
}

// TestHostileNamesForAgents: names of files, processes and types, which an agent shows
// or obeys, reach it as printable text on lines of their own.
func TestHostileNamesForAgents(t *testing.T) {
	root := t.TempDir()
	client := mcpClient(t, root)
	for _, name := range hostile {
		f := processNamed(name)
		tick := tracetest.Maker{PID: 4, TID: 5}
		ev := tick.At(0, &clr.GCAllocationTick{AllocationAmount64: 100 << 10, TypeName: clr.NewUTF16(name), HeapIndex: 0})
		f.Buffer(0).Event(tracetest.ETLEvent{
			Type: tracetest.ETLEvent64, Time: f.Header.Time + 200_000, PID: 4, TID: 5, Provider: tracetest.RuntimeGUID,
			ID: uint16(ev.Desc.ID), Version: uint16(ev.Desc.Version), Level: 5, Keywords: 1, Payload: ev.Payload,
		})
		file := "trace.etl"
		if utf8.ValidString(name) && !strings.ContainsAny(name, "/\x00") {
			file = name + ".etl"
		}
		if err := os.WriteFile(filepath.Join(root, file), f.Bytes(), 0o600); err != nil {
			t.Skip(err) // such files cannot be
		}
		for _, call := range []struct {
			tool      string
			arguments map[string]any
			fails     bool
		}{
			{"triage", map[string]any{"file": file}, false},
			{"collections", map[string]any{"file": file}, false},
			{"allocations", map[string]any{"file": file}, false},
			{"compare", map[string]any{"before": []string{file}, "after": []string{file}}, false},
			{"triage", map[string]any{"file": name + "/none"}, true},
			{"triage", map[string]any{"file": "../" + name}, true},
			{"triage", map[string]any{"file": file, "process": name + "["}, true},
			{"collections", map[string]any{"file": file, "kind": name}, true},
		} {
			if !utf8.ValidString(name) && call.fails {
				continue // JSON has no such arguments
			}
			result, err := client.CallTool(context.Background(), &sdk.CallToolParams{Name: call.tool, Arguments: call.arguments})
			if err != nil {
				t.Fatal(err)
			}
			if result.IsError != call.fails {
				t.Errorf("%s%q: %v", call.tool, call.arguments, result.Content)
			}
			for i, c := range result.Content {
				said := c.(*sdk.TextContent).Text
				mustShow(t, call.tool, said)
				for line := range strings.Lines(said) {
					if i == 0 && !call.fails && !json.Valid([]byte(line)) {
						t.Errorf("%s of %q: the line %q", call.tool, name, line)
					}
				}
			}
		}
	}
}
