package join

import (
	"cmp"
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
)

// The phases that do not end with a join.
const (
	PhaseSuspend = "suspend" // until the program's threads are suspended
	PhaseRestart = "restart" // after the last join
)

// A Collection describes the activities of the heaps' threads in a collection's pauses.
type Collection struct {
	PID      uint64 // trace.UnknownID if unknown
	Instance uint16
	Number   uint32
	Start    time.Duration // of its first pause
	Pause    time.Duration // of all its pauses
	Rows     []Row         // by heap, then in the order of the phases
}

// A Row is one phase of one heap. Working, Waiting and Waking of a heap's rows
// add up to the collection's pause.
type Row struct {
	Heap    uint32
	Phase   string
	Working time.Duration
	Waiting time.Duration // for the last thread to arrive, and while that thread works alone
	Waking  time.Duration // from the restart until the thread runs
	Last    int           // how often the heap was the last to arrive
	// WaitedFor is the total time that other heaps waited for this one.
	WaitedFor time.Duration
}

// Add adds o to r.
func (r *Row) Add(o *Row) {
	r.Working += o.Working
	r.Waiting += o.Waiting
	r.Waking += o.Waking
	r.Last += o.Last
	r.WaitedFor += o.WaitedFor
}

// Heaps returns the number of heaps whose threads met in joins.
func (c *Collection) Heaps() int {
	n := 0
	for i := range c.Rows {
		if i == 0 || c.Rows[i].Heap != c.Rows[i-1].Heap {
			n++
		}
	}
	return n
}

// Straggler returns the heap that others waited for longest, and how long they
// did; false if there was no waiting.
func (c *Collection) Straggler() (heap uint32, held time.Duration, ok bool) {
	byHeap := make(map[uint32]time.Duration)
	for i := range c.Rows {
		byHeap[c.Rows[i].Heap] += c.Rows[i].WaitedFor
	}
	for h, d := range byHeap {
		if d > held || d == held && ok && h < heap {
			heap, held, ok = h, d, true
		}
	}
	return heap, held, ok && held > 0
}

// merge adds the rows of another pause.
func (c *Collection) merge(o *Collection) {
	c.Pause += o.Pause
	for i := range o.Rows {
		c.add(&o.Rows[i])
	}
	c.sort()
}

// add adds to a row. Rows of one heap are added one after the other: the row is near the end.
func (c *Collection) add(r *Row) {
	for i := len(c.Rows) - 1; i >= 0; i-- {
		if of := &c.Rows[i]; of.Heap == r.Heap && of.Phase == r.Phase {
			of.Add(r)
			return
		}
	}
	c.Rows = append(c.Rows, *r)
}

func (c *Collection) sort() {
	slices.SortStableFunc(c.Rows, func(a, b Row) int { return cmp.Compare(a.Heap, b.Heap) })
}

// A state is the activity of a thread. If a heap has several threads, the highest state
// counts.
type state uint8

const (
	waiting state = iota
	waking
	working
)

// A segment is a stretch of a thread's time in a window.
type segment struct {
	from, to time.Duration
	state    state
	phase    string
}

// A thread is one of a heap in a window.
type thread struct {
	tid      uint64
	heap     uint32
	state    state
	stage    clr.JoinStage // of the join that it waits in, or came last to
	last     bool          // it came last, and has not woken the others yet
	since    time.Duration
	segments []segment
	named    int // segments whose phase is known
	lasts    []arrival
}

// An arrival is a thread's coming last to a join.
type arrival struct {
	at    time.Duration
	phase string
	held  time.Duration // of the waiting threads
}

// to ends the thread's current state.
func (t *thread) to(now time.Duration, next state) {
	if now > t.since {
		t.segments = append(t.segments, segment{from: t.since, to: now, state: t.state})
	}
	t.state, t.since = next, now
}

// name assigns a phase to the segments since the last join.
func (t *thread) name(phase string) {
	for ; t.named < len(t.segments); t.named++ {
		t.segments[t.named].phase = phase
	}
}

