package diag

import (
	"context"
	"fmt"
)

// A Config says what a session is to collect. It has no defaults: a session
// without a buffer or providers is refused before anything is sent.
type Config struct {
	BufferMB  uint32 // of the runtime's buffer, at least 1; events that find no room in it are lost
	Providers []Provider

	// Rundown are the keywords of the events about what there is at the end of
	// the session: 0 for none, RundownFull, or others (.NET 9 and later; older
	// runtimes then have none).
	Rundown uint64
	// NoStacks leaves out the stacks of events (.NET 9 and later).
	NoStacks bool
	// Block makes the program wait where the buffer is full, instead of losing
	// events (.NET 11 and later).
	Block bool
}

// A Provider is a source of events in a process.
type Provider struct {
	Name      string
	Keywords  uint64
	Level     uint8    // 0 always, 1 critical … 5 verbose
	Arguments string   // "key=value;key=value", for EventSources
	Events    []uint32 // only those with these ids (.NET 10 and later); nil means all
}

// Rundown keywords.
const (
	// RundownFull names all methods and modules, as stacks need it: megabytes,
	// and seconds on a busy machine.
	RundownFull uint64 = 0x80020139
	// RundownGC tells the runtime's version and its GC settings: two events.
	RundownGC uint64 = 0x1
)

const maxLevel = 5

// Collect starts a session. The newest form of the command that the config
// needs is tried first; where the runtime is too old for it, the next older one:
// Session.Config tells what was granted.
func (c *Client) Collect(ctx context.Context, config Config) (*Session, error) {
	for cmd := config.needs(); ; cmd-- {
		granted := config.grantedBy(cmd)
		in, a, err := c.exchange(ctx, granted.request(cmd))
		if tooOld(err) && cmd > cmdCollectTracing {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := &Session{ID: a.u64(), Command: cmd.String(), Config: granted, client: c, in: in, over: make(chan struct{})}
		if a.short {
			in.Close()
			return nil, fmt.Errorf("%v: %w: it is too short", cmd, ErrProtocol)
		}
		return s, nil
	}
}

// needs returns the oldest command that has all that the config asks for.
func (c *Config) needs() command {
	cmd := cmdCollectTracing2
	if c.NoStacks {
		cmd = cmdCollectTracing3
	}
	if c.Rundown != 0 && c.Rundown != RundownFull {
		cmd = cmdCollectTracing4
	}
	for i := range c.Providers {
		if c.Providers[i].Events != nil {
			cmd = cmdCollectTracing5
		}
	}
	if c.Block {
		cmd = cmdCollectTracing6
	}
	return cmd
}

// grantedBy returns what cmd has of the config.
func (c *Config) grantedBy(cmd command) Config {
	g := *c
	if cmd < cmdCollectTracing6 {
		g.Block = false
	}
	if cmd < cmdCollectTracing5 {
		g.Providers = append([]Provider(nil), c.Providers...)
		for i := range g.Providers {
			g.Providers[i].Events = nil
		}
	}
	if cmd < cmdCollectTracing4 && g.Rundown != RundownFull {
		g.Rundown = 0
	}
	if cmd < cmdCollectTracing3 {
		g.NoStacks = false
	}
	if cmd == cmdCollectTracing {
		g.Rundown = RundownFull
	}
	return g
}

// request encodes the config, as ds-eventpipe-protocol.c decodes it.
func (c *Config) request(cmd command) *request {
	const (
		streaming = 0
		nettrace  = 1
	)
	r := newRequest(cmd)
	if c.BufferMB == 0 {
		r.refuse("buffer size", "it is 0 MB, 1 is the least")
	}
	if cmd >= cmdCollectTracing5 {
		r.u32(streaming)
	}
	r.u32(c.BufferMB)
	r.u32(nettrace)
	if cmd >= cmdCollectTracing4 {
		r.u64(c.Rundown)
	} else if cmd >= cmdCollectTracing2 {
		r.bool(c.Rundown != 0)
	}
	if cmd >= cmdCollectTracing3 {
		r.bool(!c.NoStacks)
	}
	if len(c.Providers) == 0 {
		r.refuse("providers", "there are none")
	}
	r.u32(uint32(len(c.Providers)))
	for i := range c.Providers {
		c.Providers[i].append(r, cmd)
	}
	if cmd >= cmdCollectTracing6 {
		r.u32(map[bool]uint32{false: 0, true: 1}[c.Block])
	}
	return r
}

func (p *Provider) append(r *request, cmd command) {
	if p.Level > maxLevel {
		r.refuse("level of "+p.Name, "it is %d, %d (verbose) is the highest", p.Level, maxLevel)
	}
	r.u64(p.Keywords)
	r.u32(uint32(p.Level))
	r.name("provider", p.Name)
	r.str("arguments of "+p.Name, p.Arguments)
	if cmd < cmdCollectTracing5 {
		return
	}
	r.bool(p.Events != nil)
	r.u32(uint32(len(p.Events)))
	for _, id := range p.Events {
		r.u32(id)
	}
}
