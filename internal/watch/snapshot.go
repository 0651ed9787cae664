package watch

import (
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/proc"
	"github.com/gctrail/gctrail/internal/text"
)

// A Snapshot is the state of a watch at one time. It does not change.
type Snapshot struct {
	Now       time.Time
	Looked    bool // the machine was looked over
	Processes []*Process
}

// A Process describes a process. Its figures begin when the Watcher attached to it.
type Process struct {
	*diag.Process
	findings.Result // zero before the first collection; without its Case, which changes

	ID       int // of this watching of it
	State    State
	Problem  error // why it is not watched, does not answer now, or ended otherwise than by itself
	Attached time.Time

	Collections  int
	ByGeneration [3]int
	Paused       gc.Opt[float64]       // percent of the last Window
	PausedInAll  gc.Opt[float64]       // percent; unknown if events were lost
	Pauses       gc.Opt[time.Duration] // the sum of all that PausedInAll is of
	Span         time.Duration         // of which PausedInAll is a share
	Longest      gc.Opt[time.Duration]
	P99          gc.Opt[time.Duration]
	Rate         float64           // collections a second, in the last Window
	Allocating   stats.Rate        // between the collections of about the last Window
	Last         *Collection       // the latest
	Heap         stats.Heap        // according to its collections
	Sized        *Collection       // the latest with sizes of the generations
	Memory       proc.MemorySample // the latest; of Options.Memory
	Recent       []*Collection     // oldest first
	Requests     *Requests         // of Options.Requests; nil if none has ended lately
	History      []Second          // oldest first, up to that of Until
	Until        time.Time         // up to when it was watched
	Dropped      int               // collections that are counted in no figure
	Lost         uint64            // events
	Whole        bool              // nothing was cut off the trace
}

// Snapshot returns the present state.
func (w *Watcher) Snapshot() *Snapshot {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	return &Snapshot{Now: now, Looked: w.listed, Processes: text.Each(w.rows, func(r **row) *Process { return (*r).snapshot(now) })}
}

func (r *row) snapshot(now time.Time) *Process {
	until := r.until(now)
	p := &Process{
		Process: r.process, ID: r.id, State: r.state, Problem: r.err, Attached: r.attached,
		Until: until, Recent: r.latest.list(), History: r.history.until(until), Allocating: r.rate.at(until),
		Memory: r.memory.latest, Dropped: r.dropped, Lost: r.lost, Whole: !r.trace.cut,
	}
	if n := len(p.Recent); n > 0 {
		p.Last = p.Recent[n-1]
	}
	for _, c := range p.Recent {
		if c.Generations != nil {
			p.Sized = c
		}
	}
	if judged := r.judged(until); judged != nil {
		p.PausedInAll = judged.PauseShare()
		p.Span = judged.Summary.Watched()
		p.sum(&judged.Summary)
		p.Result = *judged
		p.Case = nil
	}
	p.Requests = r.requests.sum(until, r.attached)
	r.rates(p)
	return p
}

// sum fills in the figures of all collections.
func (p *Process) sum(s *stats.Summary) {
	all := s.All()
	p.Heap = s.Heap
	p.Collections = all.Count
	for g := range p.ByGeneration {
		p.ByGeneration[g] = s.Generation(g).Count
	}
	if all.Pause.Count() > 0 {
		p.Pauses = gc.Some(all.Pause.Sum())
		p.Longest = gc.Some(all.Pause.Max())
		p.P99 = gc.Some(all.Pause.Percentile(99))
	}
}

// rates fills in the figures of the last Window.
func (r *row) rates(p *Process) {
	if r.attached.IsZero() {
		return
	}
	const window = int(Window / time.Second)
	span := p.Until.Sub(p.Until.Truncate(time.Second)) + Window - time.Second
	if watched := p.Until.Sub(r.attached); watched < span {
		span = watched
	}
	var paused time.Duration
	n := 0
	for _, s := range p.History[Seconds-window:] {
		paused += s.Pause
		n += s.Collections
	}
	if span > 0 {
		p.Paused = gc.Some(min(100, 100*float64(paused)/float64(span)))
		p.Rate = float64(n) / span.Seconds()
	}
}

// Counts are the numbers of a Watcher's processes by state.
type Counts struct {
	Looked  bool // the machine was looked over
	Watched int
	Failed  int // cannot be watched
	Waiting int // not attached to yet
}

// Counts returns how many processes are watched now.
func (w *Watcher) Counts() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := Counts{Looked: w.listed}
	for _, r := range w.rows {
		switch {
		case r.state == Watched:
			c.Watched++
		case r.state == Found && r.err != nil:
			c.Failed++
		case r.state == Found:
			c.Waiting++
		}
	}
	return c
}
