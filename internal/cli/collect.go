package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/provider"
)

type collectOptions struct {
	pids      processNumbers
	names     globList
	port      portValue
	resume    choice
	showIO    bool
	hideIO    bool
	profiles  choices
	providers provider.List
	clrEvents provider.Keywords
	clrLevel  provider.Level
	buffer    bufferSize
	duration  span
	rundown   choice
	format    choice
	output    string
	stop      stopOptions
}

// bufferMB is the size of the runtime's buffer, dotnet-trace's default.
const bufferMB = 256

func newCollectCmd(std *stdio) *cobra.Command { return newCollectOptions().command(std) }

func newCollectOptions() *collectOptions {
	return &collectOptions{
		profiles: choices{kind: "NAME", of: provider.Names()},
		buffer:   bufferMB,
		rundown:  choice{"", []string{"true", "false"}},
		resume:   choice{"true", []string{"true", "false"}},
		format:   choice{"NetTrace", []string{"NetTrace"}},
		stop:     stopOptions{repeat: 1},
	}
}

func (o *collectOptions) command(std *stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "collect {-p PID | -n NAME | --diagnostic-port PATH | -- COMMAND ARG...}",
		Short: "Trace .NET processes, running or started by it",
		Long: `collect has a .NET process raise events and writes them to a .nettrace file,
until Ctrl-C, until --duration is over, or until the process ends. Then it says
what the garbage collector did in that time.

Which process:

  -p 1234          the one with this id; several with commas
  -n 'web*,api'    those with such names
  -- COMMAND ARG   the command is started, and traced from before its first line
                   on: every .NET process that it starts, or with -n those with
                   such names. The exit code is the command's. Ctrl-C ends the
                   traces, then the command; so does --duration, with SIGTERM. It
                   is killed if that takes 30 seconds, or with the next Ctrl-C.
                   It shares the terminal with gctrail, unless --hide-child-io
                   discards what it writes; so does -o -.
  --diagnostic-port PATH
                   programs that are started with DOTNET_DiagnosticPorts=PATH in
                   their environment wait until they are traced: all of them, or
                   with -n those with such names. Ends when all have ended.
  --diagnostic-port PATH,connect
                   who listens at this socket: a runtime, or a router

Each process has a file of its own, NAME_DATE_TIME.nettrace, here or in the
folder that -o names; {name} and {pid} in -o stand for those of the process. A
process that ends does not end what is collected from others. Where -o is one
file, only the first process is collected from; the others go on without.

The flags are those of dotnet-trace. Profiles, with by how much programs were
found to be slower meanwhile:

` + provider.Help() + `
Without --profile, --providers and --clrevents it is gc-collect.

` + stopHelp() + `
Unlike dotnet-trace, a trace ends with a list of all methods (the rundown, which
stacks need, and which can take megabytes and seconds) only for the last three
profiles and with --rundown true. Otherwise .NET 9 and later add two events with
the runtime's version and settings, and the profiles leave out stacks, which would
have no names and cost the process time; older ones add nothing.

The file is whole at any time: if the process or the collecting is killed, or the
disk is full, it holds what was written until then, and every tool reads it.

Exit codes: 0 done, also when the process was killed; 2 wrong usage; 3 the file
could not be written; 4 no such process, or no permission; 5 the runtime is too
old. With a command, its own; of several, the highest.`,
		Example: `  gctrail collect -p 1234
  gctrail collect -n 'web*' --duration 90s -o traces/
  gctrail collect -- dotnet bin/app.dll --urls http://localhost:5000
  gctrail collect -p 1234 --profile gc-verbose --buffersize 512
  gctrail collect -p 1234 --until 'pause>200ms' --before 60s --after 10s
  gctrail collect -n api --keep 10m
  gctrail collect -p 1234 --providers Microsoft-Windows-DotNETRuntime:0x1:4 -o - | gctrail -`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args, std) },
	}
	flags := cmd.Flags()
	flags.VarP(&o.pids, "process-id", "p", "the processes with these ids")
	flags.VarP(&o.names, "name", "n", "the processes with such names, as in 'web*'")
	flags.Var(&o.port, "diagnostic-port", "processes that dial this port, or connect to it; also --dport")
	flags.Var(&o.resume, "resume-runtime", "let a process that waits at its start go on once it is traced")
	flags.BoolVar(&o.hideIO, "hide-child-io", false, "discard what the command writes, and let it read nothing from the terminal")
	flags.BoolVar(&o.showIO, "show-child-io", false, "show what the command writes: the default; accepted as dotnet-trace has it")
	flags.Var(&o.profiles, "profile", "sets of events, as above")
	flags.Var(&o.providers, "providers", "events of these providers, each Name[:Keywords[:Level[:key=value;...]]] with hexadecimal keywords")
	flags.Var(&o.clrEvents, "clrevents", "keywords of the runtime's events, as in gc+gchandle")
	flags.Var(&o.clrLevel, "clreventlevel", "level of --clrevents, 0 to 5 or a name (default informational)")
	flags.Var(&o.buffer, "buffersize", "size of the runtime's buffer; events that find no room in it are lost")
	flags.Var(&o.duration, "duration", "end after this time: dd:hh:mm:ss, or as in 90s")
	flags.Var(&o.rundown, "rundown", "end with a list of all methods, or with nothing")
	flags.Var(&o.format, "format", "of the file")
	flags.StringVarP(&o.output, "output", "o", "", "write to this `file` or folder (default NAME_DATE_TIME.nettrace); - is standard output")
	o.stop.addFlags(flags)
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(cmp.Or(map[string]string{"dport": "diagnostic-port"}[name], name))
	})
	complete(cmd, "profile", o.profiles.of)
	complete(cmd, "clrevents", provider.KeywordNames())
	complete(cmd, "clreventlevel", provider.LevelNames)
	complete(cmd, "rundown", o.rundown.of)
	complete(cmd, "resume-runtime", o.resume.of)
	complete(cmd, "format", o.format.of)
	return cmd
}

