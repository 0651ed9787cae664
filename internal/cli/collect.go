package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/etw"
	"github.com/gctrail/gctrail/internal/lttng"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
)

type collectOptions struct {
	collect.Target
	args     []string // processes, or what follows --
	dash     int      // the arguments before --; below 0 for none
	given    givenFlags
	resume   choice
	showIO   bool
	hideIO   bool
	asked    collect.Request // request fills in profiles and rundown
	profiles choices
	duration time.Duration
	rundown  choice
	format   choice
	output   string
	etw      bool
	lttng    bool
	live     lttng.Address
	stop     stopOptions
	dumps    choices
	yes      bool
}

// bufferMB is the size of the runtime's buffer, dotnet-trace's default.
const bufferMB = 256

// When collect --dump takes snapshots.
const (
	dumpStart = "start"
	dumpEnd   = "end"
)

func newCollectCmd(std *stdio) *cobra.Command { return newCollectOptions().command(std) }

func newCollectOptions() *collectOptions {
	return &collectOptions{
		profiles: choices{kind: "NAME", of: collect.ProfileNames()},
		asked:    collect.Request{BufferMB: bufferMB},
		rundown:  choice{"", []string{"true", "false"}},
		resume:   choice{"true", []string{"true", "false"}},
		format:   choice{"NetTrace", []string{"NetTrace"}},
		stop:     stopOptions{repeat: 1},
		dumps:    choices{kind: "start|end", of: []string{dumpStart, dumpEnd}},
	}
}

func (o *collectOptions) command(std *stdio) *cobra.Command {
	take := func(cmd *cobra.Command, args []string) error {
		o.args, o.dash, o.given = args, cmd.ArgsLenAtDash(), newGivenFlags(cmd.Flags())
		if o.dash >= 0 || slices.ContainsFunc(args, func(arg string) bool { return !isProcessID(arg) }) {
			return nil
		}
		o.args = nil
		return someIDs(&o.PIDs)(cmd, args)
	}
	cmd := newCmd(std, o, "collect {-p PID | -n NAME | --dport PATH | -- COMMAND ARG...}", "Trace .NET processes, running or started by it", take)
	cmd.SuggestFor = []string{"record", "trace", "capture", "start"}
	flags := cmd.Flags()
	std.addTargetFlags(cmd, &o.Target, "the processes with these ids, separated by commas", "the processes with matching names, as in 'web*'")
	flags.Var(portFlag(&o.Port), "diagnostic-port", "processes that connect to this port, or the process listening on it; also --dport")
	flags.Var(&o.resume, "resume-runtime", "resume a process suspended at startup once it is being traced")
	flags.BoolVar(&o.hideIO, "hide-child-io", false, "discard the command's output, and give it no terminal input")
	flags.BoolVar(&o.showIO, "show-child-io", false, "show the command's output (the default; accepted for dotnet-trace compatibility)")
	if err := flags.MarkHidden("show-child-io"); err != nil {
		panic(err) // the flag does not exist
	}
	flags.Var(&o.profiles, "profile", "sets of events, listed above")
	flags.Var(&o.asked.Providers, "providers", "these providers, each Name[:Keywords[:Level[:key=value;...]]] with hexadecimal keywords")
	flags.Var(&o.asked.CLREvents, "clrevents", "keywords of the runtime provider, as in gc+gchandle")
	flags.Var(&o.asked.CLRLevel, "clreventlevel", "level of --clrevents, 0 to 5 or a name (default informational)")
	flags.BoolVar(&o.asked.Requests, "requests", false, requestsHelp)
	flags.Var((*bufferSize)(&o.asked.BufferMB), "buffersize", "size of the runtime's buffer; events that do not fit are lost")
	flags.Var(spanFlag(&o.duration), "duration", "stop after this time: dd:hh:mm:ss, or a duration such as 90s")
	flags.Var(&o.rundown, "rundown", "end the trace with a list of all methods, or with none")
	flags.Var(&o.format, "format", "of the file")
	flags.StringVarP(&o.output, "output", "o", "", "write to this `file` or folder (default NAME_DATE_TIME.nettrace); - is standard output")
	flags.BoolVar(&o.etw, "etw", false, "on Windows, record through ETW: all processes, or those of -p or -n")
	flags.BoolVar(&o.lttng, "lttng", false, "on Linux, record through LTTng: all processes, or those of -p or -n")
	flags.Var(parsed[lttng.Address]{&o.live, "ADDRESS", lttng.Parse}, "lttng-live", "store the LTTng session that a relay daemon receives: net://DAEMON[:PORT]/host/HOST/SESSION")
	flags.Var(&o.dumps, "dump", "take heap snapshots too, when the trace starts, ends, or both (default end)")
	flags.Lookup("dump").NoOptDefVal = dumpEnd
	flags.BoolVar(&o.yes, "yes", false, "with --dump, do not ask before a long pause")
	o.stop.addFlags(flags)
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(cmp.Or(map[string]string{"dport": "diagnostic-port"}[name], name))
	})
	std.completeCondition(cmd, "until")
	std.complete(cmd, "clrevents", selection.KeywordNames())
	std.complete(cmd, "clreventlevel", selection.LevelNames)
	return cmd
}

