package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/etw"
	"github.com/gctrail/gctrail/internal/lttng"
)

// collectETW records through ETW.
func (o *collectOptions) collectETW(ctx context.Context, std *stdio, config diag.Config, plan *collect.Plan) error {
	system := etw.Native()
	if system == nil {
		return collect.ErrNoETW
	}
	processes, err := o.recorded(ctx)
	if err := errors.Join(err, tooManyForETW(processes)); err != nil {
		return err
	}
	talk := &collectTalk{std: std, line: &progress{}}
	e := &collect.ETW{System: system, Processes: processes, Options: o.options(std, o.etwConfig(config), plan, talk.notify)}
	talk.show(e, "")
	return talk.finish(e.Run(ctx))
}

// etwConfig returns the configuration of an ETW session.
func (o *collectOptions) etwConfig(config diag.Config) diag.Config {
	if !o.given["buffersize"] {
		config.BufferMB = 0 // the session's own default
	}
	if len(o.profiles.values) == 0 && len(o.asked.Providers) == 0 && o.asked.CLREvents == 0 {
		config.Providers = config.Providers[:1] // as PerfView's /GCCollectOnly
	}
	return config
}

// etwConflict returns which flags have no meaning for an ETW session.
func (o *collectOptions) etwConflict() error {
	name := o.given.first("resume-runtime", "diagnostic-port", "hide-child-io")
	switch {
	case name != "":
		return misusef("--%s cannot be used with --etw, which records processes that run", name)
	case o.output == "-":
		return misusef("--etw cannot write to standard output: Windows itself writes the file; choose one with -o FILE")
	}
	return nil
}

// tooManyForETW returns an error if an ETW session cannot select so many processes.
func tooManyForETW(found []*diag.Process) error {
	if len(found) <= etw.MaxPIDs {
		return nil
	}
	return fmt.Errorf("%d processes match, but an ETW session can select %d: record all with gctrail collect --etw, without -p and -n", len(found), etw.MaxPIDs)
}

// etwErrorText returns an error with its remedy.
func etwErrorText(e *etw.Error) string {
	const group = `"Performance Log Users"`
	switch {
	case errors.Is(e, etw.StatusDenied):
		return "ETW sessions need more rights: run gctrail as administrator, or add the user to the group " + group +
			`, and sign in again: net localgroup ` + group + ` %USERNAME% /add`
	case errors.Is(e, etw.StatusNoResources):
		return "Windows allows no more ETW sessions (64 by default): stop one of another tool, such as PerfView or wpr"
	case errors.Is(e, etw.ErrNoFile):
		return "Windows reports that the ETW session runs, but it writes no file: this system (Wine, or a container) has no ETW"
	case errors.Is(e, etw.StatusDiskFull), errors.Is(e, etw.ErrDiskFull):
		return "the disk is full: Windows starts an ETW session only with 200 MB free; choose another folder with -o"
	case errors.Is(e, etw.ErrName), errors.Is(e, etw.StatusBadPath):
		return "Windows cannot write the trace to this path: choose a shorter one with -o"
	}
	return e.Error()
}

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

// recorded returns the processes that a tracer of the system is to record; nil means
// all. It may see more of them than the diagnostics protocol does.
func (o *collectOptions) recorded(ctx context.Context) ([]*diag.Process, error) {
	var found []*diag.Process
	var errs []error
	for _, pid := range o.PIDs {
		p, err := diag.Find(ctx, pid)
		switch {
		case errors.Is(err, diag.ErrNoProcess):
			errs = append(errs, &collect.ProcessError{Name: "process " + strconv.Itoa(pid), Err: err})
		case err != nil:
			p = &diag.Process{PID: pid}
		}
		if p != nil {
			found = append(found, p)
		}
	}
	if len(o.Names) == 0 {
		return found, errors.Join(errs...)
	}
	for _, p := range diag.List(ctx) {
		if o.Names.Match(p) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		errs = append(errs, &collect.ProcessError{Name: joined(o.Names), Err: diag.ErrNoProcess})
	}
	return found, errors.Join(errs...)
}
