//go:build linux

package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// wholeFile checks that a trace is whole and has collections.
func wholeFile(t *testing.T, path string) {
	t.Helper()
	if len(dotnettest.MustEndFile(t, path)) == 0 {
		t.Errorf("%s has no collections", path)
	}
}

// TestLaunchPlain: a command that is no .NET program runs, and its exit code is
// that of gctrail.
func TestLaunchPlain(t *testing.T) {
	for _, tt := range []struct {
		command string
		code    int
		says    string
	}{
		{"exit 0", exitNoProcess, "sh: it ended without connecting for tracing: it is not a .NET 5 or later program"},
		{"exit 3", 3, "sh: exit code 3; to see its output, run without --hide-child-io and with -o FILE"},
		{"kill -9 $$", 137, "sh: exit code 137"},
		{"echo out; exit 4", 4, "sh: exit code 4"},
	} {
		code, out, talk := gctrail(patient(t), "collect", "--hide-child-io", "--", "sh", "-c", tt.command)
		if code != tt.code || out != "" || !strings.Contains(talk, tt.says) {
			t.Errorf("%s: exit code %d, want %d: %s%s", tt.command, code, tt.code, out, talk)
		}
	}
}

// TestLaunchOutput: the command's output is shown unless it is to be hidden, and the
// command reads gctrail's input.
func TestLaunchOutput(t *testing.T) {
	for _, tt := range []struct {
		flag, out, talk string
	}{
		{"--show-child-io", "out in\n", "err\ngctrail: sh: exit code 5\n"},
		{"--format=NetTrace", "out in\n", "err\ngctrail: sh: exit code 5\n"},
		{"--hide-child-io", "", "gctrail: sh: exit code 5; to see its output, run without --hide-child-io and with -o FILE\n"},
		{"--output=-", "", "gctrail: sh: exit code 5; to see its output, run without --hide-child-io and with -o FILE\n"},
	} {
		cmd := newCollecting(patient(t), t, tt.flag, "--", "sh", "-c", "read x; echo out $x; echo err >&2; exit 5").Cmd
		cmd.Stdin = strings.NewReader("in\n")
		var talk strings.Builder
		cmd.Stderr = &talk
		out, _ := cmd.Output()
		if string(out) != tt.out || talk.String() != tt.talk || cmd.ProcessState.ExitCode() != 5 {
			t.Errorf("%s: exit code %d: %q, %q", tt.flag, cmd.ProcessState.ExitCode(), out, talk.String())
		}
	}
}

// TestLaunchLeft: a message names the processes that a command leaves behind, which
// might wait for a port that is gone.
func TestLaunchLeft(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	never := filepath.Join(t.TempDir(), "never")
	if err := syscall.Mkfifo(never, 0o600); err != nil {
		t.Fatal(err)
	}
	// The shell ends when the one it leaves behind has begun: until then, its
	// environment cannot be seen.
	code, _, talk := gctrail(patient(t), "collect", "--", "sh", "-c",
		fmt.Sprintf(`sh -c 'echo $$ > %[1]s; read x < %[2]s' & until [ -s %[1]s ]; do sleep 0.01; done`, pidFile, never))
	b, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	if want := fmt.Sprintf("sh left processes running (%d)", pid); code != exitNoProcess || !strings.Contains(talk, want) {
		t.Errorf("exit code %d, want %q: %s", code, want, talk)
	}
}

// TestLaunch: every .NET program that a command starts is traced from its start. Its gen 0
// is so small that there are GCs however slow the program is.
func TestLaunch(t *testing.T) {
	t.Parallel()
	first, second := dotnettest.Install(t, 8), dotnettest.Install(t, 10)
	dir := filepath.Join(t.ArtifactDir(), "made") + "/"
	code, _, talk := gctrail(patient(t), "collect", "-o", dir, "--", "sh", "-c",
		fmt.Sprintf("export DOTNET_GCgen0size=0x40000; %s web 2 & %s web 2; wait; exit 7", first, second))
	if code != 7 || !strings.Contains(talk, "exit code 7") {
		t.Errorf("exit code %d: %s", code, talk)
	}
	for _, program := range []string{first, second} {
		found, _ := filepath.Glob(dir + filepath.Base(program) + "_*.nettrace")
		if len(found) != 1 {
			t.Fatalf("files %q: %s", found, talk)
		}
		wholeFile(t, found[0])
		if rows := gcsRows(patient(t), t, found[0]); len(rows) == 0 || rows[0].Number != 1 {
			t.Errorf("the first of %d collections is not number 1", len(rows))
		}
	}
}

// ofProcess matches messages about a process that does not end as it should.
var ofProcess = regexp.MustCompile(`\bthe process\b`)