func (o *collectOptions) run(ctx context.Context, std *stdio) error {
	if o.output == "-" && std.outTerm.Is {
		return misusef("refusing to write a binary trace to a terminal: redirect standard output, or use -o FILE")
	}
	asked := o.request()
	config, ignored := asked.Config()
	if ignored {
		std.warn("gctrail", "--clrevents is ignored: --providers or the profile already sets the runtime provider")
	}
	warnOfCost(std, asked)
	plan, err := o.plan(&config)
	if err != nil {
		return err
	}
	switch {
	case o.live.Session != "":
		return o.collectLive(ctx, std, config, plan)
	case o.lttng:
		return o.collectLTTng(ctx, std, config, plan)
	case o.etw:
		return o.collectETW(ctx, std, config, plan)
	}
	return o.collect(ctx, std, config, plan)
}

// plan returns the plan that the flags describe. The error is a usage error.
func (o *collectOptions) plan(config *diag.Config) (*collect.Plan, error) {
	plan, err := o.stop.plan(o.output, config)
	if err == nil {
		plan.DumpAtStart, plan.DumpAtEnd = slices.Contains(o.dumps.values, dumpStart), slices.Contains(o.dumps.values, dumpEnd)
	}
	return plan, err
}

// showsIO reports whether the output of a command is shown. A trace on standard
// output leaves no room for it there.
func (o *collectOptions) showsIO() bool { return !o.hideIO && o.output != "-" }

// collect traces the selected processes.
func (o *collectOptions) collect(ctx context.Context, std *stdio, config diag.Config, plan *collect.Plan) error {
	talk := &collectTalk{std: std, line: &progress{}, target: o.again(o.args)}
	s := collect.New(o.options(std, config, plan, talk.notify))
	switch {
	case len(o.args) > 0:
		if !o.showsIO() {
			talk.show(s, "waiting for "+filepath.Base(o.args[0]))
		}
		err := s.Launch(ctx, &collect.Command{Args: o.args, Show: o.showsIO(), Terminal: term.IsTerminal(int(os.Stdin.Fd()))})
		return talk.finish(err)
	case o.Port.Path != "" && !o.Port.Connect:
		talk.show(s, "waiting for a program")
		return talk.finish(s.Listen(ctx, o.Port.Path))
	}
	system := etw.Native()
	o.Framework = system != nil
	found, missed, err := o.Find(ctx)
	if err != nil {
		return err
	}
	processes, framework := collect.Split(found)
	if len(processes)+min(1, len(framework)) > 1 && collect.NewPaths(o.output).Single() {
		return misusef("%d processes match (%s), but -o is a single file: give a folder, such as traces/, or use {pid} or {name} in the file name",
			len(found), collect.Titles(found))
	}
	var session *collect.ETW
	if len(framework) > 0 {
		if err := errors.Join(o.etwConflict(), tooManyForETW(framework)); err != nil {
			return err
		}
		std.warn("gctrail", "recording through ETW, because .NET Framework has no diagnostic pipe: "+collect.Titles(framework))
		session = &collect.ETW{System: system, Processes: framework, Options: o.options(std, o.etwConfig(config), plan, talk.notify)}
	}
	if plan.Dumps() {
		if len(framework) > 0 {
			return misusef("--dump takes snapshots of .NET 5 and later, not of .NET Framework: %s", collect.Titles(framework))
		}
		if agreed, err := std.agreeToDump(processes, o.yes); err != nil || !agreed {
			return err
		}
	}
	if missed != nil {
		talk.notify(collect.Failed{Err: missed})
	}
	talk.show(s, "")
	s.Gather(ctx, processes, session)
	return talk.finish(nil)
}

