package agent

import (
	"os/exec"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestEnding ends programs by a signal, and asks before and after their parent has noticed.
func TestEnding(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Skip("a program that waits: ", err)
		}
		early, late := watchEnding(cmd.Process.Pid), watchEnding(cmd.Process.Pid)
		if _, now := early.zombie(); now != running {
			t.Error("it runs, and has ended")
		}
		if _, now := early.reaped(); now != running && early.fd >= 0 {
			t.Error("it runs, and its end was noticed")
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		for now := running; now != ended; { // until it is a zombie
			_, now = early.zombie()
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

// TestEndingOfGone queries a process that is gone: the answer is unknown, and immediate.
func TestEndingOfGone(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Skip("a program that ends: ", err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if got := watchEnding(cmd.Process.Pid).signal(); got != 0 || !time.Now().Equal(began) {
			t.Errorf("signal %d after %v", got, time.Since(began))
		}
	})
}
