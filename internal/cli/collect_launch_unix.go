//go:build !windows

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// longestTemp is how long the path of a folder can be for a socket in it.
const longestTemp = 60

// privatePort is a path for a port that only this user reaches.
func privatePort() (path string, remove func(), err error) {
	temp := os.TempDir()
	if len(temp) > longestTemp || strings.ContainsAny(temp, ",;") {
		temp = "/tmp"
	}
	dir, err := os.MkdirTemp(temp, "gctrail-")
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(dir, "port"), func() { _ = os.RemoveAll(dir) }, nil
}

// fromTerminal says whether a SIGINT of this process came from its terminal,
// which sends it to the processes that it has started too.
func fromTerminal() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	foreground, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}

func (c *child) signal(sig os.Signal) { _ = c.Process.Signal(sig) }

// exitCode is the one that a shell would report.
func (c *child) exitCode() int {
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return c.ProcessState.ExitCode()
}
