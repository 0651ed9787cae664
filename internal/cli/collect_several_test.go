package cli

import (
	"context"
	"errors"
	"testing"

	"github.com/gctrail/gctrail/diag"
)

// capture collects from one process whose session has begun.
func (o *collectOptions) capture(ctx context.Context, std *stdio, process *diag.Process, session *diag.Session, out *traceOutput) error {
	config, _ := o.config()
	g := o.gathering(std, config, &stopPlan{files: 1})
	g.follow(ctx, g.started(newCapture(process, session, out)))
	return g.worst()
}

// TestPick: names and patterns pick all that match. What was named and is not
// there is an error, what cannot be reached is told of.
func TestPick(t *testing.T) {
	all := []*diag.Process{
		{PID: 1, Name: "web1"}, {PID: 2, Name: "web2"}, {PID: 3, Name: "db", Err: diag.ErrStopped}, {PID: 4, Name: "Mail"},
	}
	const (
		gone    = ": no such process; gctrail ps lists the .NET processes"
		stopped = "db 3: the process is stopped; let it go on: kill -CONT, or in its debugger"
	)
	for _, tt := range []struct{ names, found, missed, err string }{
		{names: "mail", found: "Mail 4"},
		{names: "web?", found: "web1 1, web2 2"},
		{names: "web2,MAIL", found: "web2 2, Mail 4"},
		{names: "*", found: "web1 1, web2 2, Mail 4", missed: stopped},
		{names: "db", err: stopped},
		{names: "x*", err: "x*" + gone},
		{names: "web1,x,y", err: "x" + gone + "\ny" + gone},
	} {
		var names globList
		if err := names.Set(tt.names); err != nil {
			t.Fatal(err)
		}
		found, missed, err := names.pick(all)
		if got := titles(found); got != tt.found || textOf(missed) != tt.missed || textOf(err) != tt.err {
			t.Errorf("%s: %s, missed %s, error %s", tt.names, got, textOf(missed), textOf(err))
		}
		if err := errors.Join(missed, err); err != nil && exitCodeOf(err) != exitNoProcess {
			t.Errorf("%s: exit code %d", tt.names, exitCodeOf(err))
		}
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
