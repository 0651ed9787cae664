package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/diagtest"
	"github.com/gctrail/gctrail/internal/etltest"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/watch"
)

// hostile are names that a process or a trace can have, and that change what a
// terminal or a spreadsheet shows where they reach it.
var hostile = []string{
	"\x1b[31mred", "\x1b]0;title\x07", "\x1b[2J\x1b[H", "a\nroot 1 sshd", "a\rb", "a\tb", "a\x00b", "a\x7fb", "\u009b31mC1", "\u0085next",
	"\u202egnp.exe", "\u2066isolate\u2069", "\u200eltr", "\u061calm", "a\u2028b", "zero\u200bwidth", "=cmd|'/c calc'!A1", "@sum(1)", "+1+1", "-2+3", "\xff\xfe",
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

// TestHostileNamesInTraces: what a trace holds reaches a terminal as printable
// text, whatever the command and the form.
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

// processNamed is an ETW trace of a process with this name.
func processNamed(name string) *etltest.File {
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
			if err := errors.Join(write(std, out, []*diag.Process{p}), out.Close()); err != nil {
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
		log := &collectionLog{std: std, cancel: func() {}}
		log.tell(&watch.News{Process: p, Attached: true}, true)
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
	trace := webBytes(t)
	for _, name := range hostile {
		f := diagtest.New(trace, nil)
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
	}
}
