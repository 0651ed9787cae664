package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/diag"
)

// targets finds the processes that run and are asked for. Those that matched a
// pattern and cannot be reached are told of in missed; where there is nothing to
// collect from, or one that was named is not there, there is only an error. It
// is the context's, or made of *processErrors.
func (o *collectOptions) targets(ctx context.Context) (found []*diag.Process, missed, err error) {
	switch {
	case o.port.Path != "":
		found, err = o.atPort(ctx)
	case len(o.pids) > 0:
		found, err = o.withIDs(ctx)
	default:
		found, missed, err = o.names.pick(diag.List(ctx))
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return found, missed, err
}

// atPort asks who listens at the port.
func (o *collectOptions) atPort(ctx context.Context) ([]*diag.Process, error) {
	p, err := o.port.Process(ctx)
	if err != nil {
		return nil, &processError{"diagnostic port " + o.port.Path, err}
	}
	return []*diag.Process{p}, nil
}

// withIDs finds the processes with the ids that are given.
func (o *collectOptions) withIDs(ctx context.Context) ([]*diag.Process, error) {
	var found []*diag.Process
	var errs []error
	for _, pid := range o.pids {
		p, err := diag.Find(ctx, pid)
		if err != nil {
			errs = append(errs, &processError{"process " + strconv.Itoa(pid), err})
			continue
		}
		found = append(found, p)
	}
	return found, errors.Join(errs...)
}

// pick picks the processes whose names match.
func (l *globList) pick(all []*diag.Process) (found []*diag.Process, missed, err error) {
	for _, p := range all {
		if !l.matches(p.Name) {
			continue
		}
		if p.Err != nil {
			missed = errors.Join(missed, unreachable(p))
		} else {
			found = append(found, p)
		}
	}
	for _, pattern := range *l {
		if !slices.ContainsFunc(all, func(p *diag.Process) bool { return pattern.Matches(p.Name) }) {
			err = errors.Join(err, &processError{string(pattern), diag.ErrNoProcess})
		}
	}
	if err != nil || len(found) == 0 {
		return nil, nil, errors.Join(err, missed)
	}
	return found, missed, nil
}

// processTitle is the name and the id of a process.
func processTitle(p *diag.Process) string {
	return cmp.Or(p.Name, "process") + " " + processID(p)
}

// titles are those of several processes.
func titles(all []*diag.Process) string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = processTitle(p)
	}
	return strings.Join(names, ", ")
}
