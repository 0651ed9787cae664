package agent

import (
	"errors"
	"net"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/diagtest"
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
	for _, say := range [][]byte{nil, diagtest.Nonsense(0, 5, 1<<20), append([]byte("ADVR_V1\x00"), make([]byte, 26)...)} {
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
