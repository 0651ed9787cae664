package watch

import (
	"context"
	"sync"

	"github.com/gctrail/gctrail/diag"
)

// maxAsking is how many runtimes of a port are asked at a time who they are, because whoever can
// reach the port can pass for any number of them.
const maxAsking = 16

// WithListener returns the source with the processes whose runtimes connect to a diagnostic
// port, in addition to its own. Where runtimes connect that do not say who they are, the list
// has one process without a name, with the port's address and the reason.
func (s Source) WithListener(l *diag.Listener) Source {
	p := &listened{listener: l, callers: make(map[*diag.Runtime]*caller)}
	return s.with(p.ask, p.processes)
}

// A listened is a diagnostic port that runtimes connect to.
type listened struct {
	listener *diag.Listener

	mu      sync.Mutex
	callers map[*diag.Runtime]*caller
	asking  int
	refusal error // of a runtime that did not say who it is, since all that were asked did
}

// A caller is a runtime that has connected.
type caller struct {
	asking  chan struct{} // closed when the answer is there; nil if nothing is asked
	process *diag.Process // nil without an answer
}

// ask asks the runtimes who they are that have not said it yet, and forgets the ones that have
// gone. It returns channels that are closed with the answers.
func (p *listened) ask(ctx context.Context) (answers []<-chan struct{}) {
	present := p.listener.Runtimes()
	p.mu.Lock()
	defer p.mu.Unlock()
	callers := make(map[*diag.Runtime]*caller, len(present))
	unknown := false
	for _, r := range present {
		c := p.callers[r]
		if c == nil {
			c = new(caller)
		}
		callers[r] = c
		if c.process != nil {
			continue
		}
		unknown = true
		if c.asking == nil && p.asking < maxAsking {
			c.asking = make(chan struct{})
			p.asking++
			go p.askOne(ctx, r, c)
		}
		if c.asking != nil {
			answers = append(answers, c.asking)
		}
	}
	p.callers = callers
	if !unknown {
		p.refusal = nil
	}
	return answers
}

// askOne asks a runtime who it is. Its process has the port's address, and no PID, because the
// runtime says only which one it has in its own namespace, or on its own system.
func (p *listened) askOne(ctx context.Context, r *diag.Runtime, c *caller) {
	process, err := r.Process(ctx) // has a time limit
	p.mu.Lock()
	defer p.mu.Unlock()
	close(c.asking)
	c.asking = nil
	p.asking--
	if err != nil {
		p.refusal = err
		return
	}
	process.PID, process.Address = 0, p.listener.Address()
	c.process = process
}

// processes returns the processes of the runtimes that said who they are.
func (p *listened) processes() (all []*diag.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.callers {
		if c.process != nil {
			all = append(all, c.process)
		}
	}
	if p.refusal != nil {
		all = append(all, &diag.Process{Address: p.listener.Address(), Err: p.refusal})
	}
	return all
}
