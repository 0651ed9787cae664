//go:build unix

package lttng

import (
	"os/exec"
	"syscall"
)

// detach keeps a terminal's Ctrl-C from a command.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
