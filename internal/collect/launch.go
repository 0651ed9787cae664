package collect

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/gctrail/gctrail/diag"
)

const (
	// dialTime is how long a command may run before a notice says that it has not
	// dialled. A runtime dials in its first tenths of a second.
	dialTime = 10 * time.Second
	// A command that is asked to end is asked again, and then killed.
	askAgainAfter = 10 * time.Second
	killAfter     = 30 * time.Second
	// signalTime is longer than a signal takes to reach all of its receivers.
	signalTime = time.Second
	// lastTraces is how long traces may take to end after the command has ended. After
	// that, tracing ends for the processes that it left behind.
	lastTraces = 2 * time.Second
)

// A child is a command that was started.
type child struct {
	*exec.Cmd
	name     string
	terminal bool // it shares gctrail's, and its input
	ended    chan struct{}
	asked    bool // to end, because the traces were long enough
}

// A Command is a command to start.
type Command struct {
	Args     []string
	Show     bool // its output
	Terminal bool // standard input is one

	// Out and Err, if not nil, receive the command's standard output and error, also if these
	// are not shown.
	Out, Err io.Writer

	// Env are further variables of its environment.
	Env []string
	// Alone keeps the command away from gctrail's terminal and input, and kills what it
	// leaves behind.
	Alone bool
	// Started, if not nil, is called with the id of its process.
	Started func(pid int)
	// Stop, when closed, ends the traces and asks the command to end.
	Stop <-chan struct{}
	// State and Ended are set when the command has ended.
	State *os.ProcessState
	Ended time.Time
}

// Launch starts a command and collects from the .NET processes that it becomes or starts,
// until it ends. It returns the exit code as an error.
func (s *Supervisor) Launch(ctx context.Context, cmd *Command) error {
	path, remove, err := privatePort()
	if err != nil {
		return &CommandError{cmd.Args[0], err}
	}
	defer remove()
	p, err := s.serve(ctx, path)
	if err != nil {
		return err
	}
	c, err := startChild(cmd, path)
	if err != nil {
		p.close()
		return err
	}
	if cmd.Started != nil {
		cmd.Started(c.Process.Pid)
	}
	s.attend(ctx, c, p, cmd.Stop)
	cmd.State, cmd.Ended = c.ProcessState, time.Now()
	if cmd.Alone {
		c.killGroup()
	}
	p.linger(c.name, path)
	s.waitAtMost(lastTraces)
	p.close()
	return s.result(c, cmd.Show)
}

// startChild starts a command whose runtimes dial a port and wait there.
//
// Input from a terminal goes to gctrail, so that Ctrl-C ends the traces before the
// command. Both have the terminal only if the command's output is shown there.
func startChild(cmd *Command, port string) (*child, error) {
	variable, err := diag.PortVariable(port, true)
	if err != nil {
		return nil, &CommandError{cmd.Args[0], err}
	}
	if others := os.Getenv(portVariable); others != "" {
		variable += ";" + others
	}
	c := &child{Cmd: exec.Command(cmd.Args[0], cmd.Args[1:]...), name: filepath.Base(cmd.Args[0]), ended: make(chan struct{})}
	c.Env = append(append(os.Environ(), cmd.Env...), variable)
	c.WaitDelay = pipeDelay
	if cmd.Show {
		c.Stdout, c.Stderr = tee(os.Stdout, cmd.Out), tee(os.Stderr, cmd.Err)
		c.terminal = !cmd.Alone && inForeground()
	} else {
		c.Stdout, c.Stderr = cmd.Out, cmd.Err
	}
	if !cmd.Alone && (cmd.Show || !cmd.Terminal) {
		c.Stdin = os.Stdin
	} else if _, err := c.StdinPipe(); err != nil { // nothing comes, not even an end, at which some programs end
		return nil, &CommandError{cmd.Args[0], err}
	}
	c.setGroup()
	if err := c.Start(); err != nil {
		return nil, &CommandError{cmd.Args[0], err}
	}
	go func() {
		defer close(c.ended)
		_ = c.Wait() // the result is in ProcessState
	}()
	return c, nil
}

// pipeDelay is how long processes left behind by a command may hold its output open.
const pipeDelay = 2 * time.Second

// tee returns the file itself if also is nil, so that the command can detect a terminal.
func tee(file *os.File, also io.Writer) io.Writer {
	if also == nil {
		return file
	}
	return io.MultiWriter(file, also)
}

// portVariable is the environment variable that names a runtime's ports.
const portVariable = "DOTNET_DiagnosticPorts"

// attend waits until the command has ended. It asks the command to end when gctrail is
// interrupted, the duration is over or stop is closed, after the traces have ended.
func (s *Supervisor) attend(ctx context.Context, c *child, p *servedPort, stop <-chan struct{}) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	silence := time.NewTimer(dialTime)
	defer silence.Stop()
	for {
		var sig os.Signal
		select {
		case <-c.ended:
			return
		case sig = <-signals:
		case <-ctx.Done():
			sig = received(signals)
		case <-stop:
			sig = syscall.SIGTERM
		case <-s.idle:
			if s.done() && s.over > 0 {
				c.asked = true
				c.end(syscall.SIGTERM, signals)
				return
			}
			continue
		case <-silence.C:
			if !s.tried() {
				s.opts.Notify(NotAsked{c.name, dialTime})
			}
			continue
		}
		c.end(p.cutShort(c, sig), signals)
		return
	}
}

// received returns the signal that ended the context that Main made.
func received(signals <-chan os.Signal) os.Signal {
	select {
	case sig := <-signals:
		return sig
	case <-time.After(signalTime):
		return syscall.SIGTERM
	}
}

// cutShort ends the traces, and returns the signal to pass on to the command: none if the
// terminal sent it to both.
func (p *servedPort) cutShort(c *child, sig os.Signal) os.Signal {
	p.cancel()
	p.s.waitAtMost(lastTraces)
	if c.terminal && sig == os.Interrupt {
		return nil
	}
	return sig
}

// end asks the command to end, by the signal if there is one, and waits for it. After
// some time, or at the next signal, it kills the command.
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

// linger waits for processes that the command left behind and that may be about to
// dial, because nothing else would let them continue.
func (p *servedPort) linger(name, path string) {
	limit := time.After(lastTraces)
	for {
		left := p.s.undialled(children(path))
		if len(left) == 0 {
			return
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-limit:
			p.s.opts.Notify(Orphaned{name, left, portVariable})
			return
		}
	}
}

// undialled returns the ids of the processes that have not dialled.
func (s *Supervisor) undialled(pids []int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []string
	for _, pid := range pids {
		if !s.dialled[uint64(pid)] {
			left = append(left, strconv.Itoa(pid))
		}
	}
	return left
}

// waitAtMost waits until all traces have ended, but no longer than d.
func (s *Supervisor) waitAtMost(d time.Duration) {
	limit := time.After(d)
	for !s.done() && s.tried() {
		select {
		case <-s.idle:
		case <-limit:
			return
		}
	}
}

// result returns the outcome of the command and of the traces.
func (s *Supervisor) result(c *child, showIO bool) error {
	if code := c.exitCode(); code != 0 && !c.asked {
		return &ChildError{c.name, code, !showIO}
	}
	switch {
	case s.tried():
		return nil
	case len(s.dialled) > 0:
		return &CommandError{c.name, ErrUntraced}
	default:
		return &CommandError{c.name, ErrNotDotnet}
	}
}
