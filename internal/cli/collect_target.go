package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/diag"
)

// target finds the process that is asked for. The error is a *processError, or
// the context's.
func (o *collectOptions) target(ctx context.Context) (*diag.Process, error) {
	if o.name != "" {
		p, err := onlyMatch(diag.List(ctx), &o.name)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return p, err
	}
	p, err := diag.Find(ctx, int(o.pid))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &processError{"process " + strconv.Itoa(int(o.pid)), err}
	}
	return p, nil
}

// onlyMatch is the process whose name matches, if there is exactly one.
func onlyMatch(all []*diag.Process, pattern *globValue) (*diag.Process, error) {
	var found []*diag.Process
	var titles []string
	for _, p := range all {
		if pattern.matches(p.Name) {
			found = append(found, p)
			titles = append(titles, processTitle(p))
		}
	}
	switch {
	case len(found) == 0:
		return nil, &processError{string(*pattern), diag.ErrNoProcess}
	case len(found) > 1:
		return nil, &processError{string(*pattern), fmt.Errorf("%d processes match (%s), choose one with -p", len(found), strings.Join(titles, ", "))}
	case found[0].Err != nil:
		return nil, unreachable(found[0])
	}
	return found[0], nil
}

// processTitle is the name and the id of a process.
func processTitle(p *diag.Process) string {
	return cmp.Or(p.Name, "process") + " " + processID(p)
}