func (o *collectOptions) run(cmd *cobra.Command, args []string, std *stdio) error {
	if err := o.check(cmd, args); err != nil {
		return err
	}
	if o.output == "-" && std.outTerm.Is {
		return usagef(cmd, "a trace is nothing for a terminal: send standard output elsewhere, or choose a file with -o")
	}
	asked := o.request()
	config, ignored := asked.Config()
	if ignored {
		std.warn("gctrail", "--clrevents is ignored: the runtime's provider is in --providers or in the profile already")
	}
	warnOfCost(std, asked)
	plan, err := o.stop.plan(cmd, o.output, &config)
	if err != nil {
		return err
	}
	return o.collect(cmd, args, std, config, plan)
}

// showsIO reports whether the output of a command is shown. A trace on standard
// output leaves no room for it there.
func (o *collectOptions) showsIO() bool { return !o.hideIO && o.output != "-" }

// collect collects from the processes that are asked for.
func (o *collectOptions) collect(cmd *cobra.Command, args []string, std *stdio, config diag.Config, plan *collect.Plan) error {
	ctx, talk := cmd.Context(), &collectTalk{std: std, line: &progress{}}
	s := collect.New(o.options(std, config, plan, talk.tell))
	switch {
	case len(args) > 0:
		if !o.showsIO() {
			talk.show(s, "waiting for "+filepath.Base(args[0]))
		}
		err := s.Launch(ctx, &collect.Command{Args: args, Show: o.showsIO(), Terminal: term.IsTerminal(int(os.Stdin.Fd()))})
		return talk.end(err)
	case o.port.Path != "" && !o.port.Connect:
		talk.show(s, "waiting for a program")
		return talk.end(s.Listen(ctx, o.port.Path))
	}
	target := collect.Target{Port: o.port.Port, PIDs: o.pids, Names: collect.Names(o.names)}
	processes, missed, err := target.Find(ctx)
	if err != nil {
		return err
	}
	if len(processes) > 1 && collect.NewPaths(o.output).Single() {
		return usagef(cmd, "%d processes match (%s), and -o is one file: give a folder, as in traces/, or put {pid} or {name} in it",
			len(processes), collect.Titles(processes))
	}
	if missed != nil {
		talk.tell(collect.Failed{Err: missed})
	}
	talk.show(s, "")
	s.Gather(ctx, processes)
	return talk.end(nil)
}

func (o *collectOptions) options(std *stdio, config diag.Config, plan *collect.Plan, notify func(collect.Notice)) *collect.Options {
	return &collect.Options{
		Config: config, Duration: time.Duration(o.duration), Resume: o.resume.value != "false", Names: collect.Names(o.names),
		Output: o.output, Plan: plan, Stdout: std.out, Notify: notify,
	}
}

// check says what is wrong with the flags that tell which processes are meant.
// What is behind -- is a command.
func (o *collectOptions) check(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	launches := dash >= 0
	switch {
	case dash < 0 && len(args) > 0 || dash > 0:
		return usagef(cmd, "no arguments are taken, got %q: a running process is chosen with -p or -n, and a command to start comes behind --", args[0])
	case launches && len(args) == 0:
		return usagef(cmd, "there is no command behind --")
	case launches && (len(o.pids) > 0 || o.port.Path != ""):
		return usagef(cmd, "a command is started: -p and --diagnostic-port choose other processes")
	case o.port.Path != "" && len(o.pids) > 0, o.port.Connect && len(o.names) > 0:
		return usagef(cmd, "--diagnostic-port chooses the process: leave out -p and -n")
	case len(o.pids) > 0 && len(o.names) > 0:
		return usagef(cmd, "give either the ids of processes with -p or their names with -n")
	case !launches && len(o.pids) == 0 && len(o.names) == 0 && o.port.Path == "":
		return usagef(cmd, "say what to collect from: -p PID, -n NAME, --diagnostic-port PATH, or a command behind --; gctrail ps lists the .NET processes")
	case (o.showIO || o.hideIO) && !launches:
		return usagef(cmd, "--show-child-io and --hide-child-io are for a command behind --")
	case o.showIO && o.hideIO:
		return usagef(cmd, "--show-child-io and --hide-child-io exclude each other")
	case o.showIO && o.output == "-":
		return usagef(cmd, "--show-child-io and -o - both write to standard output")
	case len(o.pids) > 1 && collect.NewPaths(o.output).Single():
		return usagef(cmd, "several traces do not go into one file: give a folder with -o, as in traces/, or put {pid} or {name} in it")
	}
	return nil
}

// request is what the flags ask a runtime for.
func (o *collectOptions) request() *provider.Request {
	return &provider.Request{
		Profiles: o.profiles.values, Providers: o.providers, CLREvents: o.clrEvents, CLRLevel: o.clrLevel,
		BufferMB: uint32(o.buffer), Rundown: o.rundown.value,
	}
}

// warnOfCost says what the profiles that are asked for are likely to cost, where
// that is much, and what would cost less.
func warnOfCost(std *stdio, asked *provider.Request) {
	for _, p := range asked.Costly() {
		std.warn("gctrail", fmt.Sprintf("%s can slow the process down: by %s; at little cost, %s", p.Name, p.Cost, p.Cheaper))
	}
}
