package findings_test

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
)

const mb = 1_000_000

// A history is the collections of a process.
type history struct {
	process gc.Process
	trace   findings.Trace
	n       int
	every   time.Duration
	change  func(i int, c *gc.Collection)
}

// calm returns a process whose collections have no findings: each tenth is a full one in
// the background, the others are young and short.
func calm() history {
	return history{
		process: gc.Process{PID: 1, Server: gc.Some(false), Stopped: 100 * time.Second},
		trace:   findings.Trace{Keywords: 1, CPUs: 2},
		n:       100, every: time.Second,
	}
}

func (h history) with(change func(i int, c *gc.Collection)) history {
	h.change = change
	return h
}

// sampled adds suspensions for CPU samples, d in all.
func (h history) sampled(d time.Duration) history {
	h.trace.Sampled = true
	h.process.Suspensions = []gc.SuspensionTotal{{Reason: clr.SuspendReasonSuspendOther, Kind: gc.PauseOther, Count: 1000, Total: d, Max: time.Second}}
	return h
}

func (h *history) collection(i int) *gc.Collection {
	c := &gc.Collection{
		Process:    &h.process,
		Number:     uint32(i + 1),
		Generation: gc.Some(0),
		Kind:       gc.Blocking,
		Reason:     gc.Some(clr.GCReasonAllocSmall),
		Start:      gc.Some(time.Duration(i)*h.every + 10*time.Microsecond),
		HeapBefore: gc.Some(int64(60 * mb)), HeapAfter: gc.Some(int64(50 * mb)), HeapPeak: gc.Some(int64(60 * mb)),
		CommittedAfter: gc.Some(int64(70 * mb)),
		Promoted:       gc.Some(int64(mb)),
		Freed:          gc.Some(int64(9 * mb)), FreedQuality: gc.Exact,
		Allocated:     gc.Some(int64(10 * mb)),
		MemoryLoad:    gc.Some(40),
		Heaps:         gc.Some(1),
		PinnedObjects: gc.Some(int64(3)),
		Handles:       gc.Some(int64(500)),
		Complete:      true,
		Generations: []gc.Generation{
			{Name: "gen0", Before: 10 * mb, After: gc.Some(int64(0)), Out: mb, Freed: gc.Some(int64(9 * mb)), Fragmentation: gc.Some(int64(0))},
			{Name: "gen1", Before: mb, After: gc.Some(int64(mb)), Fragmentation: gc.Some(int64(0))},
			{Name: "gen2", Before: 40 * mb, After: gc.Some(int64(40 * mb)), Fragmentation: gc.Some(int64(2 * mb))},
			{Name: "loh", Before: 9 * mb, After: gc.Some(int64(9 * mb)), Fragmentation: gc.Some(int64(mb))},
			{Name: "poh", After: gc.Some(int64(0)), Fragmentation: gc.Some(int64(0))},
		},
	}
	if i%10 == 9 {
		c.Generation, c.Kind, c.Promoted = gc.Some(2), gc.Background, gc.Some(int64(40*mb))
	}
	pause(c, 5*time.Millisecond, 50*time.Microsecond)
	c.End = gc.Some(c.Start.Or(0) + 5*time.Millisecond)
	if h.change != nil {
		h.change(i, c)
	}
	return c
}

// pause gives c one pause, with its suspension.
func pause(c *gc.Collection, d, suspend time.Duration) {
	begin := c.Start.Or(0) - 10*time.Microsecond
	c.PauseStart, c.AllPauses = gc.Some(begin), true
	c.Pauses = []gc.Pause{{Kind: gc.PauseBlocking, Start: begin, Duration: d, Suspend: gc.Some(suspend)}}
}

func (h history) judged() findings.Result { return h.judgedBy(findings.Options{}) }

// judgedBy judges the process with options.
func (h history) judgedBy(o findings.Options) findings.Result {
	s := h.set(o)
	return s.Judge(h.trace)[0]
}

// set returns the evidence on the process.
func (h history) set(o findings.Options) *findings.Set {
	s := &findings.Set{Options: o}
	for i := range h.n {
		s.Add(h.collection(i))
	}
	return s
}

// hurting makes all pauses ten times as long.
func hurting(c *gc.Collection) { pause(c, 120*time.Millisecond, 50*time.Microsecond) }

// old makes every second collection a full one that stops all threads.
func old(i int, c *gc.Collection) {
	hurting(c)
	if i%2 == 0 {
		c.Generation, c.Kind = gc.Some(2), gc.Blocking
	}
}

func server(p *gc.Process) { p.Server = gc.Some(true) }