func (o *collectOptions) options(std *stdio, config diag.Config, plan *collect.Plan, notify func(collect.Notice)) *collect.Options {
	return &collect.Options{
		Config: config, Duration: o.duration, Resume: o.resume.value != "false", Names: o.Names,
		Output: o.output, Plan: plan, Stdout: std.out, Notify: notify,
	}
}

// again returns the flags and the command that select what to trace, and for how long.
func (o *collectOptions) again(command []string) string {
	var words []string
	if len(o.PIDs) > 0 {
		words = append(words, "-p", joined(o.PIDs))
	}
	if len(o.Names) > 0 {
		words = append(words, "-n", joined(o.Names))
	}
	if o.Port.Path != "" {
		port := o.Port.Path
		if o.Port.Connect {
			port += ",connect"
		}
		words = append(words, "--diagnostic-port", port)
	}
	if len(words)+len(command) > 0 && o.duration > 0 {
		words = append(words, "--duration", spanText(o.duration))
	}
	if len(command) > 0 {
		words = append(append(words, "--"), command...)
	}
	return text.QuotedWords(words)
}

// joined returns values as a flag takes them.
func joined[T any](values []T) string {
	return strings.Join(text.Each(values, func(v *T) string { return fmt.Sprint(*v) }), ",")
}

func (o *collectOptions) conflict() error {
	launches := o.dash >= 0 // a command follows --
	if !launches && len(o.args) > 0 || o.dash > 0 {
		return fmt.Errorf("unexpected argument %q; for running processes: gctrail collect -n %[2]s; to start a command: gctrail collect -- %[2]s", o.args[0], text.Quoted(o.args[0]))
	}
	ids, names, port, lttng, dumps := len(o.PIDs), len(o.Names) > 0, o.Port.Path != "", o.lttng || o.live.Session != "", len(o.dumps.values) > 0
	err := firstBroken(
		rule{launches && len(o.args) == 0, "no command after --: give the command to start, as in gctrail collect -- dotnet app.dll"},
		rule{launches && (ids > 0 || port), "-p and --diagnostic-port cannot be used with a command: leave them out, or the command"},
		rule{port && ids > 0 || o.Port.Connect && names, "-p and -n cannot be used with --diagnostic-port: the process that connects to it is traced"},
		rule{ids > 0 && names, "-p and -n cannot be used together: give an id or a name"},
		rule{launches && o.etw, "--etw records running processes: start the command, then run gctrail collect --etw -n NAME"},
		rule{launches && lttng, "--lttng records running processes: run gctrail collect --lttng, then start the command"},
		rule{!launches && ids == 0 && !names && !port && !o.etw && !lttng, "no process given: use -p PID, -n NAME, --diagnostic-port PATH, or -- COMMAND; list the .NET processes with: gctrail ps"},
		rule{dumps && (ids == 0 && !names || o.etw || o.lttng), "--dump takes snapshots of running .NET processes: use -p PID or -n NAME, without --etw and --lttng"},
		rule{dumps && o.output == "-", "--dump writes snapshots beside the trace: choose a file with -o"},
		rule{(o.showIO || o.hideIO) && !launches, "--show-child-io and --hide-child-io need a command after --"},
		rule{o.showIO && o.hideIO, "--show-child-io and --hide-child-io cannot be used together"},
		rule{o.showIO && o.output == "-", "--show-child-io and -o - both write to standard output"},
		rule{ids > 1 && collect.NewPaths(o.output).Single(), "-o is a single file, but there are several traces: give a folder, such as traces/, or use {pid} or {name} in the file name"},
	)
	switch {
	case err != nil:
		return err
	case lttng:
		return o.lttngConflict()
	case o.etw:
		return o.etwConflict()
	}
	return nil
}

// request returns the session that the flags describe.
func (o *collectOptions) request() *collect.Request {
	o.asked.Profiles, o.asked.Rundown = o.profiles.values, o.rundown.value
	return &o.asked
}

// warnOfCost warns of the likely cost of the requested profiles, if that is high, and
// names a cheaper way.
func warnOfCost(std *stdio, asked *collect.Request) {
	for _, p := range asked.Costly() {
		std.warn("gctrail", fmt.Sprintf("%s can slow the process down by %s; at lower cost, %s", p.Name, p.Cost, p.Cheaper))
	}
}
