package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/ledger"
	"github.com/gctrail/gctrail/internal/otlp"
	"github.com/gctrail/gctrail/internal/profiler"
	"github.com/gctrail/gctrail/internal/watch"
	"github.com/gctrail/gctrail/live"
)

// Options connect an agent with its caller.
type Options struct {
	Config *Config // checked
	// Notify receives the news of processes, except collections. It may be nil, and is
	// called by one goroutine at a time.
	Notify func(*watch.News)
	// Ended receives the verdict on a process that ended, instead of Notify. It may be
	// nil.
	Ended func(*diag.Process, *ledger.Verdict)
	// Captured is called with each capture. It may be nil.
	Captured func(*Captured)
	// Problem receives the agent's own failures. It may be nil.
	Problem func(error)
	// Serving receives the address at which the agent listens, with the port that the system
	// chose where the configuration has port 0. It may be nil.
	Serving func(address string)
	// Source finds processes; zero means this machine.
	Source watch.Source
}

// A Captured is a capture that was made, or the reason why it was not.
type Captured struct {
	Process *diag.Process
	Dump    bool   // a heap snapshot, not a trace
	Path    string // empty if there is none
	Err     error
}

// An Agent follows the processes of a machine.
type Agent struct {
	opts     Options
	config   *Config
	chosen   []label
	lasting  []label // chosen, without labels of one process or container
	single   bool    // each process has a group of its own
	patterns patterns
	ports    map[string]bool // addresses of diagnostic ports
	served   []*diag.Listener
	host     string
	watcher  *watch.Watcher
	sender   *otlp.Sender       // nil for none
	profiler *profiler.Profiler // nil for none
	rules    []*rule
	captures *captures
	token    string // empty for none

	capturing sync.WaitGroup
	ctx       context.Context // of Run

	mu        sync.Mutex
	processes map[int]*process // by the ID of their watching
	groups    map[string]*group
	ends      map[string]*group // counters of ends: of processes that are alike but for the PID
	self      *group
	records   records

	ledgerProblem sync.Once
	refusals      [2]sync.Once // by signal
	stopping      atomic.Bool
}

const (
	// looking is how often the agent looks for new processes. It can be long, because on
	// Linux most are found as soon as they start.
	looking = 5 * time.Second
	// polling is how often the agent looks for the events of processes. Waiting for each piece
	// that a runtime writes would cost the agent a wake-up, ten times a second for each process.
	polling = 250 * time.Millisecond
	// settling is how long the start of the agent takes.
	settling = 5 * time.Second
	// judging is how often the findings of processes are updated.
	judging = 15 * time.Second
)

// New returns an agent that does nothing before Run, except that it opens the diagnostic ports
// to which runtimes connect. Run closes them.
func New(opts Options) (*Agent, error) {
	c := opts.Config
	chosen, err := chosenLabels(c.Labels)
	if err != nil {
		return nil, err
	}
	a := &Agent{
		opts: opts, config: c, chosen: chosen,
		single:    slices.ContainsFunc(chosen, func(l label) bool { return l.name == "pid" }),
		lasting:   slices.DeleteFunc(slices.Clone(chosen), func(l label) bool { return l.name == "pid" || l.name == "container" }),
		processes: make(map[int]*process), groups: make(map[string]*group), ends: make(map[string]*group),
		ports:   make(map[string]bool),
		records: records{full: make(chan struct{}, 1)},
	}
	if a.patterns, err = c.patterns(); err != nil {
		return nil, err
	}
	if a.rules, err = c.rules(); err != nil {
		return nil, err
	}
	if a.token, err = c.token(); err != nil {
		return nil, err
	}
	a.captures = newCaptures(c.Captures)
	a.host, _ = os.Hostname()
	a.self = newGroup(identity{"service.name": "gctrail-agent", "host.name": a.host}, nil, time.Now())
	if c.pushes() {
		sending := c.sender()
		sending.Refused = a.refused
		if a.sender, err = otlp.NewSender(sending); err != nil {
			return nil, err
		}
	}
	if c.Profiles.URL != "" {
		profiling := c.profiler()
		profiling.Problem = a.problem
		if a.profiler, err = profiler.New(profiling); err != nil {
			return nil, err
		}
	}
	source := opts.Source
	ports, err := c.ports()
	if err != nil {
		return nil, err
	}
	if source, err = a.behind(ports, source); err != nil {
		return nil, err
	}
	a.watcher = watch.New(watch.Options{
		Wants: a.wants, Each: a.news, Max: c.Processes, Interval: looking, Poll: polling, Passing: true, Requests: c.Requests, Source: source,
	})
	return a, nil
}

