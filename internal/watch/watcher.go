package watch

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/live"
)

// Options select the processes to watch. The zero value means every .NET process of this
// machine.
type Options struct {
	// Wants reports whether to watch a process; nil watches all. The Watcher does not
	// attach to the others.
	Wants func(*diag.Process) bool
	// UntilEnded makes Run return when processes were found, and all of them have ended.
	UntilEnded bool
	// Each, if not nil, is called with all news, one after the other. If it is slow,
	// collections of a process are dropped here and counted, so that the runtime does not
	// lose them uncounted.
	Each func(*News)
	// Max is how many processes to attach to at the same time; 0 means MaxFollowed.
	Max int
	// Interval is how often to look for new processes; 0 means Interval.
	Interval time.Duration
	// Passing retains nothing of a collection after the call of Each: snapshots have no
	// figures, and no trace can be saved.
	Passing bool
	// Poll, if not 0, is how often sessions are looked at for events, as in live.Options.
	Poll time.Duration
	// Retain is how many collections each finding names, as in findings.Options.
	Retain int
	// PerHeap adds the figures of each heap to collections.
	PerHeap bool
	// Phases adds the phases of background collections to news.
	Phases bool
	// Requests adds the requests that pauses stopped to news, and figures of requests to
	// snapshots unless Passing is set.
	Requests bool
	// Memory makes the watcher read the system's figures on the processes' memory every
	// second (Linux).
	Memory bool
	// Processors makes the watcher read the processor time of each process every second
	// (Linux), for findings and saved traces.
	Processors bool
	// Source is where processes and collections come from.
	Source Source
}

// A Source finds processes and their collections. The zero Source is this machine.
type Source struct {
	List   func(context.Context) []*diag.Process                                             // as diag.Lister does
	Follow func(context.Context, *diag.Process, live.Options) iter.Seq2[*live.Update, error] // as live.Follow does
	// Arrivals, which may be nil, finds processes as they start, as diag.Lister does.
	Arrivals func(context.Context, func(*diag.Process))
}

// complete returns the source, with the functions of this machine where it has none.
func (s Source) complete() Source {
	if s.List == nil {
		lister := diag.NewLister()
		s.List, s.Arrivals = lister.List, lister.Arrivals
	}
	if s.Follow == nil {
		s.Follow = live.Follow
	}
	return s
}

const (
	// Interval is how often to look for new processes, unless Options.Interval is set.
	Interval = 2 * time.Second
	// MaxFollowed is how many processes to attach to at the same time, unless Options.Max
	// is set. Further ones are only listed.
	MaxFollowed = 64
	// maxEnded is how many ended processes are retained.
	maxEnded = 8
	// queued bounds the collections of a process that wait for Options.Each.
	queued = 512
	// patience is the longest interval between attempts to attach to a process.
	patience = time.Minute
)

// A Watcher watches processes. Its methods may be called by several goroutines.
type Watcher struct {
	opts Options

	mu     sync.Mutex
	rows   []*row // in the order in which they were found
	listed bool
	met    int // processes, so far
	failed error

	notifying sync.Mutex
	running   sync.WaitGroup
}

// New returns a Watcher that does nothing before Run.
func New(opts Options) *Watcher {
	opts.Source = opts.Source.complete()
	opts.Interval = cmp.Or(opts.Interval, Interval)
	opts.Max = cmp.Or(opts.Max, MaxFollowed)
	return &Watcher{opts: opts}
}

// Run watches until ctx ends. Before it returns, it asks all runtimes to end their
// traces, and gives them time to do so. If one of the watcher's goroutines panics, Run
// panics.
func (w *Watcher) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	if w.opts.Source.Arrivals != nil {
		w.running.Go(func() {
			defer w.survive(cancel)
			w.opts.Source.Arrivals(ctx, func(p *diag.Process) { w.arrived(ctx, cancel, p) })
		})
	}
	if w.opts.Memory {
		w.running.Go(func() {
			defer w.survive(cancel)
			w.measureMemory(ctx)
		})
	}
	tick := time.NewTicker(w.opts.Interval)
	for w.look(ctx, cancel) {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	tick.Stop()
	cancel()
	w.running.Wait()
	if w.failed != nil {
		panic(w.failed)
	}
}

// look looks for processes once, and reports whether to do so again.
func (w *Watcher) look(ctx context.Context, cancel func()) bool {
	if ctx.Err() != nil {
		return false
	}
	asked := time.Now()
	found := w.opts.Source.List(ctx)
	if ctx.Err() != nil {
		return false
	}
	w.mu.Lock()
	found = slices.DeleteFunc(found, func(p *diag.Process) bool { return w.endedSince(asked, p) })
	begin, news := w.match(found, asked, time.Now())
	over := w.opts.UntilEnded && w.over()
	w.mu.Unlock()
	w.notify(news...)
	w.attach(ctx, cancel, begin)
	return !over
}

// arrived processes a process that has just started.
func (w *Watcher) arrived(ctx context.Context, cancel func(), p *diag.Process) {
	if ctx.Err() != nil || w.opts.Wants != nil && !w.opts.Wants(p) {
		return
	}
	w.mu.Lock()
	var begin []*row
	if !slices.ContainsFunc(w.rows, func(r *row) bool { return same(r.process, p) }) {
		w.add(p)
		begin = w.due(time.Now())
	}
	w.mu.Unlock()
	w.attach(ctx, cancel, begin)
}

