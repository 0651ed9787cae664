package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/gctrail/gctrail/diag"
)

const (
	// dialTime is when it is said that a command has not dialled: a runtime does
	// so in its first tenths of a second.
	dialTime = 10 * time.Second
	// A command that is asked to end is asked again, and then killed.
	askAgainAfter = 10 * time.Second
	killAfter     = 30 * time.Second
	// signalTime is more than it takes until all who asked for a signal have it.
	signalTime = time.Second
	// lastTraces is how long traces may take to end by themselves when the command
	// has ended: what goes on behind it is not collected from.
	lastTraces = 2 * time.Second
)

// A child is a command that was started.
type child struct {
	*exec.Cmd
	name     string
	terminal bool // it shares gctrail's, and what is typed there
	ended    chan struct{}
	asked    bool // to end, because the traces were long enough
}

// launch starts a command, collects from the .NET processes that it becomes or
// starts, until it ends, and hands on its exit code.
func (g *gathering) launch(ctx context.Context, args []string, showIO bool) error {
	path, remove, err := privatePort()
	if err != nil {
		return &commandError{args[0], err}
	}
	defer remove()
	g.waiting = "waiting for " + filepath.Base(args[0])
	if !showIO {
		g.line = g.std.show(g.status)
		defer g.line.stop()
	}
	p, err := g.serve(ctx, path)
	if err != nil {
		return err
	}
	c, err := startChild(args, path, showIO)
	if err != nil {
		p.close()
		return err
	}
	g.attend(ctx, c, p)
	p.linger(c.name, path)
	g.waitAtMost(lastTraces)
	p.close()
	return g.result(c, showIO)
}

// startChild starts a command whose runtimes dial a port and wait there.
//
// What is typed at a terminal is for gctrail, which ends the traces before it
// ends the command. Only where the command's output is shown there, both have
// the terminal.
func startChild(args []string, port string, showIO bool) (*child, error) {
	variable, err := diag.PortVariable(port, true)
	if err != nil {
		return nil, &commandError{args[0], err}
	}
	if others := os.Getenv(portVariable); others != "" {
		variable += ";" + others
	}
	c := &child{Cmd: exec.Command(args[0], args[1:]...), name: filepath.Base(args[0]), ended: make(chan struct{})}
	c.Env = append(os.Environ(), variable)
	if showIO {
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		c.terminal = inForeground()
	}
	if showIO || !term.IsTerminal(int(os.Stdin.Fd())) {
		c.Stdin = os.Stdin
	} else if _, err := c.StdinPipe(); err != nil { // nothing comes, not even an end, at which some programs end
		return nil, &commandError{args[0], err}
	}
	c.setGroup()
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

// attend waits until the command has ended. It is asked to when gctrail is, or
// when its traces were long enough; the traces end first.
func (g *gathering) attend(ctx context.Context, c *child, p *servedPort) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	silence := time.NewTimer(dialTime)
	defer silence.Stop()
	for {
		select {
		case <-c.ended:
			return
		case sig := <-signals:
			c.end(p.cutShort(c, sig), signals)
			return
		case <-ctx.Done():
			c.end(p.cutShort(c, received(signals)), signals)
			return
		case <-g.idle:
			if g.done() && g.over > 0 {
				c.asked = true
				c.end(syscall.SIGTERM, signals)
				return
			}
		case <-silence.C:
			if !g.tried() {
				g.say(fmt.Sprintf("%s has not asked to be traced in %v: %s", c.name, dialTime, noDotnet))
			}
		}
	}
}

// received is the signal that ended the context that Main made.
func received(signals <-chan os.Signal) os.Signal {
	select {
	case sig := <-signals:
		return sig
	case <-time.After(signalTime):
		return syscall.SIGTERM
	}
}

// cutShort ends the traces, and returns what the command is still to be told of
// a signal: a terminal tells it both.
func (p *servedPort) cutShort(c *child, sig os.Signal) os.Signal {
	p.cancel()
	p.g.waitAtMost(lastTraces)
	if c.terminal && sig == os.Interrupt {
		return nil
	}
	return sig
}

// end has the command end, by a signal if there is one, and waits until it has.
// It is killed after a while, or at the next signal.
func (c *child) end(sig os.Signal, signals <-chan os.Signal) {
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
			c.signal(os.Kill)
		case <-signals:
			c.signal(os.Kill)
		}
	}
}

// linger waits for processes that the command has left behind and that may be
// about to dial: nobody would let them go on.
func (p *servedPort) linger(name, path string) {
	limit := time.After(lastTraces)
	for {
		left := p.g.strangers(heirs(path))
		if len(left) == 0 {
			return
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-limit:
			p.g.say(fmt.Sprintf("%s has left processes behind (%s): a .NET program that they start now waits for a port that is gone; "+
				"kill it, or start them without "+portVariable, name, strings.Join(left, ", ")))
			return
		}
	}
}

// strangers are the ids of those processes that have not dialled.
func (g *gathering) strangers(pids []int) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var left []string
	for _, pid := range pids {
		if !g.dialled[uint64(pid)] {
			left = append(left, strconv.Itoa(pid))
		}
	}
	return left
}

const noDotnet = "it is no program of .NET 5 or later, or DOTNET_EnableDiagnostics=0 is set"

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
	switch {
	case g.tried():
		return g.worst()
	case len(g.dialled) > 0:
		return &commandError{c.name, errors.New("it has ended, and none of its .NET processes was to be traced")}
	default:
		return &commandError{c.name, errors.New("it has ended without asking to be traced: " + noDotnet)}
	}
}
