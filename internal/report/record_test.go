package report

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/trace"
)

// TestCommandsOfASystem checks that a trace without collections, of whatever system,
// says how to record a program there.
func TestCommandsOfASystem(t *testing.T) {
	const (
		shell = "DOTNET_EnableEventPipe=1 DOTNET_EventPipeOutputPath=app.nettrace DOTNET_EventPipeConfig=Microsoft-Windows-DotNETRuntime:0x1:4 YOUR-PROGRAM"
		power = "$env:DOTNET_EnableEventPipe='1'; $env:DOTNET_EventPipeOutputPath='app.nettrace'; " +
			`$env:DOTNET_EventPipeConfig='Microsoft-Windows-DotNETRuntime:0x1:4'; .\YOUR-PROGRAM.exe`
	)
	here := shell
	if runtime.GOOS == "windows" {
		here = power
	}
	for _, tt := range []struct{ format, os, want string }{
		{"etl", "", power},
		{"etl + etl", "", power},
		{"CTF 1.8", "", shell},
		{"nettrace V4", "Windows", power},
		{"nettrace V4", "Linux", shell},
		{"nettrace V4", "", here},
	} {
		rep := Report{info: &trace.Info{Format: tt.format}, others: []*gc.Process{{}, {OS: tt.os}}}
		if next := rep.next(); !slices.Contains(next, tt.want) {
			t.Errorf("%s of %q: %q, expected %s", tt.format, tt.os, next, tt.want)
		}
	}
}

// TestNextStartsEnded checks that a report also prints how to start a program that was
// running when it was recorded, and may have ended since.
func TestNextStartsEnded(t *testing.T) {
	const byName, otherwise = "$ gctrail collect -n web --profile gc-alloc", "use -- COMMAND in place of -n NAME"
	for _, test := range []struct {
		name, commandLine, runtime string
		started                    bool
		want, not                  string
	}{
		{"attached", "dotnet web.dll --port 80", ".NET 10.0.1", false, "$ gctrail collect --profile gc-alloc -- dotnet web.dll --port 80", otherwise},
		{"attached, unknown command", "", ".NET 10.0.1", false, otherwise, "If this one has ended"},
		{"without a diagnostic port", "web.exe", ".NET Framework 4.8", false, "collect -n records a program that is running.", "-- COMMAND"},
		{"started for the trace", "dotnet web.dll", ".NET 10.0.1", true, "$ gctrail collect --profile gc-alloc -- dotnet web.dll", " -n "},
	} {
		t.Run(test.name, func(t *testing.T) {
			process := &gc.Process{PID: 7, Name: "web", CommandLine: test.commandLine, Runtime: test.runtime, StartSeen: test.started, Stopped: time.Second}
			var found findings.Set
			found.Add(&gc.Collection{Process: process})
			rep := &Report{info: &trace.Info{Format: "nettrace V4"}, loss: new(trace.Loss), cases: []Case{{Result: found.Judge(findings.Trace{})[0]}}}
			var p text.Page
			rep.writeNext(&p)
			got := strings.Join(strings.Fields(string(p.Bytes())), " ")
			if !strings.Contains(got, test.want) || strings.Contains(got, test.not) || test.name == "attached" && !strings.Contains(got, byName) {
				t.Errorf("want %q, and not %q:\n%s", test.want, test.not, got)
			}
		})
	}
}
