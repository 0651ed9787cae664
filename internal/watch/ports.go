package watch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/text"
)

// portTime is how long a list waits for the answers of ports, as for answers of other processes.
// Later answers are in the next list, because a phone can be slow.
const portTime = time.Second

// WithPorts returns the source with the processes behind diagnostic ports that something
// listens on. Each may have another process behind it at any time, or none: then the list has
// one without a name, with the port's address and the reason.
func (s Source) WithPorts(ports []diag.Port) Source {
	all := text.Each(ports, func(p *diag.Port) *port { return &port{at: *p} })
	ask := func(ctx context.Context) (answers []<-chan struct{}) {
		for _, p := range all {
			answers = append(answers, p.ask(ctx))
		}
		return answers
	}
	return s.with(ask, func() (behind []*diag.Process) {
		for _, p := range all {
			if latest := p.process(); latest != nil {
				behind = append(behind, latest)
			}
		}
		return behind
	})
}

// with returns the source with processes that have to be asked who they are: ask asks them while
// the source lists its own, and returns channels that are closed with the answers. processes
// returns the ones that have answered.
func (s Source) with(ask func(context.Context) []<-chan struct{}, processes func() []*diag.Process) Source {
	s = s.complete()
	own := s.List
	s.List = func(ctx context.Context) []*diag.Process {
		answers := ask(ctx)
		found := slices.Clone(own(ctx))
		limited, cancel := context.WithTimeout(ctx, portTime)
		defer cancel()
		for _, answered := range answers {
			select {
			case <-answered:
			case <-limited.Done():
			}
		}
		for _, p := range processes() {
			if !isAmong(found, p) {
				found = append(found, p)
			}
		}
		return found
	}
	return s
}

// isAmong reports whether a process that answered is in a list, found in another way.
func isAmong(list []*diag.Process, p *diag.Process) bool {
	return p.Info != nil && slices.ContainsFunc(list, func(other *diag.Process) bool {
		return other.Info != nil && other.Info.Cookie == p.Info.Cookie
	})
}

// A port is a diagnostic port that is asked again and again who is behind it.
type port struct {
	at diag.Port

	mu     sync.Mutex
	asking chan struct{} // closed when the answer is there; nil if nothing is asked
	latest *diag.Process // nil before the first answer
}

// ask asks who is behind the port, unless that was asked and not answered yet, so that a silent
// port has one connection at a time. It returns a channel that is closed with the answer.
func (p *port) ask(ctx context.Context) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking != nil {
		return p.asking
	}
	answered := make(chan struct{})
	p.asking = answered
	go func() {
		defer close(answered)
		behind, err := p.at.Process(ctx) // has a time limit
		p.mu.Lock()
		defer p.mu.Unlock()
		if err != nil {
			behind = p.absent(err)
		}
		p.latest, p.asking = behind, nil
	}()
	return answered
}

// absent returns the process that was last behind the port as one that does not answer.
func (p *port) absent(err error) *diag.Process {
	absent := &diag.Process{Address: p.at.Path, Err: err}
	if p.latest != nil {
		absent.Name, absent.InnerPID = p.latest.Name, p.latest.InnerPID
	}
	return absent
}

func (p *port) process() *diag.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latest
}
