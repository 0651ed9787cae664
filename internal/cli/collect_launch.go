package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gctrail/gctrail/diag"
)

const (
	// dialTime is when it is said that a command has not dialled: a runtime does
	// so in its first tenths of a second.
	dialTime = 10 * time.Second
	// A command that is asked to end is asked again, and then killed.
	askAgainAfter = 10 * time.Second
	killAfter     = 30 * time.Second
	// lastTraces is how long traces may take to end by themselves when the command
	// has ended: what goes on behind it is not collected from.
	lastTraces = 2 * time.Second
)

// A child is a command that was started.
type child struct {
	*exec.Cmd
	name  string
	ended chan struct{}
	asked bool // to end, because the traces were long enough
}

// launch starts a command, collects from the .NET processes that it becomes or
// starts, until it ends, and hands on its exit code.
func (g *gathering) launch(ctx context.Context, args []string, showIO bool) error {
	path, remove, err := privatePort()
	if err != nil {
		return err
	}
	defer remove()
	p, err := g.serve(ctx, path)
	if err != nil {
		return err
	}
	c, err := startChild(args, path, showIO)
	if err != nil {
		p.close()
		return err
	}
	g.waiting = "waiting for " + c.name
	if !showIO {
		g.line = g.std.show(g.status)
	}
	g.attend(ctx, c)
	g.waitAtMost(lastTraces)
	p.close()
	g.line.stop()
	return g.result(c, showIO)
}

// startChild starts a command whose runtimes dial a port and wait there. Its
// input is gctrail's own.
func startChild(args []string, port string, showIO bool) (*child, error) {
	variable, err := diag.PortVariable(port, true)
	if err != nil {
		return nil, err
	}
	if others := os.Getenv(portVariable); others != "" {
		variable += ";" + others
	}
	c := &child{Cmd: exec.Command(args[0], args[1:]...), name: filepath.Base(args[0]), ended: make(chan struct{})}
	c.Env = append(os.Environ(), variable)
	c.Stdin = os.Stdin
	if showIO {
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
	}
	if err := c.Start(); err != nil {
		return nil, &commandError{args[0], err}
	}
	go func() {
		defer close(c.ended)
		_ = c.Wait() // ProcessState tells it
	}()
	return c, nil
}

// portVariable is the environment variable that names a runtime's ports.
const portVariable = "DOTNET_DiagnosticPorts"

// attend waits until the command has ended. It is asked to when ctx is done, or
// when its traces were long enough.
func (g *gathering) attend(ctx context.Context, c *child) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	silence := time.NewTimer(dialTime)
	defer silence.Stop()
	for {
		select {
		case <-c.ended:
			return
		case <-ctx.Done():
			sig := received(signals)
			signal.Stop(signals) // the next one ends gctrail
			if sig == os.Interrupt && fromTerminal() {
				sig = nil // the command has got it too
			}
			c.end(sig)
			return
		case <-g.idle:
			if g.done() && g.over > 0 {
				c.asked = true
				c.end(syscall.SIGTERM)
				return
			}
		case <-silence.C:
			if !g.tried() {
				g.say(fmt.Sprintf("%s has not asked to be traced in %v: %s", c.name, dialTime, noDotnet))
			}
		}
	}
}

const noDotnet = "it is no program of .NET 5 or later, or DOTNET_EnableDiagnostics=0 is set"

// received is the signal that ended the context that Main made.
func received(signals <-chan os.Signal) os.Signal {
	select {
	case sig := <-signals:
		return sig
	case <-time.After(100 * time.Millisecond):
		return syscall.SIGTERM
	}
}

// end has the command end, by a signal if there is one, and waits until it has.
func (c *child) end(sig os.Signal) {
	again, kill := time.After(askAgainAfter), time.After(killAfter)
	if sig != nil {
		c.signal(sig)
	}
	for {
		select {
		case <-c.ended:
			return
		case <-again:
			c.signal(syscall.SIGTERM)
		case <-kill:
			_ = c.Process.Kill()
		}
	}
}

// waitAtMost waits until everything is done, or for some time.
func (g *gathering) waitAtMost(d time.Duration) {
	limit := time.After(d)
	for !g.done() && g.tried() {
		select {
		case <-g.idle:
		case <-limit:
			return
		}
	}
}

// result is what came of the command and of the traces.
func (g *gathering) result(c *child, showIO bool) error {
	if code := c.exitCode(); code != 0 && !c.asked {
		hint := ""
		if !showIO {
			hint = "; --show-child-io shows what it writes"
		}
		return &childError{c.name, code, hint}
	}
	if !g.tried() {
		return &commandError{c.name, errors.New("it has ended without asking to be traced: " + noDotnet)}
	}
	return g.worst()
}
