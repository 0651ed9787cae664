package agent

import (
	"errors"
	"net"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/watch"
)

// TestServedPort: programs that connect to a port of the agent are followed, beside peers that
// say nothing, or something else, or do not answer.
func TestServedPort(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the programs are for Linux")
	}
	path := filepath.Join(t.TempDir(), "port")
	variable, err := diag.PortVariable(path, false)
	if err != nil {
		t.Fatal(err)
	}
	a := runPorts(t, path)
	for _, say := range [][]byte{nil, dotnettest.Nonsense(0, 5, 1<<20), append([]byte("ADVR_V1\x00"), make([]byte, 26)...)} {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go func() { _, _ = c.Write(say) }()
	}
	first, second := dotnettest.Start(t, 10, "web", 600, variable), dotnettest.Start(t, 8, "web", 600, variable)
	port := `diagnostic_port="` + path + `"`
	a.counted(t, port, labelled("pid", first.PID))
	a.counted(t, port, labelled("pid", second.PID))
	first.Terminate()
	ended := a.await(t, "the first ended", func(n *watch.News) bool { return n.Ended })
	if ended.InnerPID != first.PID || ended.PID != 0 {
		t.Errorf("%+v ended, want process %d inside", ended, first.PID)
	}
	a.await(t, "the impostor does not answer", func(n *watch.News) bool { return n.Process.Name == "" && errors.Is(n.Err, diag.ErrNoAnswer) })
}

// TestServedTCP: a program that connects to a port of the agent over TCP, through a relay as
// with adb reverse, is followed and profiled, also after its connections broke off.
func TestServedTCP(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the programs are for Linux")
	}
	for _, version := range dotnettest.Due(t) {
		address, socket := dotnettest.OwnAddress(t), filepath.Join(t.TempDir(), "port")
		a := runProfiling(t, address)
		_, cut := dotnettest.NewRelay(t, "unix", socket, "tcp", address)
		variable, err := diag.PortVariable(socket, false)
		if err != nil {
			t.Fatal(err)
		}
		program := dotnettest.Start(t, version, "web", 600, variable)
		pid, port := labelled("pid", program.PID), `diagnostic_port="`+address+`"`
		a.counted(t, port, pid)
		a.sampled(t, pid)
		cut()
		a.await(t, "the connection broke off", func(n *watch.News) bool { return n.Ended && errors.Is(n.Err, errDisconnected) })
		a.profiles(t, pid)
		again := a.await(t, "it is followed again", func(n *watch.News) bool { return n.Attached && n.ID > 1 })
		if again.InnerPID != program.PID || again.PID != 0 {
			t.Errorf("%+v, want process %d inside", again, program.PID)
		}
		a.sampled(t, pid)
		program.Terminate()
		a.profiles(t, pid)
	}
}

// profiles waits for a profile of a process.
func (a *profilingAgent) profiles(t *testing.T, pid string) {
	t.Helper()
	for {
		got := a.next(t)
		if pid != `pid="`+got.pid+`"` {
			t.Errorf("a profile of process %s, want %s", got.pid, pid)
		}
		if got.bytes > 0 {
			return
		}
	}
}