// attach begins to follow processes.
func (w *Watcher) attach(ctx context.Context, cancel func(), begin []*row) {
	for _, r := range begin {
		w.running.Go(func() {
			defer w.survive(cancel)
			w.follow(ctx, r)
			w.attach(ctx, cancel, w.released(ctx, r))
		})
	}
}

// released records that a process is no longer followed, and returns the rows to attach
// to in its place.
func (w *Watcher) released(ctx context.Context, r *row) []*row {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.following = false
	if ctx.Err() != nil {
		return nil
	}
	return w.due(time.Now())
}

// add makes the row of a process.
func (w *Watcher) add(p *diag.Process) *row {
	w.met++
	r := &row{id: w.met, process: p, passing: w.opts.Passing, found: findings.Set{Options: findings.Options{Retain: w.opts.Retain}}}
	for _, before := range w.rows {
		if before.state == Ended && same(before.process, p) {
			r.follows(before)
		}
	}
	w.rows = append(w.rows, r)
	return r
}

// survive stores the panic of a goroutine for Run.
func (w *Watcher) survive(cancel func()) {
	if v := recover(); v != nil {
		w.mu.Lock()
		w.failed = fmt.Errorf("%v\n\n%s", v, debug.Stack())
		w.mu.Unlock()
		cancel()
	}
}

// match compares the rows with the processes that were found by a scan that began at asked, and
// returns the rows to attach to now.
func (w *Watcher) match(found []*diag.Process, asked, now time.Time) (begin []*row, news []*News) {
	w.listed = true
	present := make(map[*row]bool)
	for _, p := range found {
		if w.opts.Wants != nil && !w.opts.Wants(p) {
			continue
		}
		r := w.find(p)
		if r == nil {
			r = w.add(p)
		}
		present[r] = true
		if problem := r.seen(p, asked); problem != nil {
			news = append(news, &News{ID: r.id, Process: p, Err: problem})
		}
	}
	w.forget(present)
	return w.due(now), news
}

// due returns the rows of the processes to attach to now, and marks them.
func (w *Watcher) due(now time.Time) (begin []*row) {
	followed := 0
	for _, r := range w.rows {
		if r.following {
			followed++
		}
	}
	for _, r := range w.rows {
		if !r.due(now) {
			continue
		}
		if followed == w.opts.Max {
			r.err = ErrTooMany
			continue
		}
		followed++
		r.following = true
		begin = append(begin, r)
	}
	return begin
}

// endedSince reports whether a process has ended since a time.
func (w *Watcher) endedSince(t time.Time, p *diag.Process) bool {
	return slices.ContainsFunc(w.rows, func(r *row) bool {
		return r.state == Ended && !r.ended.Before(t) && same(r.process, p)
	})
}

func (w *Watcher) find(p *diag.Process) *row {
	for _, r := range w.rows {
		if r.state != Ended && same(r.process, p) {
			return r
		}
	}
	return nil
}

// sameStart is how much two start times of the same process may differ. They differ,
// because they are computed from clocks that are not read at the same moment.
const sameStart = 5 * time.Second

// same reports whether a process was found again.
func same(a, b *diag.Process) bool {
	switch {
	case a.Info != nil && b.Info != nil:
		return a.Info.Cookie == b.Info.Cookie
	case a.PID != 0 || b.PID != 0:
		return a.PID == b.PID && a.Started.Sub(b.Started).Abs() < sameStart
	default:
		return a.InnerPID == b.InnerPID && a.Address == b.Address
	}
}

// forget drops the rows of processes that ended without having been watched, and the
// oldest of the other ended ones.
func (w *Watcher) forget(present map[*row]bool) {
	ended := 0
	for _, r := range w.rows {
		if r.state == Ended {
			ended++
		}
	}
	w.rows = slices.DeleteFunc(w.rows, func(r *row) bool {
		if r.state == Ended {
			ended--
			return ended >= maxEnded
		}
		return !r.following && !present[r]
	})
}

// over reports whether all known processes have ended.
func (w *Watcher) over() bool {
	return w.met > 0 && !slices.ContainsFunc(w.rows, func(r *row) bool { return r.state != Ended })
}

// follow processes the collections of a process until it ends.
func (w *Watcher) follow(ctx context.Context, r *row) {
	w.mu.Lock()
	process := r.process
	w.mu.Unlock()
	opts := live.Options{Queue: queued, Poll: w.opts.Poll, PerHeap: w.opts.PerHeap, Phases: w.opts.Phases, Requests: w.opts.Requests}
	if w.opts.Processors {
		opts.Through = throughHost
	}
	if w.opts.Requests && !w.opts.Passing {
		opts.Served = func(s *request.Span) {
			w.mu.Lock()
			r.requests.add(s, time.Now())
			w.mu.Unlock()
		}
	}
	if !w.opts.Passing {
		opts.Tap = func(*diag.Process) io.Writer { return recorder{w, r} }
	}
	for u, err := range w.opts.Source.Follow(ctx, process, opts) {
		w.mu.Lock()
		news := r.take(u, err, time.Now())
		w.mu.Unlock()
		w.notify(news...)
	}
}

func (w *Watcher) notify(news ...*News) {
	if w.opts.Each == nil {
		return
	}
	w.notifying.Lock()
	defer w.notifying.Unlock()
	for _, n := range news {
		w.opts.Each(n)
	}
}