// TestLaunchOver: a command whose trace is long enough is ended, which is not a
// failure.
func TestLaunchOver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.ArtifactDir(), "web.nettrace")
	code, _, talk := gctrail(patient(t), "collect", "--duration", "1s", "-o", path, "--", dotnettest.Install(t, 9), "web", "600")
	if code != exitDone || ofProcess.MatchString(talk) {
		t.Errorf("exit code %d: %s", code, talk)
	}
	dotnettest.MustEndFile(t, path)
}

// TestLaunchInterrupted: a signal ends the trace, and then what the shell has
// started.
func TestLaunchInterrupted(t *testing.T) {
	t.Parallel()
	ctx := patient(t)
	pidFile := filepath.Join(t.TempDir(), "pid")
	script := fmt.Sprintf("%s web 600 & echo $! > %s; wait", dotnettest.Install(t, 10), pidFile)
	c := newCollecting(ctx, t, "--", "sh", "-c", script).start()
	dotnettest.Until(ctx, t, "the trace has a collection", func() bool {
		rows, err := readRows(ctx, c.path)
		return err == nil && len(rows) > 0
	})
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.ends(143, "Total pause")
	if ofProcess.MatchString(c.talk.String()) {
		t.Error(c.talk.String())
	}
	wholeFile(t, c.path)
	b, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	if alive(strings.TrimSpace(string(b))) {
		t.Error("the program goes on")
	}
}

// alive reports whether a process runs and is not only waited for.
func alive(pid string) bool {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(b), ") Z ")
}

// TestPort: requested programs that dial a port are traced, as many as there is room for;
// the others continue.
func TestPort(t *testing.T) {
	t.Parallel()
	ctx := patient(t)
	port := portFor(t)
	variable := "DOTNET_DiagnosticPorts" + "=" + port
	file := dotnettest.Install(t, 9)
	c := newCollecting(ctx, t, "--dport", port+",listen", "-n", filepath.Base(file))
	var talk loggedLines
	c.Stderr = &talk
	c.start()
	said := func(text string) {
		t.Helper()
		if !talk.says(ctx, text) {
			t.Fatalf("%q is not said: %q", text, talk.all())
		}
	}
	said("waiting for .NET programs started with " + variable)
	other := dotnettest.Start(t, 8, "web", 1, variable)
	said(fmt.Sprintf("%s %d runs untraced: its name does not match -n", other.Name, other.PID))
	wanted := dotnettest.StartFile(t, file, "web", 600, variable)
	collected(ctx, t, c.path, wanted, 1)
	if info, err := os.Stat(port); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("the port: %v, %v", info, err)
	}
	again := wanted.Restart("web", 1, variable)
	said(fmt.Sprintf("%s %d runs untraced: -o is a single file", again.Name, again.PID))
	other.Totals()
	again.Totals()
	wanted.Terminate()
	c.ends(exitDone)
	wholeFile(t, c.path)
	if _, err := os.Lstat(port); err == nil {
		t.Error("the port was not removed")
	}
}

// TestPortInterrupted: a port at which nobody has dialled ends with Ctrl-C.
func TestPortInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(patient(t))
	port := portFor(t)
	go func() {
		defer interrupt()
		dotnettest.Poll(ctx, func() bool {
			_, err := os.Lstat(port)
			return err == nil
		})
	}()
	gctrail(ctx, "collect", "--diagnostic-port", port)
	if ctx.Err() == nil {
		t.Error("it ended by itself")
	}
	if _, err := os.Lstat(port); err == nil {
		t.Error("the port was not removed")
	}
}

// TestSeveral: each process has its file, and one that is killed does not end the
// others.
func TestSeveral(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(patient(t))
	defer interrupt()
	one, two := dotnettest.Start(t, 8, "web", 600), dotnettest.Start(t, 10, "web", 600)
	reached(ctx, t, one)
	reached(ctx, t, two)
	dir := t.ArtifactDir()
	path := func(p *dotnettest.Program) string { return filepath.Join(dir, fmt.Sprint(p.PID, ".nettrace")) }
	go func() {
		defer interrupt()
		collected(ctx, t, path(one), one, 1)
		collected(ctx, t, path(two), two, 1)
		before := len(seenIn(ctx, path(two), two))
		one.Process.Kill()
		collected(ctx, t, path(two), two, before+1)
	}()
	code, _, talk := gctrail(ctx, "collect", "-p", fmt.Sprintf("%d,%d", one.PID, two.PID), "-o", filepath.Join(dir, "{pid}.nettrace"))
	if code != 0 || strings.Count(talk, "Total pause") != 2 || strings.Count(talk, "exited without ending the trace") != 1 {
		t.Errorf("exit code %d: %s", code, talk)
	}
	wholeFile(t, path(one))
	wholeFile(t, path(two))
}
