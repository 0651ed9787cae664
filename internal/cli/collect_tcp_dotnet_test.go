//go:build linux

package cli

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/diagtest"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// freeTCPPort returns an address of the loopback at which nobody listens.
func freeTCPPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestConnectOverTCP collects from a runtime behind a relay, as behind adb forward, and takes
// a snapshot there. Its PID is not taken for one of this machine.
func TestConnectOverTCP(t *testing.T) {
	for _, version := range dotnettest.Versions {
		ctx := patient(t)
		program := dotnettest.Start(t, version, "web", 600)
		reached(ctx, t, program)
		p, err := diag.Find(ctx, program.PID)
		if err != nil {
			t.Fatal(err)
		}
		port := diagtest.Relay(t, "tcp", "127.0.0.1:0", "unix", p.Address) + ",connect"
		c := newCollecting(ctx, t, "--diagnostic-port", port).start()
		collected(ctx, t, c.path, program, 2)
		snapshot := filepath.Join(t.TempDir(), "heap.nettrace")
		if code, _, said := gctrail(ctx, "dump", "--diagnostic-port", port, "-o", snapshot); code != exitDone {
			t.Errorf("exit code %d: %s", code, said)
		}
		if all, _, err := readSnapshots(snapshot); err != nil || len(all) == 0 || all[0].Objects < 100 {
			t.Errorf("%d snapshots, %v", len(all), err)
		}
		program.Terminate()
		c.ends(exitDone, "collecting from "+program.Name+" (")
		c.whole(ctx, program)
	}
}

// TestListenOverTCP collects from runtimes that connect through a relay, as through adb
// reverse, from before their first line.
func TestListenOverTCP(t *testing.T) {
	for _, version := range dotnettest.Versions {
		ctx := patient(t)
		address, socket := freeTCPPort(t), portFor(t)
		diagtest.Relay(t, "unix", socket, "tcp", address)
		program := dotnettest.Start(t, version, "web", 600, "DOTNET_DiagnosticPorts="+socket+",suspend,connect")
		c := newCollecting(ctx, t, "--diagnostic-port", address).start()
		collected(ctx, t, c.path, program, 2)
		program.Terminate()
		c.ends(exitDone, "waiting at "+address)
		c.whole(ctx, program)
		if rows := gcsRows(ctx, t, c.path); len(rows) == 0 || rows[0].Number != 1 {
			t.Errorf(".NET %d: the first collection is missing", version)
		}
	}
}

// TestTopOverTCP watches a runtime behind a relay.
func TestTopOverTCP(t *testing.T) {
	ctx := patient(t)
	program := dotnettest.Start(t, 10, "web", 600)
	reached(ctx, t, program)
	p, err := diag.Find(ctx, program.PID)
	if err != nil {
		t.Fatal(err)
	}
	port := diagtest.Relay(t, "tcp", "127.0.0.1:0", "unix", p.Address) + ",connect"
	code, out, said := gctrail(ctx, "top", "--plain", "--duration", "4s", "--diagnostic-port", port)
	if code != exitDone || !strings.Contains(out, program.Name) {
		t.Errorf("exit code %d, %s; %s", code, out, said)
	}
}
