package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/nettrace"
)

// Options configure how a process is followed. The zero value is ready for use.
type Options struct {
	// Config selects the events to collect; without providers, it is Collections().
	Config diag.Config
	// Reattach makes Follow wait, when the process has ended, for the next one of
	// the same name.
	Reattach bool
	// Queue is how many updates wait for a slow caller before the oldest
	// collections are dropped; 0 means 1024, which is about 2 MB.
	Queue int
	// Tap, if not nil, is called at the start of each trace, and returns a writer for a
	// copy of its bytes, which make a .nettrace file, or nil for none. An error of the
	// writer ends the copy only.
	Tap func(*diag.Process) io.Writer
	// Through, if not nil, is called at the start of each trace, and returns a reader of
	// its bytes that may add events to them. Collections and Tap then get these too. ctx
	// is done when the trace has ended.
	Through func(ctx context.Context, process *diag.Process, trace io.Reader) io.Reader
	// Poll, if not 0, is how often a session is looked at for events, as in diag.Session.Poll.
	// It delays updates, and saves a caller that follows many processes from being woken by
	// each of them ten times a second.
	Poll time.Duration
	// PerHeap makes collections have their PerHeap.
	PerHeap bool
	// Phases makes updates have their Phases.
	Phases bool
	// Requests makes the process raise events of its requests, and updates have Paused.
	Requests bool
	// Served, if not nil, is called with each request that ends, while the trace is read, if
	// Requests is set; see request.Follower. The span is valid during the call.
	Served func(*request.Span)
}

// Collections returns a config that raises the events for the figures of collections at
// the least cost: dotnet-trace's profile gc-collect, without stacks, and the pauses that
// newer runtimes time themselves.
func Collections() diag.Config {
	const informational = 4
	return diag.Config{
		BufferMB: 64,
		Rundown:  diag.RundownGC,
		NoStacks: true,
		Providers: []diag.Provider{
			{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC | clr.KeywordGCPause, Level: informational},
			{Name: clr.PrivateProvider, Keywords: clr.KeywordGCPrivate, Level: informational},
		},
	}
}

// An Update is news of a process. The caller may retain and change it, except
// for Process.
type Update struct {
	Kind    Kind
	Process *diag.Process // not to be changed
	// Dropped is how many collections before this update were dropped because
	// the caller was too slow.
	Dropped int

	// Collection is set if Kind is Collected. Its times count from Start; its
	// process has what is known so far, and the PID of Process.
	Collection *gc.Collection
	Start      time.Time

	// Phases are the phases of the background collections that ended since the update
	// before, if Options.Phases is set.
	Phases []*background.Collection

	// Paused has for each of the collection's pauses the longest of the requests that were
	// open and that it paused, of 64 at most, or nil; it is set if Options.Requests is. Of a
	// request, it has what is known at its start.
	Paused []*request.Span

	// Lost is the known number of events that the runtime dropped for lack of
	// room. Late is the number that came too late for their collection.
	Lost, Late uint64
	// Traced is the process by all events of its trace, if Kind is Ended: the settings of the
	// GC come at the end. It is nil without a collection.
	Traced *gc.Process
	// Err is why the trace of an update of kind Ended has no end: ErrTruncated,
	// or an error of reading. It is nil if the runtime closed it.
	Err error
}

// Kind is the subject of an Update.
type Kind uint8

const (
	Attached  Kind = iota + 1 // the process raises events from now on
	Collected                 // a collection is finished
	Ended                     // no more events will come from this process
)

var kindNames = [...]string{0: "Kind(0)", Attached: "attached", Collected: "collected", Ended: "ended"}

func (k Kind) String() string { return units.Name("Kind", kindNames[:], k) }

// ErrTruncated reports a trace that ended without its end: the process was killed.
var ErrTruncated = errors.New("the process ended without closing its trace")

const (
	defaultQueue = 1024
	// idle is how long events wait for older ones: the runtime writes every 100 ms.
	idle = 250 * time.Millisecond
	// endTimeout is how long a process may take to end its trace when the caller
	// wants no more.
	endTimeout = 3 * time.Second
)

