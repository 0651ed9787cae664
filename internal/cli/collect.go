package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/diag"
)

type collectOptions struct {
	pid       processNumber
	name      globValue
	profiles  choices
	providers providerList
	clrEvents keywordSet
	clrLevel  level
	buffer    bufferSize
	duration  span
	rundown   choice
	format    choice
	output    string
}

func newCollectCmd(std *stdio) *cobra.Command { return newCollectOptions().command(std) }

func newCollectOptions() *collectOptions {
	return &collectOptions{
		profiles: choices{kind: "NAME", of: profileNames()},
		buffer:   256,
		rundown:  choice{"", []string{"true", "false"}},
		format:   choice{"NetTrace", []string{"NetTrace"}},
	}
}

func (o *collectOptions) command(std *stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "collect {-p PID | -n NAME}",
		Short: "Trace a running .NET process",
		Long: `collect has a running .NET process raise events and writes them to a .nettrace
file, until Ctrl-C, until --duration is over, or until the process ends. Then it
says what the garbage collector did in that time.

The flags are those of dotnet-trace. Profiles:

` + profileHelp() + `
Without --profile, --providers and --clrevents it is gc-collect.

Unlike dotnet-trace, a trace ends with a list of all methods (the rundown, which
stacks need, and which can take megabytes and seconds) only for the last three
profiles and with --rundown true. Otherwise .NET 9 and later add two events with
the runtime's version and settings, older ones none.

The file is whole at any time: if the process or the collecting is killed, or the
disk is full, it holds what was written until then, and every tool reads it.

Exit codes: 0 done, also when the process was killed; 2 wrong usage; 3 the file
could not be written; 4 no such process, several, or no permission; 5 the runtime
is too old.`,
		Example: `  gctrail collect -p 1234
  gctrail collect -n 'web*' --duration 90s -o web.nettrace
  gctrail collect -p 1234 --profile gc-verbose --buffersize 512
  gctrail collect -p 1234 --providers Microsoft-Windows-DotNETRuntime:0x1:4 -o - | gctrail -`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd, std) },
	}
	flags := cmd.Flags()
	flags.VarP(&o.pid, "process-id", "p", "the process with this id")
	flags.VarP(&o.name, "name", "n", "the only process whose name matches, as in 'web*'")
	flags.Var(&o.profiles, "profile", "sets of events, as above")
	flags.Var(&o.providers, "providers", "events of these providers, each Name[:Keywords[:Level[:key=value;...]]] with hexadecimal keywords")
	flags.Var(&o.clrEvents, "clrevents", "keywords of the runtime's events, as in gc+gchandle")
	flags.Var(&o.clrLevel, "clreventlevel", "level of --clrevents, 0 to 5 or a name (default informational)")
	flags.Var(&o.buffer, "buffersize", "size of the runtime's buffer; events that find no room in it are lost")
	flags.Var(&o.duration, "duration", "end after this time: dd:hh:mm:ss, or as in 90s")
	flags.Var(&o.rundown, "rundown", "end with a list of all methods, or with nothing")
	flags.Var(&o.format, "format", "of the file")
	flags.StringVarP(&o.output, "output", "o", "", "write to this `file` (default NAME_DATE_TIME.nettrace); - is standard output")
	complete(cmd, "profile", o.profiles.of)
	complete(cmd, "clrevents", keywordNames())
	complete(cmd, "clreventlevel", levelNames)
	complete(cmd, "rundown", o.rundown.of)
	complete(cmd, "format", o.format.of)
	return cmd
}

func profileHelp() string {
	var b strings.Builder
	for i := range profiles {
		fmt.Fprintf(&b, "  %-27s %s\n", profiles[i].name, profiles[i].help)
	}
	return b.String()
}

func (o *collectOptions) run(cmd *cobra.Command, std *stdio) error {
	switch {
	case (o.pid == 0) == (o.name == ""):
		return usagef(cmd, "give either the process's id with -p or its name with -n")
	case o.output == "-" && std.outTerm.is:
		return usagef(cmd, "a trace is nothing for a terminal: send standard output elsewhere, or choose a file with -o")
	}
	config, ignored := o.config()
	if ignored {
		std.warn("gctrail", "--clrevents is ignored: the runtime's provider is in --providers or in the profile already")
	}
	ctx := cmd.Context()
	process, err := o.target(ctx)
	if err != nil {
		return err
	}
	session, err := process.Client().Collect(ctx, config)
	if err != nil {
		return refused(ctx, process, err)
	}
	name := o.output
	if name == "" {
		name = defaultTraceName(process.Name, time.Now())
	}
	out, err := std.createTrace(name)
	if err != nil {
		return errors.Join(err, session.Close())
	}
	return o.capture(ctx, std, process, session, out)
}

// capture reads the session to its end and says what was in it.
func (o *collectOptions) capture(ctx context.Context, std *stdio, process *diag.Process, session *diag.Session, out *traceOutput) error {
	c := newCapture(process, session, out)
	std.warn("gctrail", fmt.Sprintf("collecting from %s to %s; Ctrl-C ends it", processTitle(process), out.name))
	line := std.show(c.line)
	if o.duration > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, time.Duration(o.duration))
		defer cancel()
	}
	err := c.run(ctx)
	line.stop()
	c.tell(std)
	return err
}

// refused is the error of a runtime that was asked for a session.
func refused(ctx context.Context, process *diag.Process, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &processError{processTitle(process), err}
}

// defaultTraceName is dotnet-trace's.
func defaultTraceName(process string, now time.Time) string {
	if process == "" {
		process = "trace"
	}
	return process + now.Format("_20060102_150405") + ".nettrace"
}
