package collect

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/program"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
)

// Names are patterns for the names of processes.
type Names []selection.Glob

// Match reports whether one of the patterns matches a name of the process; without any,
// all processes match.
func (n Names) Match(p *diag.Process) bool {
	return len(n) == 0 || slices.ContainsFunc(n, func(g selection.Glob) bool { return slices.ContainsFunc(p.Names(), g.Matches) })
}

// A Target selects running processes: one of its fields is set.
type Target struct {
	Port  diag.Port
	PIDs  []int
	Names Names
	// Framework includes processes of .NET Framework, with ErrFramework as their Err,
	// because ETW can record them.
	Framework bool
}

// Find finds the processes. missed lists the processes that matched a pattern but cannot
// be reached. If there is nothing to collect from, or a named process is missing, there
// is only an error: the context's, or one made of *ProcessErrors.
func (t *Target) Find(ctx context.Context) (found []*diag.Process, missed, err error) {
	switch {
	case t.Port.Path != "":
		found, err = t.atPort(ctx)
	case len(t.PIDs) > 0:
		found, err = t.withIDs(ctx)
	default:
		found, missed, err = t.Names.pick(diag.List(ctx), t.Framework)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return found, missed, err
}

// atPort asks for the process that listens at the port.
func (t *Target) atPort(ctx context.Context) ([]*diag.Process, error) {
	p, err := t.Port.Process(ctx)
	if err != nil {
		return nil, &ProcessError{"diagnostic port " + t.Port.Path, err}
	}
	return []*diag.Process{p}, nil
}

// withIDs finds the processes with the ids that are given.
func (t *Target) withIDs(ctx context.Context) ([]*diag.Process, error) {
	var found []*diag.Process
	var errs []error
	for _, pid := range t.PIDs {
		p, err := diag.Find(ctx, pid)
		switch {
		case t.Framework && errors.Is(err, diag.ErrFramework):
			found = append(found, listed(ctx, pid, err))
		case err != nil:
			errs = append(errs, &ProcessError{"process " + strconv.Itoa(pid), err})
		default:
			found = append(found, p)
		}
	}
	return found, errors.Join(errs...)
}

// listed returns the process with a PID that cannot be queried, with its name if it is
// known.
func listed(ctx context.Context, pid int, err error) *diag.Process {
	for _, p := range diag.List(ctx) {
		if p.PID == pid {
			return p
		}
	}
	return &diag.Process{PID: pid, Err: err}
}

// Split separates processes of .NET Framework from the others.
func Split(all []*diag.Process) (others, framework []*diag.Process) {
	for _, p := range all {
		if errors.Is(p.Err, diag.ErrFramework) {
			framework = append(framework, p)
		} else {
			others = append(others, p)
		}
	}
	return others, framework
}

// pick returns the processes whose names match, including .NET Framework processes if
// framework is set.
func (n Names) pick(all []*diag.Process, framework bool) (found []*diag.Process, missed, err error) {
	for _, p := range all {
		if !n.Match(p) {
			continue
		}
		if p.Err != nil && !(framework && errors.Is(p.Err, diag.ErrFramework)) {
			missed = errors.Join(missed, Unreachable(p))
		} else {
			found = append(found, p)
		}
	}
	for _, pattern := range n {
		if !slices.ContainsFunc(all, Names{pattern}.Match) {
			err = errors.Join(err, &ProcessError{string(pattern), diag.ErrNoProcess})
		}
	}
	if err != nil || len(found) == 0 {
		return nil, nil, errors.Join(err, missed)
	}
	return found, missed, nil
}

// Title returns the name and the id of a process, for use in sentences, or the diagnostic port
// that is all that is known of it.
func Title(p *diag.Process) string {
	if p.PID == 0 && p.InnerPID == 0 && p.Name == "" && p.Address != "" {
		return "diagnostic port " + p.Address
	}
	return cmp.Or(program.Inert(p.Name), "process") + " " + ID(p)
}

// ID returns the id of a process, in brackets if only its namespace knows it.
func ID(p *diag.Process) string {
	if p.PID == 0 {
		return "(" + strconv.Itoa(p.InnerPID) + ")"
	}
	return strconv.Itoa(p.PID)
}

// Titles returns the titles of several processes.
func Titles(all []*diag.Process) string {
	return strings.Join(text.Each(all, func(p **diag.Process) string { return Title(*p) }), ", ")
}
