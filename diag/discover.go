package diag

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/internal/program"
)

// A Process is a .NET process of this machine.
type Process struct {
	PID       int       // in this process's namespace; 0 if unknown, for a process of another namespace
	InnerPID  int       // in its own namespace, where its events count: always known
	Name      string    // of the program; empty if unknown
	Address   string    // of its diagnostic socket or pipe; empty if there is none, or it was not found
	Started   time.Time // zero if unknown
	Container string    // id of its container; empty if none is known
	Info      *Info     // from its runtime; nil if it was not queried or did not answer
	GC        Flavour   // as far as its settings are known
	Framework string    // the version of .NET Framework, of a process that has loaded it; empty if unknown
	Err       error     // why it cannot be reached; nil if it was reached or not tried

	stale    bool      // its socket belongs to no process that is known here
	client   *Client   // of a runtime that was found, or has dialled
	sighting *sighting // how it was found; nil once it is remembered, or if it cannot be
	// listener, if not nil, returns the PID of a process whose PID was unknown before the
	// connection, or 0.
	listener func() int
}

// Client returns a client of the process's runtime.
func (p *Process) Client() *Client {
	if p.client != nil {
		return p.client
	}
	return NewClient(p.Address)
}

// Names returns the names by which people know the process: its Name, and "dotnet" if that
// host runs it.
func (p *Process) Names() []string {
	if p.Info != nil {
		if file := program.File(p.Info.CommandLine); file != "" && file != p.Name {
			return []string{p.Name, file}
		}
	}
	return []string{p.Name}
}

// listTimeout is how long each process may take to answer when all are queried.
const listTimeout = time.Second

// List finds the .NET processes of this machine, including processes in other containers
// if the system allows that, and queries all of them concurrently, for at most a second.
// Processes that cannot be reached have an Err. They are sorted by PID.
func List(ctx context.Context) []*Process { return NewLister().List(ctx) }

// A Lister lists the processes of this machine repeatedly. On Linux, it remembers the
// answer of a process for half a minute, unless the process is stopped or its socket is
// replaced. Its methods may be called concurrently.
type Lister struct{ finder *finder }

// NewLister returns a Lister that does not know any processes yet.
func NewLister() *Lister { return &Lister{newFinder()} }

// List does the same as the function List. The caller must not change the
// processes, because later lists may contain them too.
func (l *Lister) List(ctx context.Context) []*Process {
	return ask(ctx, l.finder, find(ctx, l.finder.find))
}

// Arrivals calls arrived for each .NET process that starts until ctx ends, as
// soon as its socket appears in TMPDIR or /tmp. It may call it from several
// goroutines, and misses processes that use other folders. On systems other
// than Linux, it returns immediately.
func (l *Lister) Arrivals(ctx context.Context, arrived func(*Process)) {
	l.finder.arrivals(ctx, arrived)
}

// find looks for processes until ctx ends, because a file system that hangs would hold up
// look for ever.
func find(ctx context.Context, look func() []*Process) []*Process {
	if ctx.Err() != nil {
		return nil // whichever of the two below would be first
	}
	found := make(chan []*Process, 1)
	go func() { found <- look() }()
	select {
	case all := <-found:
		return all
	case <-ctx.Done():
		return nil
	}
}

// ask queries the processes that f does not know, and drops sockets without a listener
// and processes that were found twice.
func ask(ctx context.Context, f *finder, all []*Process) []*Process {
	var asking sync.WaitGroup
	large := make(chan struct{}, maxLarge)
	prompt := make(chan struct{}, maxPrompt)
	for _, p := range all {
		if p.Address != "" && p.Err == nil && p.Info == nil {
			prompt <- struct{}{}
			leave := sync.OnceFunc(func() { <-prompt })
			late := time.AfterFunc(promptTime, leave)
			asking.Go(func() {
				p.ask(ctx, listTimeout, large)
				late.Stop()
				leave()
			})
		}
	}
	asking.Wait()
	f.remember(all)
	all = dropTwins(all)
	slices.SortFunc(all, func(a, b *Process) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.InnerPID, b.InnerPID), cmp.Compare(a.Address, b.Address))
	})
	return all
}

// dropTwins drops sockets without a listener, and duplicates of processes that were
// found in several ways.
func dropTwins(all []*Process) []*Process {
	answers := make(map[int]*Process)    // by PID
	reached := make(map[Cookie]*Process) // the process of a socket that is known to be its own, else the first
	for _, stale := range [...]bool{false, true} {
		for _, p := range all {
			if p.Info == nil || p.stale != stale {
				continue
			}
			if p.PID != 0 && answers[p.PID] == nil {
				answers[p.PID] = p
			}
			if reached[p.Info.Cookie] == nil {
				reached[p.Info.Cookie] = p
			}
		}
	}
	return slices.DeleteFunc(all, func(p *Process) bool {
		other := answers[p.PID]
		switch {
		case p.Info == nil:
			return p.stale && refused(p.Err) || other != nil
		case p.stale:
			return other != nil && other != p || reached[p.Info.Cookie] != p
		default:
			return false // its answer may be another process's
		}
	})
}

// A folder can be full of sockets of killed processes, which refuse at once, and of
// sockets that never answer. Few of the first kind are tried at a time to avoid using
// much memory; the time limit keeps the second kind from delaying the list.
const (
	maxPrompt  = 64
	promptTime = 5 * time.Millisecond
)

// maxLarge is how many environments are read at a time, because each can have 16 MiB.
const maxLarge = 8

// ask queries the process within a time limit. It takes a place in large while it reads
// an answer that can be large.
func (p *Process) ask(ctx context.Context, limit time.Duration, large chan struct{}) {
	p.Err = nil
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	info, err := p.Client().Info(ctx)
	switch {
	case errors.Is(err, ErrNoAnswer) && stopped(p.PID):
		p.Err = ErrStopped
		return
	case errors.Is(err, fs.ErrPermission) && p.stale:
		p.Err = ErrForeign
		return
	case err != nil:
		p.Err = err
		return
	}
	p.Info = info
	if p.PID == 0 && p.listener != nil {
		p.PID = p.listener()
	}
	if p.PID == 0 {
		p.InnerPID = int(info.PID)
	}
	p.Name = cmp.Or(info.Name(), p.Name)
	p.GC = p.flavour(p.environment(ctx, large))
}

// environment returns the process's environment; nil if unknown, as for .NET Core 3.
func (p *Process) environment(ctx context.Context, large chan struct{}) []string {
	select {
	case large <- struct{}{}:
		defer func() { <-large }()
	case <-ctx.Done():
		return nil
	}
	env, err := p.Client().Environment(ctx)
	if err != nil {
		return nil
	}
	return env
}
