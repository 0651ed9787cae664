package watch

import (
	"errors"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/live"
	"github.com/gctrail/gctrail/trace"
)

// A State is whether a process is watched, and why not.
type State uint8

const (
	Found   State = iota // not attached to, or not yet
	Watched              // its collections come in
	Ended                // it has ended, or its trace was ended by somebody else
)

// ErrTooMany is why a process that could be watched is not.
var ErrTooMany = errors.New("too many processes are already being watched")

// News is an event of a watch. At least one of Attached, Collection, Dropped, Lost, Ended
// and Err is set.
type News struct {
	ID      int // of this watching of the process
	Process *diag.Process

	Attached   bool
	Collection *Collection
	Phases     []*background.Collection
	Paused     []*request.Span // for each pause of the collection, or nil; see live.Update
	Dropped    int             // collections, for which Options.Each was too slow
	Lost       uint64          // events, for which the runtime had no room
	Ended      bool
	Err        error // why it ended, or cannot be watched
}

// A Collection is a collection that was seen live.
type Collection struct {
	*gc.Collection
	Process *diag.Process
	Start   time.Time // which the times of the collection count from
	Began   time.Time // the first pause, or another estimate of its beginning
	Ended   time.Time // an estimate of its end
}

// A row is the state of a process. The Watcher's lock guards it.
type row struct {
	id        int
	process   *diag.Process
	passing   bool // no collection is kept
	state     State
	err       error // why it cannot be watched, or why its trace ended
	following bool
	refusal   error     // of the latest attempt to attach; nil once it is the row's err
	refusedAt time.Time // when that attempt failed
	retry     time.Time // when to attach, if not at once
	fails     int
	doubts    int // how often it was found and could not be asked
	breaks    int // how often in a row its trace broke off soon

	attached time.Time
	ended    time.Time
	start    time.Time    // of the trace, which the times of collections count from
	found    findings.Set // empty where no collection is kept
	history  history
	requests requests
	latest   ring[*Collection]
	rate     allocation
	memory   memory
	dropped  int
	lost     uint64
	trace    recording
}

// seen records one process found by a scan that began at asked, and returns the reason why it
// cannot be watched, if that is new. The process must be found twice, because a process that
// starts has no socket yet. If a process does not answer now, its row stays unchanged.
func (r *row) seen(p *diag.Process, asked time.Time) (problem error) {
	if p.Info != nil || r.process.Info == nil {
		r.process = p
	}
	if p.Err == nil {
		r.doubts = 0
		return r.reached(asked)
	}
	if r.doubts++; r.doubts < 2 {
		return nil
	}
	return r.fail(p.Err)
}

// reached records that a scan that began at asked reached the process. It returns why an earlier
// attempt to attach failed, if that is new: until a later scan finds the process again, it may
// just be exiting, which makes attempts fail in many ways.
func (r *row) reached(asked time.Time) (problem error) {
	if r.fails == 0 {
		r.err = nil
	}
	if r.refusal == nil || asked.Before(r.refusedAt) {
		return nil
	}
	problem = r.fail(r.refusal)
	r.refusal = nil
	return problem
}

// fail records why the process cannot be watched, and returns it if it is new.
func (r *row) fail(err error) (problem error) {
	if r.err == nil || r.err.Error() != err.Error() {
		problem = err
	}
	r.err = err
	return problem
}

// follows makes the row one of a process that was watched before, and found again after its trace
// ended. Most such processes are exiting: their runtime has closed the trace, but not yet its
// socket. The process is attached to only if it still exists some time later, because then another
// client ended the trace. If traces break off soon again and again, as they do at a port with
// garbage behind it, that time becomes longer and longer: each trace costs the process something,
// and each is reported.
func (r *row) follows(before *row) {
	wait := Interval
	if before.err != nil && before.ended.Sub(before.attached) <= patience {
		wait = min(Interval<<before.breaks, patience)
		r.breaks = min(before.breaks+1, 10)
	}
	r.retry = before.ended.Add(wait)
}

// due reports whether a process is to be attached to.
func (r *row) due(now time.Time) bool {
	return r.state == Found && !r.following && r.process.Err == nil && !now.Before(r.retry)
}

// take processes news of a process that is followed.
func (r *row) take(u *live.Update, err error, now time.Time) []*News {
	if err != nil {
		r.refused(err, now)
		return nil
	}
	var news []*News
	if u.Dropped > 0 {
		r.dropped += u.Dropped
		r.rate = allocation{} // the allocations before the dropped collections are unknown
		news = append(news, &News{ID: r.id, Process: r.process, Dropped: u.Dropped})
	}
	switch u.Kind {
	case live.Attached:
		r.state, r.attached, r.err, r.refusal, r.fails = Watched, now, nil, nil, 0
		return append(news, &News{ID: r.id, Process: r.process, Attached: true})
	case live.Collected:
		r.start = u.Start
		if r.start.Before(r.attached) {
			r.attached = r.start // a busy runtime answers later than it begins
		}
		c := r.add(u.Collection)
		news = append(news, &News{ID: r.id, Process: r.process, Collection: c, Phases: u.Phases, Paused: u.Paused})
	case live.Ended:
		r.state, r.ended, r.err = Ended, now, u.Err
		if u.Traced != nil {
			r.found.Describe(u.Traced)
		}
		news = append(news, &News{ID: r.id, Process: r.process, Ended: true, Phases: u.Phases, Err: u.Err})
	}
	if u.Lost > r.lost {
		news = append(news, &News{ID: r.id, Process: r.process, Lost: u.Lost - r.lost})
	}
	r.lost = u.Lost
	return news
}

// refused records that a process could not be attached to, which is news once a later scan finds
// the process again. It is tried again, at longer and longer intervals.
func (r *row) refused(err error, now time.Time) {
	r.refusal, r.refusedAt = err, now
	r.retry = now.Add(min(Interval<<r.fails, patience))
	r.fails = min(r.fails+1, 10)
}

// add adds a collection.
func (r *row) add(col *gc.Collection) *Collection {
	c := &Collection{Collection: col, Process: r.process, Start: r.start}
	c.Began, c.Ended = r.times(col)
	if r.passing {
		return c
	}
	r.found.Add(col)
	r.latest.add(c, Recent)
	r.history.add(c, r.start)
	r.rate.add(c)
	return c
}

// times returns the time when a collection began and ended, estimated if it was not seen.
func (r *row) times(c *gc.Collection) (began, ended time.Time) {
	first, last := c.PauseStart, c.End
	if !first.Known() {
		first = c.Start
	}
	for i := range c.Pauses {
		p := &c.Pauses[i]
		if end := p.End(); !last.Known() || end > last.Or(0) {
			last = gc.Some(end)
		}
	}
	if !first.Known() {
		first = last
	}
	if !last.Known() {
		last = first
	}
	return r.start.Add(first.Or(0)), r.start.Add(last.Or(0))
}

// until returns the time up to which the process was watched.
func (r *row) until(now time.Time) time.Time {
	if r.state == Ended {
		return r.ended
	}
	return now
}

// judged returns the findings up to a time, nil without a collection. The time since the
// last collection counts as time without pauses.
func (r *row) judged(at time.Time) *findings.Result {
	for _, result := range r.found.Judge(findings.Trace{
		Keywords: clr.KeywordGC, Until: gc.Some(at.Sub(r.start)),
		Loss: trace.Loss{Events: r.lost, Exactness: trace.Exact, Truncated: r.state == Ended && r.err != nil},
	}) {
		return &result
	}
	return nil
}