// Follow attaches to a process and yields its collections in order of their start, each
// as soon as it and its predecessors are finished. Follow reads from the process whether
// or not the caller keeps up, so that the process never loses events because of a slow
// caller.
//
// When ctx ends, Follow asks the runtime to end the trace, and yields what it still
// holds. When the caller stops ranging, it does the same without yielding. If the process
// cannot be attached to, Follow yields one error, last. A panic of the reading goroutine,
// or of Tap, propagates to the caller.
func Follow(ctx context.Context, process *diag.Process, opts Options) iter.Seq2[*Update, error] {
	if len(opts.Config.Providers) == 0 {
		opts.Config = Collections()
	}
	if opts.Requests {
		opts.Config.Providers = append(slices.Clip(opts.Config.Providers), Requests())
	}
	opts.Queue = cmp.Or(opts.Queue, defaultQueue)
	return func(yield func(*Update, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		f := &follower{opts: opts, process: process, out: newQueue(opts.Queue)}
		var failed error
		var panicked any
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer f.out.close()
			defer func() {
				if v := recover(); v != nil {
					panicked = fmt.Errorf("%v\n\n%s", v, debug.Stack())
				}
			}()
			failed = f.run(ctx)
		}()
		defer func() {
			cancel()
			<-done
			if panicked != nil {
				panic(panicked)
			}
		}()
		for {
			u := f.out.next()
			if u == nil {
				break
			}
			if !yield(u, nil) {
				return
			}
		}
		<-done
		if failed != nil {
			yield(nil, failed)
		}
	}
}

// A follower follows one process after the other.
type follower struct {
	opts    Options
	process *diag.Process
	out     *queue
}

func (f *follower) run(ctx context.Context) error {
	for first := true; ; first = false {
		session, err := f.process.Client().Collect(ctx, f.opts.Config)
		switch {
		case ctx.Err() != nil:
			if session != nil {
				session.Close()
			}
			return nil
		case err == nil:
			if f.opts.Poll > 0 {
				session.Poll(f.opts.Poll)
			}
			f.read(ctx, session)
		case first:
			return err
		}
		if !f.opts.Reattach || !f.next(ctx) {
			return nil
		}
	}
}

// read yields the collections of one trace.
func (f *follower) read(ctx context.Context, session *diag.Session) {
	f.out.push(&Update{Kind: Attached, Process: f.process})
	end := session.EndWith(ctx, endTimeout)
	defer func() { _ = end() }() // a runtime that does not end the trace is left
	reading, done := context.WithCancel(ctx)
	defer done()
	m := gc.Model{Live: true, PerHeap: f.opts.PerHeap}
	var models []pass.Model
	var phases []*background.Collection // ended, not yet yielded
	if f.opts.Phases {
		models = append(models, &background.Model{Done: func(c *background.Collection) { phases = append(phases, c) }})
	}
	var requests *paused
	if f.opts.Requests {
		requests = newPaused(f.opts.Served)
		models = append(models, requests.follower.Models()...)
	}
	r := nettrace.NewReader(f.input(reading, session), nettrace.Options{Want: pass.Wants(append(models, &m)...), Idle: idle})
	var failed error
	var traced *gc.Process
	for c, err := range m.Collections(r, models...) {
		if err != nil {
			failed = err
			break
		}
		traced = c.Process
		c.Process = f.identify(traced)
		u := &Update{Kind: Collected, Process: f.process, Collection: c, Start: r.Info().Start, Phases: phases, Lost: r.Loss().Events, Late: r.Loss().Late}
		if requests != nil {
			u.Paused = requests.by(c)
		}
		f.out.push(u)
		phases = nil
	}
	if failed == nil && r.Loss().Truncated {
		failed = ErrTruncated
	}
	if traced != nil {
		traced = f.identify(traced)
	}
	f.out.push(&Update{Kind: Ended, Process: f.process, Traced: traced, Phases: phases, Lost: r.Loss().Events, Late: r.Loss().Late, Err: failed})
}

// identify adds diag's information about the process to a copy of the information from
// its events.
func (f *follower) identify(p *gc.Process) *gc.Process {
	p = p.Snapshot()
	if f.process.PID != 0 {
		p.PID = uint64(f.process.PID)
	}
	if on := f.process.GC.Server.Bool(); on != nil && !p.Server.Known() {
		p.Server = gc.Some(*on)
	}
	info := f.process.Info
	if info == nil {
		return p
	}
	if p.Name == "" {
		p.Name, p.CommandLine = info.Name(), info.CommandLine
	}
	if p.Runtime == "" && info.RuntimeVersion != "" {
		p.Runtime = ".NET " + info.RuntimeVersion
	}
	if p.OS == "" {
		p.OS, p.Arch = info.OS, info.Arch
	}
	return p
}

// An input reads a session, directly or through another reader, and copies the bytes that
// it reads.
type input struct {
	*diag.Session
	from io.Reader
	to   io.Writer // nil if there is no copy
}

func (f *follower) input(ctx context.Context, session *diag.Session) io.Reader {
	in := &input{Session: session, from: session}
	if f.opts.Through != nil {
		in.from = f.opts.Through(ctx, f.process, session)
	}
	if f.opts.Tap != nil {
		in.to = f.opts.Tap(f.process)
	}
	return in
}

func (in *input) Read(p []byte) (int, error) {
	n, err := in.from.Read(p)
	if n > 0 && in.to != nil {
		if _, err := in.to.Write(p[:n]); err != nil {
			in.to = nil
		}
	}
	return n, err
}
