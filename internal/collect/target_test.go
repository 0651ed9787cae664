package collect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/selection"
)

// TestPick: names and patterns pick all that match. A name that matches nothing is an
// error; a process that cannot be reached is named in a message.
func TestPick(t *testing.T) {
	all := []*diag.Process{
		{PID: 1, Name: "web1"},
		{PID: 2, Name: "web2"},
		{PID: 3, Name: "db", Err: diag.ErrStopped},
		{PID: 4, Name: "Mail"},
		{PID: 5, Name: "w3wp", Err: diag.ErrFramework},
		{PID: 6, Name: "w3wp"},
		{PID: 7, Name: "shop", Info: &diag.Info{CommandLine: "/usr/bin/dotnet /srv/shop.dll"}},
	}
	const (
		gone    = ": no such process"
		stopped = "db 3: the process is stopped"
	)
	for _, tt := range []struct {
		names, found, missed, err string
		framework                 bool
	}{
		{names: "mail", found: "Mail 4"},
		{names: "web?", found: "web1 1, web2 2"},
		{names: "web2,MAIL", found: "web2 2, Mail 4"},
		{names: "*", found: "web1 1, web2 2, Mail 4, w3wp 6, shop 7", missed: stopped + "\nw3wp 5: .NET Framework has no diagnostic pipe"},
		{names: "w3wp", framework: true, found: "w3wp 5, w3wp 6"},
		{names: "db", err: stopped},
		{names: "shop", found: "shop 7"},
		{names: "dotnet", found: "shop 7"},
		{names: "x*", err: "x*" + gone},
		{names: "web1,x,y", err: "x" + gone + "\ny" + gone},
	} {
		var names Names
		for name := range strings.SplitSeq(tt.names, ",") {
			names = append(names, selection.Glob(strings.ToLower(name)))
		}
		found, missed, err := names.pick(all, tt.framework)
		if got := Titles(found); got != tt.found || textOf(missed) != tt.missed || textOf(err) != tt.err {
			t.Errorf("%s: %s, missed %s, error %s", tt.names, got, textOf(missed), textOf(err))
		}
	}
}

// TestSplit separates processes of .NET Framework from the others.
func TestSplit(t *testing.T) {
	others, framework := Split([]*diag.Process{{PID: 1, Name: "a"}, {PID: 2, Name: "b", Err: diag.ErrFramework}, {PID: 3, Name: "c"}})
	if Titles(others) != "a 1, c 3" || Titles(framework) != "b 2" {
		t.Errorf("%s; %s", Titles(others), Titles(framework))
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestTracePaths: each trace has a path of its own, and a generated name replaces no
// file.
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
		p := NewPaths(tt.output)
		if p.Single() != tt.single {
			t.Errorf("%s: single %t", tt.output, p.Single())
		}
		for i, name := range tt.names {
			got := p.Next(&diag.Process{PID: i, InnerPID: i, Name: name}, at)
			if filepath.ToSlash(got) != filepath.ToSlash(tt.want[i]) {
				t.Errorf("%s, %s: %s, want %s", tt.output, name, got, tt.want[i])
			}
		}
	}
	same := NewPaths("x{name}")
	for i, want := range []string{"xweb", "xweb_7", "xweb_7_2"} {
		if got := same.Next(&diag.Process{PID: 7, Name: "web"}, at); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}

func TestDefaultTraceName(t *testing.T) {
	at := time.Date(2026, 3, 4, 15, 6, 7, 0, time.Local)
	if got := defaultTraceName("web", at); got != "web_20260304_150607" {
		t.Error(got)
	}
}
