package report

import (
	"runtime"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/gc"
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
