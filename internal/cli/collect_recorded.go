package cli

import (
	"context"
	"errors"
	"strconv"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
)

// recorded returns the processes that a tracer of the system is to record; nil means
// all. It may see more of them than the diagnostics protocol does.
func (o *collectOptions) recorded(ctx context.Context) ([]*diag.Process, error) {
	var found []*diag.Process
	var errs []error
	for _, pid := range o.pids {
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
	if len(o.names) == 0 {
		return found, errors.Join(errs...)
	}
	for _, p := range diag.List(ctx) {
		if o.names.match(p) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		errs = append(errs, &collect.ProcessError{Name: o.names.String(), Err: diag.ErrNoProcess})
	}
	return found, errors.Join(errs...)
}
