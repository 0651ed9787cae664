//go:build !windows

package trial

import (
	"os/exec"
	"syscall"
)

// endGroup makes the end of a command's context end all that it has started.
func endGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
