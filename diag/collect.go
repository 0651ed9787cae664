package diag

import (
	"context"
	"reflect"
	"slices"
)

// A Config selects the events that a session collects. It has no defaults: a session
// without a buffer or providers is refused before anything is sent.
type Config struct {
	BufferMB  uint32 // of the runtime's buffer, at least 1; events that do not fit are lost
	Providers []Provider

	// Rundown holds the keywords of the events at the end of the session that
	// describe the process: 0 for none, RundownFull, or others (.NET 9 and later;
	// older runtimes then raise none, or all if methods are to be named).
	Rundown uint64
	// NoStacks leaves out the stacks of events (.NET 9 and later).
	NoStacks bool
	// Block makes the program wait while the buffer is full, instead of losing
	// events (.NET 11 and later).
	Block bool
}

// A Provider is a source of events in a process.
type Provider struct {
	Name      string
	Keywords  uint64
	Level     uint8    // 0 always, 1 critical … 5 verbose
	Arguments string   // "key=value;key=value", for EventSources
	Events    []uint32 // only these ids (.NET 10 and later); nil means all
	Except    []uint32 // if Events is nil, all but these ids (.NET 10 and later)
}

const maxLevel = 5

// Collect starts a session. It first tries the newest form of the command that
// the config needs, and if the runtime is too old for it, the next older one.
// Session.Config is what the runtime granted.
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
		s := &Session{Command: cmd.String(), Config: granted, client: c, in: in, over: make(chan struct{})}
		if a.u64(&s.ID); a.err != nil {
			in.Close()
			return nil, a.err
		}
		return s, nil
	}
}

// needs returns the oldest command from CollectTracing2 on that supports the whole config.
func (c *Config) needs() command {
	cmd := cmdCollectTracing2
	for cmd < cmdCollectTracing6 && !reflect.DeepEqual(c.grantedBy(cmd), *c) {
		cmd++
	}
	return cmd
}

// grantedBy returns the part of the config that cmd can express.
func (c *Config) grantedBy(cmd command) Config {
	g := *c
	if cmd < cmdCollectTracing6 {
		g.Block = false
	}
	if cmd < cmdCollectTracing5 {
		g.Providers = slices.Clone(c.Providers)
		for i := range g.Providers {
			p := &g.Providers[i]
			p.Events = nil
			if len(p.Except) > 0 { // an empty one asks for nothing
				p.Except = nil
			}
		}
	}
	if cmd < cmdCollectTracing4 && g.Rundown != RundownFull {
		g.Rundown = 0
		if c.Rundown&RundownMethods == RundownMethods {
			g.Rundown = RundownFull
		}
	}
	if cmd < cmdCollectTracing3 {
		g.NoStacks = false
	}
	if cmd == cmdCollectTracing {
		g.Rundown = RundownFull
	}
	return g
}

// request encodes the config.
func (c *Config) request(cmd command) *message {
	m := newRequest(cmd)
	r := collectRequest{Config: *c, output: streaming, format: nettrace}
	r.Providers = slices.Clone(c.Providers)
	r.layout(m)
	return m
}

// A collectRequest is the payload of a CollectTracing command.
type collectRequest struct {
	Config
	output uint32
	format uint32
}

// Outputs and formats of a collectRequest.
const (
	streaming  uint32 = 0
	userEvents uint32 = 1 // of Linux, with a layout of its own

	nettrace uint32 = 1
)

// maxProviders is how many a runtime takes.
const maxProviders = 1000

// layout lays out the request, as ds-eventpipe-protocol.c does.
func (r *collectRequest) layout(m *message) {
	if m.cmd >= cmdCollectTracing5 {
		m.u32(&r.output)
	}
	if r.output != streaming {
		m.refuse("output", "it is %d", r.output)
		return
	}
	m.u32(&r.BufferMB)
	m.u32(&r.format)
	switch {
	case r.BufferMB == 0:
		m.refuse("buffer size", "it is 0 MB, 1 is the least")
	case r.format != nettrace:
		m.refuse("format", "it is %d", r.format)
	}
	r.rundown(m)
	if m.cmd >= cmdCollectTracing3 {
		stacks := !r.NoStacks
		m.bool(&stacks)
		r.NoStacks = !stacks
	}
	const leastProvider = 8 + 4 + 4 + 4
	list(m, &r.Providers, leastProvider, func(p *Provider) { p.layout(m) })
	if n := len(r.Providers); n == 0 {
		m.refuse("providers", "there are none")
	} else if n > maxProviders {
		m.refuse("providers", "there are %d, %d are the most", n, maxProviders)
	}
	if m.cmd >= cmdCollectTracing6 {
		mode := map[bool]uint32{true: 1}[r.Block]
		m.u32(&mode)
		r.Block = mode == 1
	}
}

// rundown lays out the keywords; older commands only have all or nothing.
func (r *collectRequest) rundown(m *message) {
	all := r.Rundown != 0
	switch {
	case m.cmd >= cmdCollectTracing4:
		m.u64(&r.Rundown)
		return
	case m.cmd >= cmdCollectTracing2:
		m.bool(&all)
	default:
		all = true
	}
	r.Rundown = 0
	if all {
		r.Rundown = RundownFull
	}
}

func (p *Provider) layout(m *message) {
	level := uint32(p.Level)
	m.u64(&p.Keywords)
	m.u32(&level)
	m.name("provider", &p.Name)
	if level > maxLevel {
		m.refuse("level of "+p.Name, "it is %d, %d (verbose) is the highest", level, maxLevel)
	}
	p.Level = uint8(level)
	m.str("arguments of "+p.Name, &p.Arguments)
	if m.cmd >= cmdCollectTracing5 {
		p.filter(m)
	}
}

// filter lays out the list of events, which either selects or excludes.
func (p *Provider) filter(m *message) {
	only, ids := p.Events != nil, p.Events
	if !only {
		ids = p.Except
	}
	m.bool(&only)
	list(m, &ids, 4, m.u32)
	if p.Events, p.Except = nil, nil; only {
		p.Events = ids
	} else if len(ids) > 0 {
		p.Except = ids
	}
}
