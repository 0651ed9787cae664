package diag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"
)

// A Process is a .NET process of this machine.
type Process struct {
	PID       int       // as this system numbers it; 0 where it is in another namespace and its number here is not known
	InnerPID  int       // as its own namespace numbers it: what its events carry
	Name      string    // of the program; empty where unknown
	Address   string    // of its diagnostic socket or pipe; empty where there is none, or it was not found
	Started   time.Time // zero where unknown
	Container string    // id of its container; empty where it is in none that is known
	Info      *Info     // what its runtime says; nil if it was not asked, or did not answer
	GC        Flavour   // as far as its settings are known
	Err       error     // why it cannot be reached, nil if it was not tried

	stale  bool    // its socket belongs to no process that is known here
	client *Client // of a runtime that has dialled
}

// Client returns a client of the process's runtime.
func (p *Process) Client() *Client {
	if p.client != nil {
		return p.client
	}
	return NewClient(p.Address)
}

// listTimeout is how long each process may take to answer when all are asked.
const listTimeout = time.Second

// List finds the .NET processes of this machine, of other containers too as far
// as the system lets us look into them, and asks all of them at once what they
// are, a second each. Those that cannot be reached have an Err. They are in the
// order of their PID.
func List(ctx context.Context) []*Process {
	return ask(ctx, newFinder().find())
}

// Find finds the process with a PID and asks it what it is. The error is
// ErrNoProcess, ErrNotDotnet, or why it cannot be reached.
func Find(ctx context.Context, pid int) (*Process, error) {
	f := newFinder()
	all := f.find()
	found := ask(ctx, only(all, func(p *Process) bool { return p.PID == pid }))
	if len(found) == 0 { // its own number may be all that is known of it
		found = ask(ctx, only(all, func(p *Process) bool { return p.PID == 0 && p.InnerPID == pid }))
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("process %d: %w", pid, f.missing(pid))
	}
	if err := found[0].Err; err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	return found[0], nil
}

func only(all []*Process, keep func(*Process) bool) []*Process {
	return slices.DeleteFunc(slices.Clone(all), func(p *Process) bool { return !keep(p) })
}

// ask asks processes what they are, and drops sockets that nobody listens at and
// processes that were found twice.
func ask(ctx context.Context, all []*Process) []*Process {
	var asking sync.WaitGroup
	for _, p := range all {
		if p.Address != "" && p.Err == nil {
			asking.Go(func() { p.ask(ctx) })
		}
	}
	asking.Wait()
	seen := make(map[Cookie]bool)
	all = slices.DeleteFunc(all, func(p *Process) bool {
		return p.stale && refused(p.Err) || p.Info != nil && p.repeats(seen)
	})
	slices.SortFunc(all, func(a, b *Process) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.InnerPID, b.InnerPID), cmp.Compare(a.Address, b.Address))
	})
	return all
}

// repeats says whether the runtime was seen, and notes it.
func (p *Process) repeats(seen map[Cookie]bool) bool {
	known := seen[p.Info.Cookie]
	seen[p.Info.Cookie] = true
	return known
}

// ask asks the process what it is.
func (p *Process) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
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
	p.InnerPID = int(info.PID)
	p.Name = cmp.Or(info.Name(), p.Name)
	env, err := p.Client().Environment(ctx)
	if err != nil {
		env = nil // .NET Core 3 cannot tell it
	}
	p.GC = p.flavour(env)
}
