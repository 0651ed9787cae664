//go:build !windows

package collect

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// longestTemp is how long the path of a folder may be, because a socket in it needs room
// for its name.
const longestTemp = 60

// privatePort returns a path for a port that only this user can reach.
func privatePort() (path string, remove func(), err error) {
	temp := os.TempDir()
	if len(temp) > longestTemp || strings.ContainsAny(temp, ",;") {
		temp = "/tmp"
	}
	folder, err := newPortFolder(temp)
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(folder.path, portSocket), folder.remove, nil
}

// inForeground reports whether gctrail has a terminal and receives its input.
func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// setGroup gives a command that does not share the terminal a process group of its own,
// so that signals can be sent to the whole group.
func (c *child) setGroup() { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: !c.terminal} }

func (c *child) signal(sig os.Signal) {
	if s, ok := sig.(syscall.Signal); ok && !c.terminal {
		_ = syscall.Kill(-c.Process.Pid, s)
		return
	}
	_ = c.Process.Signal(sig)
}

// killGroup kills the processes that a command with a process group of its own left behind.
func (c *child) killGroup() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// exitCode returns the exit code that a shell would report.
func (c *child) exitCode() int {
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return c.ProcessState.ExitCode()
}
