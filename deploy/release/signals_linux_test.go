package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Without a terminal, the launcher alone gets a signal, and passes it on.
func TestSignals(t *testing.T) {
	launcher := install(t, filepath.Join(written(t, self(t)), "npm"))
	node(t, func(t *testing.T, command func(args ...string) *exec.Cmd) {
		cmd := command(launcher, "signals")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		expect(t, lines, "ready ")
		for _, s := range []struct {
			signal syscall.Signal
			want   string
		}{{syscall.SIGINT, "interrupt"}, {syscall.SIGHUP, "hangup"}, {syscall.SIGTERM, "terminated"}} {
			if err := cmd.Process.Signal(s.signal); err != nil {
				t.Fatal(err)
			}
			expect(t, lines, s.want)
		}
		ended(t, cmd.Wait())
	})
}

// A terminal sends Ctrl-C to gctrail, too, which would end at once if the launcher passed on
// a second one. SIGTERM, sent to the launcher alone, comes after what it passed on.
func TestTerminal(t *testing.T) {
	launcher := install(t, filepath.Join(written(t, self(t)), "npm"))
	node(t, func(t *testing.T, command func(args ...string) *exec.Cmd) {
		control, terminal := openTerminal(t)
		cmd := command(launcher, "signals")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		terminal.Close() // reading ends with the last process that has it
		lines := bufio.NewScanner(control)
		expect(t, lines, "ready ")
		if _, err := control.WriteString("\x03"); err != nil {
			t.Fatal(err)
		}
		expect(t, lines, "^Cinterrupt")
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		expect(t, lines, "terminated")
		ended(t, cmd.Wait())
	})
}

// The launcher ends by the signal that ended gctrail.
func TestKilled(t *testing.T) {
	launcher := install(t, filepath.Join(written(t, self(t)), "npm"))
	node(t, func(t *testing.T, command func(args ...string) *exec.Cmd) {
		err := command(launcher, "killed").Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("%v, want SIGKILL", err)
		}
	})
}

// expect reads a line, which must begin with text.
func expect(t *testing.T, lines *bufio.Scanner, text string) {
	t.Helper()
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), text) {
		t.Fatalf("%q, %v; want %q", lines.Text(), lines.Err(), text)
	}
}

func ended(t *testing.T, err error) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("%v, want exit code 7", err)
	}
}

// openTerminal returns both sides of a new pseudoterminal.
func openTerminal(t *testing.T) (control, terminal *os.File) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { control.Close() })
	number, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return control, terminal
}
