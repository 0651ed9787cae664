package cli

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
)

// TestProviderList holds the parsing to that of dotnet-trace.
func TestProviderList(t *testing.T) {
	type p = diag.Provider
	tests := []struct {
		in   string
		want []diag.Provider // nil for an error
		err  string
	}{
		{in: "A", want: []p{{Name: "A", Level: 4}}},
		{in: "A:", want: []p{{Name: "A", Level: 4}}},
		{in: "A:::", want: []p{{Name: "A", Level: 4}}},
		{in: "A:1f", want: []p{{Name: "A", Keywords: 0x1f, Level: 4}}},
		{in: "A:0X1F:5", want: []p{{Name: "A", Keywords: 0x1f, Level: 5}}},
		{in: "A:FFFFFFFFFFFFFFFF:Verbose", want: []p{{Name: "A", Keywords: 1<<64 - 1, Level: 5}}},
		{in: "A::critical", want: []p{{Name: "A", Level: 1}}},
		{in: "A::9", want: []p{{Name: "A", Level: 5}}},
		{in: "A:1:4:k=v", want: []p{{Name: "A", Keywords: 1, Level: 4, Arguments: "k=v"}}},
		{in: "A:::k=v;k2=v:2;", want: []p{{Name: "A", Level: 4, Arguments: "k=v;k2=v:2"}}},
		{in: `A:::k="a;b=c";k2=d`, want: []p{{Name: "A", Level: 4, Arguments: `k="a;b=c";k2=d`}}},
		{in: `A:::k="v"`, want: []p{{Name: "A", Level: 4, Arguments: "k=v"}}},
		{in: `A:::k=a\r\n\x41\u00e9\\`, want: []p{{Name: "A", Level: 4, Arguments: "k=a\r\nAé\\"}}},
		{in: "A:::k", want: []p{{Name: "A", Level: 4}}},
		{in: "A:1:3,B", want: []p{{Name: "A", Keywords: 1, Level: 3}, {Name: "B", Level: 4}}},
		{in: "A:1:3,a:2:5:k=v", want: []p{{Name: "A", Keywords: 3, Level: 5, Arguments: "k=v"}}},
		{in: "A:1:5,A:2:0", want: []p{{Name: "A", Keywords: 3, Level: 0}}},
		{in: "", err: "no name"},
		{in: "A,", err: "no name"},
		{in: " :1", err: "no name"},
		{in: "A:gc", err: "hexadecimal"},
		{in: "A:1:loud", err: "level"},
		{in: "A:1:-1", err: "level"},
		{in: "A:::k=v,A:::k=w", err: "twice"},
		{in: "A:::k=v;k=w", err: "twice"},
		{in: "A:::k=v;l;", err: "key=value"},
		{in: `A:::k=\q`, err: "means nothing"},
		{in: `A:::k=\x4`, err: "hexadecimal"},
		{in: `A:::k=\`, err: "at the end"},
	}
	for _, tt := range tests {
		var got providerList
		err := got.Set(tt.in)
		if tt.want == nil {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: error %v, want %q", tt.in, err, tt.err)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, []diag.Provider(got)); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", tt.in, err, diff)
		}
	}
}

// configOf is what is asked of a runtime for a command line.
func configOf(t *testing.T, args ...string) (diag.Config, bool) {
	t.Helper()
	opts := newCollectOptions()
	cmd := opts.command(&stdio{out: io.Discard, err: io.Discard})
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return opts.config()
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

// TestWarnOfCost: who asks for what costs much is told of it, and of what does not.
func TestWarnOfCost(t *testing.T) {
	for args, want := range map[string]string{
		"":                                   "",
		"--profile gc-collect":               "",
		"--profile gc-verbose":               "gc-verbose can slow the process down: by 0 to 25 %",
		"--profile dotnet-common,GC-Verbose": "at little cost, gc-collect tells why collections happen",
	} {
		var talk strings.Builder
		opts := newCollectOptions()
		if err := opts.command(&stdio{out: io.Discard, err: io.Discard}).ParseFlags(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		opts.warnOfCost(&stdio{err: &talk})
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
		var got span
		if err := got.Set(in); err != nil || time.Duration(got) != want {
			t.Errorf("%q: %v, %v", in, time.Duration(got), err)
		}
	}
	for _, in := range []string{"", "30", "-1s", "00:00:30", "00:24:00:00", "00:00:60:00", "00:00:00:60", "1000000:00:00:00", "00:00:00:-1"} {
		var got span
		if err := got.Set(in); err == nil {
			t.Errorf("%q: %v", in, time.Duration(got))
		}
	}
}

func TestDefaultTraceName(t *testing.T) {
	at := time.Date(2026, 3, 4, 15, 6, 7, 0, time.Local)
	if got := defaultTraceName("web", at); got != "web_20260304_150607.nettrace" {
		t.Error(got)
	}
}
