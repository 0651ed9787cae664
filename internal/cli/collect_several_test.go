package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/tracefile"
)

// capture collects from one process whose session has begun.
func (o *collectOptions) capture(ctx context.Context, std *stdio, process *diag.Process, session *diag.Session, out *tracefile.File) error {
	config, _ := o.request().Config()
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

// TestTracePaths: each trace has a path of its own, and a name that nobody chose
// replaces no file.
func TestTracePaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const stamp = "_20260102_030405"
	if err := os.WriteFile("old"+stamp+".nettrace", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		output string
		single bool
		names  []string
		want   []string
	}{
		{"", false, []string{"web", "web", "old", "", "../x:y"}, []string{
			"web" + stamp + ".nettrace", "web" + stamp + "_1.nettrace", "old" + stamp + "_2.nettrace", "trace" + stamp + ".nettrace",
			"_x_y" + stamp + ".nettrace",
		}},
		{"x.nettrace", true, []string{"web"}, []string{"x.nettrace"}},
		{"-", true, []string{"web"}, []string{"-"}},
		{"new/", false, []string{"web"}, []string{"new/web" + stamp + ".nettrace"}},
		{dir, false, []string{"web"}, []string{dir + "/web" + stamp + ".nettrace"}},
		{"{name}.x", false, []string{"web", "web", "web", ".."}, []string{"web.x", "web_1.x", "web_2.x", "process.x"}},
		{"t/{name}-{pid}.x", false, []string{"web", "web"}, []string{"t/web-0.x", "t/web-1.x"}},
	} {
		p := newTracePaths(tt.output)
		if p.single() != tt.single {
			t.Errorf("%s: single %t", tt.output, p.single())
		}
		for i, name := range tt.names {
			got := p.next(&diag.Process{PID: i, InnerPID: i, Name: name}, at)
			if filepath.ToSlash(got) != filepath.ToSlash(tt.want[i]) {
				t.Errorf("%s, %s: %s, want %s", tt.output, name, got, tt.want[i])
			}
		}
	}
	same := newTracePaths("x{name}")
	for i, want := range []string{"xweb", "xweb_7", "xweb_7_2"} {
		if got := same.next(&diag.Process{PID: 7, Name: "web"}, at); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}