// Run follows processes until ctx ends, and then asks their runtimes to end their
// sessions. It returns early if it cannot listen.
func (a *Agent) Run(ctx context.Context) error {
	a.ctx = ctx
	defer a.closePorts()
	defer context.AfterFunc(ctx, func() { a.stopping.Store(true) })()
	if err := a.captures.prepare(); err != nil {
		a.problem(fmt.Errorf("no captures: %w", err))
	}
	listener, err := a.listen(ctx)
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	if listener != nil {
		if a.opts.Serving != nil {
			a.opts.Serving(addressOf(listener, a.config.Listen))
		}
		running.Go(func() { a.serve(ctx, listener) })
	}
	if a.sender != nil {
		running.Go(func() { a.push(ctx) })
	}
	if a.profiler != nil {
		running.Go(func() { a.profiler.Run(ctx) })
	}
	running.Go(func() { every(ctx, judging, a.judge) })
	running.Go(func() { every(ctx, readingProcessors, a.readProcessors) })
	if a.config.Ledger.Folder != "" {
		if err := os.MkdirAll(a.config.Ledger.Folder, 0o700); err != nil {
			a.ledgerProblem.Do(func() { a.problem(fmt.Errorf("no ledgers: %w", err)) })
		}
	}
	running.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(settling):
			dropStartPages()
		}
	})
	beats := 0
	running.Go(func() { every(ctx, beat, func(now time.Time) { a.sample(beats, now); beats++ }) })
	a.watcher.Run(ctx)
	a.capturing.Wait()
	running.Wait()
	return nil
}

// every calls f at intervals until ctx ends.
func every(ctx context.Context, interval time.Duration, f func(time.Time)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			f(now)
		}
	}
}

// wants reports whether to follow a process. The agent does not follow itself. Of a
// diagnostic port where no process ever answered, no name is known: that is reported.
func (a *Agent) wants(p *diag.Process) bool {
	return p.PID != os.Getpid() && (p.Name == "" && a.ports[p.Address] || a.patterns.match(p.Name))
}

// news processes the news of processes.
func (a *Agent) news(n *watch.News) {
	switch {
	case n.Attached:
		outside := lookInto(n.Process.PID)
		id, m := a.identify(n.Process, &outside), newMemory(n.Process, &outside, time.Now())
		a.mu.Lock()
		a.attach(n.ID, n.Process, id, m, time.Now())
		a.mu.Unlock()
		if a.profiler != nil {
			a.profiler.Attach(a.ctx, n.ID, a.subject(n.Process, id))
		}
	case n.Collection != nil:
		a.collected(n)
	case n.Ended:
		if a.profiler != nil {
			a.profiler.Detach(n.ID)
		}
		if a.ended(n) {
			return
		}
	default:
		a.changed(n)
	}
	if n.Collection == nil && a.opts.Notify != nil {
		a.opts.Notify(n)
	}
}

// identify returns the attributes of a process. One behind a port that is reached over TCP may
// run on another machine.
func (a *Agent) identify(p *diag.Process, outside *outside) identity {
	host := a.host
	if isRemote(p) {
		host = ""
	}
	id := identify(p, outside, host, a.config.Attributes)
	if a.ports[p.Address] {
		id[portKey] = p.Address
	}
	return id
}

// isRemote reports whether a process may run on another machine, where its end cannot be seen.
func isRemote(p *diag.Process) bool { return diag.Port{Path: p.Address}.Remote() }

func (a *Agent) attach(id int, p *diag.Process, of identity, m *memory, now time.Time) {
	added := &process{Process: p, id: id, identity: of, gauges: make(gauges), memory: m, processor: newProcessor(p)}
	added.gauges.set(attached, 1)
	added.group = join(a.groups, added, a.chosen, a.single, now, counted)
	added.ends = join(a.ends, added, a.lasting, false, now, countedEnds)
	a.processes[id] = added
}

// counted are the counters that are served as zero from the beginning, because Prometheus
// does not see the first increase of a counter that begins at one.
var counted = []key{
	{collections, [3]string{"gen0"}},
	{collections, [3]string{"gen1"}},
	{collections, [3]string{"gen2"}},
	{metric: pauseTime},
	{metric: allocated},
	{metric: promoted},
	{metric: eventsLost},
}

// countedEnds are the counters of ends that are served as zero from the beginning.
var countedEnds = func() []key {
	all := []key{endOfKind(ledger.Exited, ledger.Neither)}
	for _, cause := range []ledger.Cause{ledger.Killed, ledger.OOMKilled, ledger.OutOfMemory} {
		for _, memory := range []ledger.Part{ledger.Heap, ledger.Native, ledger.Neither} {
			all = append(all, endOfKind(cause, memory))
		}
	}
	return all
}()

