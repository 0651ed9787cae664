package agent

import (
	"os/exec"
	"syscall"
	"testing"
)

// TestEnding ends programs by a signal, and asks before and after their parent has noticed.
func TestEnding(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Skip("a program that waits: ", err)
		}
		early, late := watchEnding(cmd.Process.Pid), watchEnding(cmd.Process.Pid)
		if _, ended := early.zombie(); ended {
			t.Error("it runs, and has ended")
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		for ended := false; !ended; { // until it is a zombie
			_, ended = early.zombie()
		}
		if got := early.signal(); got != int(signal) {
			t.Errorf("before it is noticed: signal %d, want %d", got, signal)
		}
		_ = cmd.Wait()
		if got := late.signal(); got != int(signal) && got != 0 { // unknown before Linux 6.15
			t.Errorf("afterwards: signal %d, want %d", got, signal)
		}
	}
}
