package collect

import (
	"fmt"
	"os"
	"time"
)

// privatePort returns the name of a pipe that is this process's own.
func privatePort() (name string, remove func(), err error) {
	return fmt.Sprintf("gctrail-%d-%d", os.Getpid(), time.Now().UnixNano()), func() {}, nil
}

// inForeground returns true, because the console's Ctrl-C reaches the command too.
func inForeground() bool { return true }

func (c *child) setGroup() { c.terminal = true }

// signal ends the process: Windows has no gentler way.
func (c *child) signal(os.Signal) { _ = c.Process.Kill() }

// killGroup does nothing: Windows has no process groups.
func (c *child) killGroup() {}

func (c *child) exitCode() int { return c.ProcessState.ExitCode() }