// collections splits a window that the thread of ev ends among its collections.
func (w *window) collections(r *replay, rt *runtime, ev *pass.Event) []*Collection {
	end := ev.Time
	if w.tooMany || len(w.events) == 0 || !w.owner.Known && len(w.spans) == 0 || end < w.from {
		return nil
	}
	threads := w.run(r, end, ev.TID)
	slices.SortStableFunc(threads, func(a, b *thread) int { return cmp.Compare(a.heap, b.heap) })
	var all []*Collection
	for _, part := range w.parts(end) {
		i := slices.IndexFunc(all, func(c *Collection) bool { return c.Number == part.number })
		if i < 0 {
			i = len(all)
			c := r.newCollection()
			c.PID, c.Instance, c.Number, c.Start = rt.pid, rt.instance, part.number, part.from
			all = append(all, c)
		}
		c := all[i]
		c.Pause += part.to - part.from
		for rest := threads; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].heap == rest[0].heap {
				n++
			}
			r.addHeap(c, rest[:n], part)
			rest = rest[n:]
		}
	}
	for _, c := range all {
		c.sort()
	}
	return all
}

// parts returns the stretches of the window with the collections they belong
// to.
func (w *window) parts(end time.Duration) []span {
	var parts []span
	from := w.from
	for i, s := range w.spans {
		if s.to == 0 || s.to > end {
			s.to = end
		}
		if w.owner.Known {
			parts = append(parts, span{w.owner.Number, from, s.from}, s)
			from = s.to
			continue
		}
		s.from = from
		if i+1 < len(w.spans) {
			s.to = max(w.spans[i+1].from, from)
		} else {
			s.to = end
		}
		parts = append(parts, s)
		from = s.to
	}
	if w.owner.Known {
		parts = append(parts, span{w.owner.Number, from, end})
	}
	return slices.DeleteFunc(parts, func(s span) bool { return s.to <= s.from })
}

// A replay is the memory in which one window after the other is replayed.
type replay struct {
	threads []*thread
	byTID   map[uint64]*thread
	free    []*thread
	cuts    []time.Duration
	next    []int       // by thread of a heap, its first segment that is not over
	over    *Collection // a collection whose memory the next uses
}

// newCollection returns an empty collection.
func (r *replay) newCollection() *Collection {
	c := r.over
	if c == nil {
		return new(Collection)
	}
	r.over = nil
	*c = Collection{Rows: c.Rows[:0]}
	return c
}

// reset frees the threads of the previous window.
func (r *replay) reset() {
	if r.byTID == nil {
		r.byTID = make(map[uint64]*thread)
	}
	clear(r.byTID)
	r.free = append(r.free, r.threads[:min(len(r.threads), maxThreads-min(maxThreads, len(r.free)))]...)
	clear(r.threads)
	r.threads = r.threads[:0]
}

// newThread returns an empty thread.
func (r *replay) newThread() *thread {
	n := len(r.free)
	if n == 0 {
		return new(thread)
	}
	t := r.free[n-1]
	r.free = r.free[:n-1]
	*t = thread{segments: t.segments[:0], lasts: t.lasts[:0]}
	return t
}

// run replays the events of the window, thread by thread. The threads are valid until the
// next call.
func (w *window) run(r *replay, end time.Duration, restarter uint64) []*thread {
	r.reset()
	for i := range w.events {
		e := &w.events[i]
		t := r.byTID[e.tid]
		if t == nil {
			t = r.newThread()
			w.begin(t, e, r.threads)
			r.byTID[e.tid] = t
			r.threads = append(r.threads, t)
		}
		if e.typ == clr.JoinTypeRestart {
			if e.begin && t.last {
				t.last = false
				wake(r.threads, t, e.at)
			}
			continue
		}
		t.heap = e.heap
		t.step(e)
	}
	for _, t := range r.threads {
		if t.state == working && t.tid != restarter && t.stage == clr.JoinStageDone && !t.last {
			t.state = waiting
		}
		t.to(end, t.state)
		t.name(PhaseRestart)
	}
	r.threads = slices.DeleteFunc(r.threads, func(t *thread) bool { return t.heap >= maxHeaps })
	return r.threads
}

