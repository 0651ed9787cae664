package cli

import (
	"fmt"
	"os"
	"time"
)

// privatePort is the name of a pipe that is this process's own.
func privatePort() (name string, remove func(), err error) {
	return fmt.Sprintf("gctrail-%d-%d", os.Getpid(), time.Now().UnixNano()), func() {}, nil
}

// fromTerminal says whether a Ctrl-C reached the processes that were started
// too: a console sends it to all of its own.
func fromTerminal() bool { return true }

// signal ends the process: Windows has no gentler way.
func (c *child) signal(os.Signal) { _ = c.Process.Kill() }

func (c *child) exitCode() int { return c.ProcessState.ExitCode() }
