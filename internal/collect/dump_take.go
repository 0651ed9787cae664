package collect

import (
	"context"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/trace"
)

const (
	// dumpSilence is how long a process may send nothing before its first object, because a
	// background collection that is running is not interrupted.
	dumpSilence = time.Minute
	// dumpArrival is how long nothing may arrive before the end of a snapshot. It arrives
	// within a tenth of a second, but on a busy machine.
	dumpArrival = 3 * time.Second
	// dumpArrivals is how long the end of a snapshot may take to arrive although
	// something does.
	dumpArrivals = time.Minute
	// dumpTries is how often a snapshot is taken if it has holes.
	dumpTries = 3
)

// The runtime's sending thread sleeps for 100 ms after each pass, and once more if a
// buffer was filled meanwhile; then it waits for an event. A heap of 80 MB of events is
// marked in 60 ms and listed in the next 110. If it is asked for 70 ms after a pass, the pass
// after the next comes when about half is listed: the next one only sends that the
// collection began. It is sooner, but soon enough, where the thread waits for an event.
const (
	sendPeriod = 100 * time.Millisecond
	sendLead   = 70 * time.Millisecond
	sendSleeps = 2
	// sendWait bounds the wait for the moment to ask for a snapshot.
	sendWait = time.Second
)

// untilMoment returns how long after a pass that ended a while ago a snapshot should be
// asked for. It is 0 if the sending thread waits for an event.
func untilMoment(since time.Duration) time.Duration {
	for n := range sendSleeps {
		if at := time.Duration(n)*sendPeriod + sendLead; since <= at {
			return at - since
		}
	}
	return 0
}

// awaitMoment waits for the moment to ask for a snapshot.
func (b *inbox) awaitMoment(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sendWait)
	defer cancel()
	for ctx.Err() == nil {
		wait := sendWait // for the end of what comes
		if since, quiet := b.silence(); quiet {
			wait = untilMoment(since)
		}
		select {
		case <-time.After(wait):
			if _, quiet := b.silence(); quiet {
				return
			}
		case <-b.sent:
		case <-ctx.Done():
		}
	}
}

// A tally counts the snapshots of a trace that have arrived.
type tally struct{ all, whole int }

// A tallier counts the snapshots of a trace while it is read.
type tallier struct {
	heap.Snapshots
	loss    *trace.Loss
	arrived chan tally // has the latest count, if nobody took it
}

// Event passes an event on. The end of a collection may be that of a snapshot, and its
// beginning that of one whose end was lost. Loss that is noticed later does not count.
func (m *tallier) Event(e *pass.Event) {
	if m.Snapshots.Event(e); e.Kind == clr.KindGCEnd || e.Kind == clr.KindGCStart {
		m.count()
	}
}

// End ends the trace, and with it a snapshot that has no end.
func (m *tallier) End() {
	m.Snapshots.End()
	m.count()
}

func (m *tallier) count() {
	var t tally
	for _, s := range m.All() {
		s.Lost(m.loss)
		t.all++
		if s.Missing.Whole() {
			t.whole++
		}
	}
	select {
	case <-m.arrived:
	default:
	}
	m.arrived <- t
}

// A taker takes the snapshots of a session that is being read.
type taker struct {
	*Dump
	capture *capture
	in      *inbox
	arrived chan tally
	tally   tally
}

// newTaker returns a taker for a capture that is not yet read.
func newTaker(d *Dump, c *capture) *taker {
	t := &taker{Dump: d, capture: c, in: newInbox(c.in), arrived: make(chan tally, 1)}
	c.in, c.snapshots = t.in, &tallier{loss: c.reader.Loss(), arrived: t.arrived}
	return t
}

// takeWhole takes a snapshot, again if it has holes, unless nothing came for it.
func (t *taker) takeWhole(ctx context.Context) error {
	for n := 1; ; n++ {
		t.update()
		received, whole := t.in.count(), t.tally.whole
		err := t.take(ctx)
		if err != nil || t.tally.whole > whole || t.anew() || t.in.count() == received || n == dumpTries || ctx.Err() != nil {
			return err
		}
		t.Notify(Retaken{t.Process, n + 1, dumpTries})
	}
}

// take takes one snapshot. It does not leave the session that asks for it to the process:
// while that is open, every other session that begins causes a full collection.
func (t *taker) take(ctx context.Context) error {
	t.in.awaitMoment(ctx)
	asking, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	go t.capture.watchSilence(asking, giveUp)
	before := t.tally
	session, err := t.patient().Collect(asking, diag.Config{
		BufferMB: 1, NoStacks: true,
		Providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: clr.KeywordGCHeapCollect, Level: snapshotLevel}},
	})
	if err == nil {
		if CollectsTwice(t.Process) {
			// The runtime lists the heap again when the session ends, and has no room in its
			// buffer for both.
			t.await(tally{before.all + 1, before.whole + 1})
		}
		err = session.Close()
	}
	if cause := context.Cause(asking); cause != nil {
		err = cause
	}
	if err != nil {
		return &ProcessError{Title(t.Process), err}
	}
	if all := before.all + 1; CollectsTwice(t.Process) {
		t.await(tally{all + 1, before.whole + 1})
	} else {
		t.await(tally{all, before.whole + 1})
	}
	return nil
}

// await waits until one more snapshot is whole, or so many have arrived, or nothing arrives.
func (t *taker) await(enough tally) {
	t.update()
	end := time.After(dumpArrivals)
	for received := t.in.count(); t.tally.all < enough.all && t.tally.whole < enough.whole; {
		select {
		case t.tally = <-t.arrived:
		case <-time.After(dumpArrival):
			n := t.in.count()
			if n == received {
				return
			}
			received = n
		case <-end:
			return
		}
	}
}

// update takes the latest tally.
func (t *taker) update() {
	select {
	case t.tally = <-t.arrived:
	default:
	}
}

// watchSilence gives up with ErrSilent when nothing has been received for a while.
func (c *capture) watchSilence(ctx context.Context, giveUp context.CancelCauseFunc) {
	received, since := c.received.Load(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		if n := c.received.Load(); n > received {
			received, since = n, time.Now()
		} else if time.Since(since) > dumpSilence {
			giveUp(ErrSilent)
		}
	}
}