// begin begins the account of a thread with its first event. The first thread
// of a heap works from the suspension on. Another one of the heap, as of a
// background collection, begins when that one has come to wait.
func (w *window) begin(t *thread, e *event, others []*thread) {
	t.tid, t.heap, t.state, t.since = e.tid, e.heap, waiting, w.from
	if e.typ == clr.JoinTypeRestart {
		t.heap = maxHeaps
	}
	if a, ok := w.before[e.tid]; ok {
		t.heap, t.stage, t.last = a.heap, a.join, a.last
		if a.open {
			return
		}
	}
	begins, first := min(w.all, e.at), true
	for _, o := range others {
		if o.heap == t.heap && o.heap < maxHeaps {
			first = false
			begins = e.at
			if o.state == waiting {
				begins = o.since
			}
		}
	}
	if e.tid == w.tid {
		t.state = working
	}
	t.to(begins, working)
	t.name(PhaseSuspend)
	if first && e.tid != w.tid && e.stage == clr.JoinStageGenerationDetermined {
		t.state = waking
	}
}

// step takes a thread through the start or the end of a join.
func (t *thread) step(e *event) {
	phase := e.stage.String()
	switch arrives := e.typ == clr.JoinTypeLastJoin || e.typ == clr.JoinTypeFirstReverseJoin; {
	case e.begin && arrives:
		t.to(e.at, working)
		t.name(phase)
		t.stage, t.last = e.stage, true
		t.lasts = append(t.lasts, arrival{at: e.at, phase: phase})
	case e.begin:
		t.to(e.at, waiting)
		t.name(phase)
		t.stage, t.last = e.stage, false
	default:
		t.to(e.at, working)
		t.name(phase)
		t.stage, t.last = e.stage, false
	}
}

// wake ends the waiting of the threads in the join that t came last to. The work of t
// alone until then belongs to that join's phase.
func wake(threads []*thread, t *thread, now time.Duration) {
	t.to(now, working)
	t.name(t.stage.String())
	var came *arrival
	if n := len(t.lasts); n > 0 {
		came = &t.lasts[n-1]
	}
	for _, o := range threads {
		if o == t || o.state != waiting || o.stage != t.stage {
			continue
		}
		if came != nil {
			came.held += max(0, came.at-o.since)
		}
		o.to(now, waking)
	}
}

// addHeap adds up the activities of a heap's threads in a part of the window.
func (r *replay) addHeap(c *Collection, threads []*thread, part span) {
	heap := threads[0].heap
	if len(threads) == 1 { // as of most heaps, in all but background collections
		for i := range threads[0].segments {
			s := &threads[0].segments[i]
			c.addTime(heap, s, max(s.from, part.from), min(s.to, part.to))
		}
	} else {
		r.addThreads(c, threads, part)
	}
	for _, t := range threads {
		for _, a := range t.lasts {
			if part.from <= a.at && a.at < part.to {
				c.add(&Row{Heap: heap, Phase: a.phase, Last: 1, WaitedFor: a.held})
			}
		}
	}
}

// addThreads adds the activities of several threads of a heap: at any time, of the one in
// the highest state.
func (r *replay) addThreads(c *Collection, threads []*thread, part span) {
	cuts := r.cuts[:0]
	for _, t := range threads {
		for _, s := range t.segments {
			cuts = append(cuts, s.from, s.to)
		}
	}
	cuts = append(cuts, part.from, part.to)
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	next := append(r.next[:0], make([]int, len(threads))...)
	r.cuts, r.next = cuts, next
	for i := 1; i < len(cuts); i++ {
		from, to := cuts[i-1], cuts[i]
		if from < part.from || to > part.to {
			continue
		}
		var best *segment
		for k, t := range threads {
			for next[k] < len(t.segments) && t.segments[next[k]].to <= from {
				next[k]++
			}
			if next[k] == len(t.segments) || t.segments[next[k]].from > from {
				continue
			}
			if s := &t.segments[next[k]]; best == nil || s.state > best.state {
				best = s
			}
		}
		if best != nil {
			c.addTime(threads[0].heap, best, from, to)
		}
	}
}

// addTime adds the time from from to to, in which a thread of a heap was in a segment.
func (c *Collection) addTime(heap uint32, s *segment, from, to time.Duration) {
	if from >= to {
		return
	}
	row := Row{Heap: heap, Phase: s.phase}
	switch s.state {
	case working:
		row.Working = to - from
	case waking:
		row.Waking = to - from
	default:
		row.Waiting = to - from
	}
	c.add(&row)
}
