package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/etw"
)

// collectETW records through ETW.
func (o *collectOptions) collectETW(ctx context.Context, std *stdio, config diag.Config, plan *collect.Plan) error {
	system := etw.Native()
	if system == nil {
		return collect.ErrNoETW
	}
	processes, err := o.etwProcesses(ctx)
	if err != nil {
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
	if len(o.profiles.values) == 0 && len(o.providers) == 0 && o.clrEvents == 0 {
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

// etwProcesses returns the selected processes; nil means all.
func (o *collectOptions) etwProcesses(ctx context.Context) ([]*diag.Process, error) {
	found, err := o.recorded(ctx)
	return found, errors.Join(err, tooManyForETW(found))
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
