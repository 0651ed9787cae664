package dotnettest

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Stop stops the program with SIGSTOP, and waits until it has stopped, because a thread
// obeys the signal at any later time.
func (p *Program) Stop() {
	p.t.Helper()
	if err := p.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		p.t.Fatal(err)
	}
	Until(p.t.Context(), p.t, fmt.Sprintf("process %d stops", p.PID), func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
		if err != nil {
			p.t.Fatal(err)
		}
		_, state, _ := strings.Cut(string(stat), ") ")
		return strings.HasPrefix(state, "T ")
	})
}
