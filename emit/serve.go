package emit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/program"
)

// ServeOptions configure the address and the description of the process for clients. The
// zero value fits most programs.
type ServeOptions struct {
	// Environment is used to look up the runtime's variables ("name=value").
	// Clients get it as the environment of the process, with gcServer and
	// gcConcurrent set according to Process.Flags. Nil means os.Environ.
	Environment []string
	// SuspendLimit limits how long Serve waits for clients to resume the
	// process. Zero means until the context ends.
	SuspendLimit time.Duration
	// Folder is the folder of the socket; empty means TMPDIR, or /tmp. It has
	// no effect on Windows.
	Folder string
	// BufferBytes limits the buffers of all clients' sessions together; zero
	// means 256 MiB. A session gets the buffer that its client requests, but at
	// most half of what is left, and at least 1 MiB.
	BufferBytes int
}

// A Server lets diagnostics clients collect the events of a provider.
type Server struct {
	clients *diag.Server // nil if the environment wants none
	file    *Session     // that the environment wants, or nil
}

// Serve lets the diagnostics clients of .NET (gctrail, dotnet-trace,
// dotnet-monitor and others) find this process and collect the events of p, as
// they do with a .NET process, until Close. A process can serve one provider.
//
// Like a runtime, it obeys environment variables with the prefix DOTNET_, or
// formerly COMPlus_: with EnableEventPipe it writes a trace to a file; it
// connects to the DiagnosticPorts; it accepts no clients if EnableDiagnostics
// or EnableDiagnostics_IPC is 0. If a port, or DefaultDiagnosticPortSuspend,
// makes the process wait for a client, Serve returns once all of them have
// resumed it, without an error when SuspendLimit is over, or with ctx's error
// when ctx ends. Otherwise ctx has no effect.
//
// A client's session has a buffer of the requested size, within
// opt.BufferBytes. A client that reads too slowly loses events, which are
// counted; a client that requests blocking makes the program wait.
func Serve(ctx context.Context, p *Provider, opt ServeOptions) (*Server, error) {
	env := environment(opt.Environment)
	if env == nil {
		env = os.Environ()
	}
	s := &Server{}
	var err error
	if env.number("EnableEventPipe", 0) != 0 {
		if s.file, err = p.capture(env); err != nil {
			return nil, err
		}
	}
	if env.number("EnableDiagnostics", 1) == 0 || env.number("EnableDiagnostics_IPC", 1) == 0 {
		return s, nil
	}
	s.clients, err = diag.Serve(diag.ServerOptions{
		Info:        p.process.info(),
		Environment: p.process.environment(env),
		Collect:     (&clients{p: p, free: cmp.Or(opt.BufferBytes, defaultClients)}).collect,
		Ports:       diag.ParsePortVariable(env.value("DiagnosticPorts")),
		Suspended:   env.number("DefaultDiagnosticPortSuspend", 0) != 0,
		Folder:      opt.Folder,
	})
	if err == nil {
		err = resumed(ctx, s.clients, opt.SuspendLimit)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// resumed waits until the clients have resumed the process, or the limit has passed.
func resumed(ctx context.Context, clients *diag.Server, limit time.Duration) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit > 0 {
		limited, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	err := clients.Resumed(limited)
	if limited.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// Address returns the path of the socket, or the name of the pipe, that clients
// connect to; empty if there is none.
func (s *Server) Address() string {
	if s.clients == nil {
		return ""
	}
	return s.clients.Address()
}

// Close ends the sessions of clients and the session that the environment
// requested. Their traces are complete if the clients read them to the end
// within 3 s. Call it when the program ends, before Provider.Close.
func (s *Server) Close() error {
	var errs []error
	if s.clients != nil {
		errs = append(errs, s.clients.Close())
	}
	if s.file != nil {
		errs = append(errs, s.file.Close())
	}
	return errors.Join(errs...)
}

var ridNames = map[string]string{"windows": "win", "darwin": "osx"}

// info returns the description of the process for clients.
func (pr *Process) info() diag.Info {
	return diag.Info{
		PID:            uint64(pr.PID),
		CommandLine:    pr.CommandLine,
		OS:             pr.OS,
		Arch:           pr.Arch,
		EntryAssembly:  program.Name(pr.CommandLine),
		RuntimeVersion: fmt.Sprintf("%d.%d.%d", pr.Runtime[0], pr.Runtime[1], pr.Runtime[2]),
		RID:            cmp.Or(ridNames[runtime.GOOS], runtime.GOOS) + "-" + pr.Arch,
	}
}

// environment returns env with the settings that correspond to the process's flags,
// because clients read the flavour of GC from them.
func (pr *Process) environment(env environment) environment {
	all := slices.Clone(env)
	for _, s := range [...]struct {
		flag clr.StartupFlags
		name string
	}{{clr.StartupFlagsServerGC, "gcServer"}, {clr.StartupFlagsConcurrentGC, "gcConcurrent"}} {
		if pr.Flags&s.flag != 0 && env.value(s.name) == "" {
			all = append(all, "DOTNET_"+s.name+"=1")
		}
	}
	return all
}

const (
	defaultClients = 256 << 20
	// leastBuffer is the buffer of a session when no memory is left.
	leastBuffer = 1 << 20
)

// The clients of a provider share the memory for their sessions.
type clients struct {
	p *Provider

	mu   sync.Mutex
	free int // bytes
}

// grant returns the size of a session's buffer.
func (cl *clients) grant(asked uint64) int {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	n := max(leastBuffer, int(min(asked, uint64(max(0, cl.free/2)))))
	cl.free -= n
	return n
}

func (cl *clients) release(n int) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.free += n
}

// collect starts a client's session.
func (cl *clients) collect(c diag.Config) (diag.Tracing, error) {
	opt := SessionOptions{Block: c.Block, BufferBytes: cl.grant(uint64(c.BufferMB) << 20)}
	for _, w := range c.Providers {
		opt.Providers = append(opt.Providers, Wanted{
			Provider: w.Name, Keywords: w.Keywords, Level: w.Level, Events: w.Events, Except: w.Except,
		})
	}
	t := &tracing{over: func() { cl.release(opt.BufferBytes) }}
	var err error
	if t.session, err = cl.p.newSession(nil, opt, cl.p.nettraceTo(&t.out, 4)); err != nil {
		t.over()
		return nil, err
	}
	t.session.brief = c.Rundown == 0
	return t, nil
}

// A tracing is a session whose trace Run sends to a client.
type tracing struct {
	session *Session
	out     lateWriter
	over    func() // is called when the session is
}

// Run writes the trace to w until Stop, or until w fails.
func (t *tracing) Run(w io.Writer) error {
	defer t.over()
	if err := t.out.begin(w); err != nil {
		t.session.end()
	}
	t.session.run()
	return t.session.err
}

// Stop makes Run write the end.
func (t *tracing) Stop() { t.session.end() }

// A lateWriter buffers the head of a trace until its destination is known.
type lateWriter struct {
	w    io.Writer
	head []byte
}

func (l *lateWriter) Write(b []byte) (int, error) {
	if l.w == nil {
		l.head = append(l.head, b...)
		return len(b), nil
	}
	return l.w.Write(b)
}

func (l *lateWriter) begin(w io.Writer) error {
	l.w = w
	_, err := w.Write(l.head)
	l.head = nil
	return err
}
