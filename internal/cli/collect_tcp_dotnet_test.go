//go:build linux

package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/text"
)

// behindRelay starts a program, and returns the diagnostic port at which a relay passes
// connections to it, as adb forward does.
func behindRelay(ctx context.Context, t *testing.T, version int) (program *dotnettest.Program, port string) {
	t.Helper()
	program = dotnettest.Start(t, version, "web", 600, dotnettest.Often)
	reached(ctx, t, program)
	p, err := diag.Find(ctx, program.PID)
	if err != nil {
		t.Fatal(err)
	}
	return program, dotnettest.Relay(t, "tcp", "127.0.0.1:0", "unix", p.Address) + ",connect"
}

// TestConnectOverTCP collects from a runtime behind a relay, and takes a snapshot there. The
// runtime's PID is not mistaken for that of a process of this machine.
func TestConnectOverTCP(t *testing.T) {
	t.Parallel()
	for _, version := range dotnettest.Due(t) {
		ctx := patient(t)
		program, port := behindRelay(ctx, t, version)
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
	t.Parallel()
	for _, version := range dotnettest.Due(t) {
		ctx := patient(t)
		address, socket := dotnettest.OwnAddress(t), portFor(t)
		dotnettest.Relay(t, "unix", socket, "tcp", address)
		program := dotnettest.Start(t, version, "web", 600, dotnettest.Often, "DOTNET_DiagnosticPorts="+socket+",suspend,connect")
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
	t.Parallel()
	ctx, interrupt := context.WithCancel(patient(t))
	defer interrupt()
	program, port := behindRelay(ctx, t, 10)
	var out, talk loggedLines
	cmd := newRootCmd(&stdio{out: &out, err: text.NewPrinter(&talk)})
	cmd.SetArgs([]string{"top", "--plain", "--diagnostic-port", port})
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx) }()
	dotnettest.Until(ctx, t, "a collection is a line", func() bool {
		select {
		case err := <-done:
			t.Fatalf("it ended: %v; %q", err, talk.all())
		default:
		}
		return strings.Contains(strings.Join(out.all(), "\n"), program.Name)
	})
	interrupt()
	if err := <-done; err != nil {
		t.Errorf("%v; %q", err, talk.all())
	}
}
