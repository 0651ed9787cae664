package dotnettest

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Stop stops the program with SIGSTOP, and waits until it has stopped, because a thread
// obeys the signal at any later time.
func (p *Program) Stop() {
	p.t.Helper()
	if err := p.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		p.t.Fatal(err)
	}
	for deadline := time.Now().Add(Patience); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
		if err != nil {
			p.t.Fatal(err)
		}
		if _, state, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(state, "T ") {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("process %d does not stop", p.PID)
		}
	}
}
