package cli

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/text"
)

// configOf returns the session that a command line asks a runtime for.
func configOf(t *testing.T, args ...string) (diag.Config, bool) {
	t.Helper()
	opts := newCollectOptions()
	cmd := opts.command(&stdio{out: io.Discard, err: text.NewPrinter(io.Discard)})
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return opts.request().Config()
}

func TestCollectConfig(t *testing.T) {
	type p = diag.Provider
	gcCollect := []p{{Name: clr.RuntimeProvider, Keywords: 1, Level: 4}, {Name: clr.PrivateProvider, Keywords: 1, Level: 4}}
	gcVerbose := p{Name: clr.RuntimeProvider, Keywords: 0x8003, Level: 5}
	common := p{Name: clr.RuntimeProvider, Keywords: 0x100003801d, Level: 4}
	sampled := p{Name: "Microsoft-DotNETCore-SampleProfiler", Level: 4}
	own := p{Name: "Own", Keywords: 2, Level: 4}
	tests := []struct {
		args    string
		want    diag.Config
		ignored bool
	}{
		{args: "", want: diag.Config{BufferMB: 256, Providers: gcCollect, Rundown: diag.RundownGC, NoStacks: true}},
		{args: "--profile gc-collect --rundown true", want: diag.Config{BufferMB: 256, Providers: gcCollect, Rundown: diag.RundownFull}},
		{args: "--rundown false --buffersize 1", want: diag.Config{BufferMB: 1, Providers: gcCollect, NoStacks: true}},
		{args: "--profile gc-verbose", want: diag.Config{BufferMB: 256, Providers: []p{gcVerbose}, Rundown: diag.RundownGC, NoStacks: true}},
		{
			args: "--profile Dotnet-Common,dotnet-sampled-thread-time",
			want: diag.Config{BufferMB: 256, Providers: []p{common, sampled}, Rundown: diag.RundownFull},
		},
		{args: "--providers Own:2", want: diag.Config{BufferMB: 256, Providers: []p{own}, Rundown: diag.RundownGC}},
		{
			args: "--providers Own:2 --profile gc-verbose",
			want: diag.Config{BufferMB: 256, Providers: []p{own, gcVerbose}, Rundown: diag.RundownGC},
		},
		{
			args: "--clrevents gc+GCHandle --clreventlevel verbose",
			want: diag.Config{BufferMB: 256, Providers: []p{{Name: clr.RuntimeProvider, Keywords: 3, Level: 5}}, Rundown: diag.RundownGC},
		},
		{
			args:    "--profile gc-verbose --clrevents gc",
			want:    diag.Config{BufferMB: 256, Providers: []p{gcVerbose}, Rundown: diag.RundownGC},
			ignored: true,
		},
	}
	for _, tt := range tests {
		got, ignored := configOf(t, strings.Fields(tt.args)...)
		if diff := cmp.Diff(tt.want, got); diff != "" || ignored != tt.ignored {
			t.Errorf("%s: ignored %t\n%s", tt.args, ignored, diff)
		}
	}
}

// TestWarnOfCost: keywords that cost much come with a warning, others do not.
func TestWarnOfCost(t *testing.T) {
	for args, want := range map[string]string{
		"":                                   "",
		"--profile gc-collect":               "",
		"--profile gc-verbose":               "gc-verbose can slow the process down by 0 to 25 %",
		"--profile dotnet-common,GC-Verbose": "at lower cost, gc-collect records why collections happen",
	} {
		var talk strings.Builder
		opts := newCollectOptions()
		if err := opts.command(&stdio{out: io.Discard, err: text.NewPrinter(io.Discard)}).ParseFlags(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		warnOfCost(&stdio{err: text.NewPrinter(&talk)}, opts.request())
		if said := talk.String(); !strings.Contains(said, want) || want == "" && said != "" {
			t.Errorf("%s: %s", args, said)
		}
	}
}

// TestDatabaseProfile: the runtime is sent the specification as dotnet-trace
// sends it, in quotes for the semicolons in it.
func TestDatabaseProfile(t *testing.T) {
	config, _ := configOf(t, "--profile", "database")
	if len(config.Providers) != 2 || config.Rundown != diag.RundownFull {
		t.Fatalf("%+v", config)
	}
	arguments := config.Providers[1].Arguments
	if !strings.HasPrefix(arguments, `FilterAndPayloadSpecs="SqlClientDiagnosticListener/`) ||
		!strings.HasSuffix(arguments, `CommandExecuted@Activity2Stop:"`) || strings.Count(arguments, "\r\n") != 3 {
		t.Errorf("%q", arguments)
	}
}

func TestSpan(t *testing.T) {
	tests := map[string]time.Duration{
		"00:00:00:30": 30 * time.Second,
		"01:02:03:04": 26*time.Hour + 3*time.Minute + 4*time.Second,
		"90s":         90 * time.Second,
		"1h30m":       90 * time.Minute,
		"00:00:00:00": 0,
	}
	for in, want := range tests {
		if got, err := parseSpan(in); err != nil || got != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "30", "-1s", "00:00:30", "00:24:00:00", "00:00:60:00", "00:00:00:60", "1000000:00:00:00", "00:00:00:-1"} {
		if got, err := parseSpan(in); err == nil {
			t.Errorf("%q: %v", in, got)
		}
	}
}
