package dotnettest

import (
	"bufio"
	"embed"
	"io"
	"os"
	"os/exec"
	"testing"
)

// The compiled leaks/leaks.cs.
//
//go:embed leaks/leaks.dll leaks/leaks.runtimeconfig.json
var leaks embed.FS

// Leaks is a program under .NET 10 whose heap grows by steps.
type Leaks struct {
	PID int

	t     testing.TB
	stdin io.Writer
	lines *bufio.Scanner
}

// StartLeaks starts the program in one of the modes of leaks/leaks.cs. It ends with the test.
func StartLeaks(t testing.TB, mode string) *Leaks {
	t.Helper()
	command := hosted(t, leaks, "leaks")
	cmd := exec.Command(command[0], command[1], mode)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // which ends it
		_ = cmd.Wait()
		RemoveSockets(cmd.Process.Pid)
	})
	p := &Leaks{cmd.Process.Pid, t, stdin, bufio.NewScanner(stdout)}
	p.await("ready")
	return p
}

// Grow has the program grow by a step, and waits until it has.
func (p *Leaks) Grow() {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, "\n"); err != nil {
		p.t.Fatal(err)
	}
	p.await("done")
}

func (p *Leaks) await(line string) {
	p.t.Helper()
	if !p.lines.Scan() || p.lines.Text() != line {
		p.t.Fatalf("the program wrote %q, %v", p.lines.Text(), p.lines.Err())
	}
}
