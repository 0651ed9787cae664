package cli

import (
	"context"
	"errors"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/lttng"
)

// collectLTTng records through LTTng.
func (o *collectOptions) collectLTTng(ctx context.Context, std *stdio, config diag.Config, plan *collect.Plan) error {
	system, err := lttng.Native()
	if err != nil {
		return err
	}
	processes, err := o.recorded(ctx)
	if err != nil {
		return err
	}
	if !o.given["buffersize"] {
		config.BufferMB = 0 // the session's own default
	}
	config.NoStacks = true // its events have none
	talk := &collectTalk{std: std, line: &progress{}}
	l := &collect.LTTng{System: system, Processes: processes, Options: o.options(std, config, plan, talk.notify)}
	talk.show(l, "")
	return talk.finish(l.Run(ctx))
}

// collectLive stores the events of an LTTng relay daemon.
func (o *collectOptions) collectLive(ctx context.Context, std *stdio, config diag.Config, plan *collect.Plan) error {
	talk := &collectTalk{std: std, line: &progress{}}
	l := &collect.LTTngLive{Address: o.live, Options: o.options(std, config, plan, talk.notify)}
	talk.show(l, "waiting for the relay daemon")
	return talk.finish(l.Run(ctx))
}

// lttngConflict returns which flags have no meaning for an LTTng session.
func (o *collectOptions) lttngConflict() error {
	name := o.given.first("until", "keep", "before", "after", "repeat", "stopping-event-provider-name", "resume-runtime", "diagnostic-port", "hide-child-io", "rundown")
	fixed := ""
	if o.live.Session != "" {
		fixed = o.given.first("etw", "lttng", "process-id", "name", "profile", "providers", "clrevents", "buffersize")
	}
	switch {
	case fixed != "":
		return misusef("--%s cannot be used with --lttng-live: the session that is received decides what it has", fixed)
	case o.etw:
		return misusef("--etw and --lttng cannot be used together: ETW is part of Windows, LTTng of Linux")
	case name != "":
		return misusef("--%s cannot be used with LTTng: gctrail reads the trace of an LTTng session when it has ended", name)
	case o.output == "-":
		return misusef("LTTng traces cannot be written to standard output, because they are folders of files; choose one with -o FOLDER")
	}
	return nil
}

// lttngErrorText returns an error with its remedy.
func lttngErrorText(err error) string {
	switch {
	case errors.Is(err, lttng.ErrNotInstalled):
		return "LTTng is not installed: install lttng-tools, or record without it: gctrail collect -p PID"
	case errors.Is(err, collect.ErrNoTracer):
		return "no .NET process has sent events to LTTng: start the program with DOTNET_LTTng=1 and DOTNET_EnableEventLog=1, " +
			"with .NET 9 or earlier, where liblttng-ust.so.0 (LTTng-UST 2.12 or earlier) is installed"
	}
	if relay, ok := errors.AsType[*collect.RelayError](err); ok {
		if _, ok := errors.AsType[*lttng.NoSessionError](err); ok {
			return relay.Err.Error()
		}
		return relay.Error() + "; check that lttng-relayd runs there, and that the session was made with lttng create --live"
	}
	return err.Error() + "; check that a session daemon runs and accepts you (group tracing): lttng list"
}