// endOfKind returns the series of a process's end. It ignores which memory grew if the
// process exited.
func endOfKind(cause ledger.Cause, memory ledger.Part) key {
	if cause == ledger.Exited {
		memory = ledger.Neither
	}
	return key{processesEnded, [3]string{string(cause), cmp.Or(string(memory), unknown)}}
}

// join adds a process to its group, and makes the group if there is none.
func join(groups map[string]*group, p *process, by []label, single bool, now time.Time, counted []key) *group {
	name := groupName(p.identity, by)
	g := groups[name]
	if g == nil {
		id := p.identity
		if !single {
			id = shared(id, by)
		}
		g = newGroup(id, by, now)
		for _, k := range counted {
			g.counters[k] = 0
		}
		groups[name] = g
	}
	g.emptied = time.Time{}
	g.processes[p.id] = p
	return g
}

// leave removes a process from a group.
func (g *group) leave(p *process, now time.Time) {
	delete(g.processes, p.id)
	if len(g.processes) == 0 {
		g.emptied, g.bytes = now, g.size()
	}
}

// shared returns the attributes that processes in a group by some labels share.
func shared(of identity, by []label) identity {
	rest := make(identity)
	for key, value := range of {
		if !slices.Contains(ofOneProcess, key) {
			rest[key] = value
		}
	}
	for _, l := range labels {
		if !slices.Contains(by, l) && l.name != "service" {
			delete(rest, l.key)
		}
	}
	return rest
}

func (a *Agent) collected(n *watch.News) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.processes[n.ID]
	if p == nil {
		return
	}
	p.take(n.Collection, n.Paused)
	a.start(a.ctx, a.met(p, n.Collection, n.Collection.Ended))
	if a.sends(otlp.Logs) {
		a.records.add(p, n.Collection, longestPaused(n))
	}
}

func (a *Agent) changed(n *watch.News) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.processes[n.ID]; p != nil && n.Lost > 0 {
		p.group.count(eventsLost, float64(n.Lost))
	}
}

// ended processes the end of a process, and reports whether its verdict was reported. If
// a session ends because the agent does, its process has not ended.
func (a *Agent) ended(n *watch.News) bool {
	a.mu.Lock()
	p := a.processes[n.ID]
	a.mu.Unlock()
	if p == nil {
		return false
	}
	if a.stopping.Load() {
		a.leave(p)
		return false
	}
	now := time.Now()
	if err := p.brokeOff(n.Err); err != nil {
		n.Err = err
		a.leave(p)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.remove(p, now)
		return false
	}
	v := a.bury(p, n.Err == nil, now)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remove(p, now)
	p.ends.counters[endOfKind(v.Cause, v.Memory)]++
	a.self.count(selfEnded, 1)
	if a.sends(otlp.Logs) {
		a.records.put(p, otlp.OfEnd(endOf(&v), now))
	}
	if v.Cause == ledger.Exited || a.opts.Ended == nil {
		return false
	}
	a.opts.Ended(p.Process, &v)
	return true
}

// remove forgets a process that is no longer followed, and drops groups whose retention is over.
func (a *Agent) remove(p *process, now time.Time) {
	delete(a.processes, p.id)
	p.group.leave(p, now)
	p.ends.leave(p, now)
	a.expire(now)
}

// Why a process is no longer followed that has not ended, as far as can be seen. It is followed
// again as soon as it is found.
var (
	errBrokeOff     = errors.New("its events broke off, but the process runs: watching it again soon")
	errDisconnected = errors.New("the connection to its diagnostic port broke off; whether the process runs is not known")
)

// brokeOff returns why the events of a process ended without it, nil if the process has ended.
// err is why they ended without their end, or nil.
func (p *process) brokeOff(err error) error {
	var why error
	switch {
	case err == nil:
	case isRemote(p.Process):
		why = errDisconnected
	case p.memory.ending != nil && p.memory.ending.runs():
		why = errBrokeOff
	}
	if _, unread := errors.AsType[net.Error](err); why == nil || unread || errors.Is(err, live.ErrTruncated) {
		return why
	}
	return err // the events were not valid
}

// problem reports a failure of the agent.
func (a *Agent) problem(err error) {
	if a.opts.Problem != nil {
		a.opts.Problem(err)
	}
}

// judge updates the findings, and drops groups whose retention is over.
func (a *Agent) judge(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.processes {
		p.judge(now)
	}
	a.expire(now)
}
