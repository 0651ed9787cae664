package collect

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
)

const (
	// snapshotKeywords have a collection that a session asks for list the objects, with
	// their types and generations.
	snapshotKeywords = clr.KeywordGC | clr.KeywordType | clr.KeywordGCHeapDump | clr.KeywordGCHeapSurvivalAndMovement | clr.KeywordGCHeapAndTypeNames
	// snapshotLevel adds no events of allocations, as the higher ones do.
	snapshotLevel = clr.LevelInformational
	// dumpLimit is how long a snapshot may take.
	dumpLimit = time.Hour
)

// ErrSilent reports a process that does not begin a snapshot.
var ErrSilent = errors.New("it has sent nothing for a minute")

// A Dump takes heap snapshots of a process: each is a full collection, which lists all
// objects when it ends. They go to one trace.
//
// A session is not answered before the collection that it asks for has ended, so that
// nothing is read meanwhile, and the runtime's buffer must have room for the snapshot. With
// two sessions, one is read while the other, which ends at once, asks for the collection.
// The runtimes before .NET 10 collect once more when the session that asked for it ends;
// with two sessions, that collection is listed too.
type Dump struct {
	Process  *diag.Process
	Output   string // as Paths takes it; "-" is Stdout
	BufferMB uint32 // of the runtime's buffer; 0 for what the process's memory asks for
	Repeat   int    // snapshots, at least 1
	Every    time.Duration
	Stdout   io.Writer
	Notify   func(Notice)

	received atomic.Pointer[atomic.Int64] // of the capture; nil before there is one
}

// Received returns how many bytes of the trace have come.
func (d *Dump) Received() int64 {
	if n := d.received.Load(); n != nil {
		return n.Load()
	}
	return 0
}

// single reports whether one session is the better choice: the second collection of a
// runtime that collects twice is then not listed, which only helps if the buffer has room
// for all of the first. It needs half of the buffer, because collections of young generations
// may list the heap before it.
func (d *Dump) single(cost gc.Opt[DumpCost]) bool {
	c, known := cost.Get()
	return known && d.Repeat == 1 && CollectsTwice(d.Process) && c.Bytes < int64(d.BufferMB)<<20/2
}

// Run takes the snapshots, until ctx is done. A snapshot with holes is taken again, up to
// three times in all, which Retaken reports. The result is nil if there is no trace.
func (d *Dump) Run(ctx context.Context) (*Result, error) {
	path, err := NewPaths(d.Output).prepare(d.Process)
	if err != nil {
		return nil, err
	}
	cost := ExpectedCost(d.Process)
	if d.BufferMB == 0 {
		d.BufferMB = bufferFor(cost)
	}
	single := d.single(cost)
	for n := 1; ; n++ {
		result, holed, err := d.record(ctx, path, single)
		if !holed || err != nil || !d.anew() || !result.Regular || result.Exited || n == dumpTries || ctx.Err() != nil {
			return result, err
		}
		d.Notify(Retaken{d.Process, n + 1, dumpTries})
		single = false
	}
}

// anew reports whether a snapshot with holes is taken again to a new file in the place of
// the first. Otherwise it follows in the same one.
func (d *Dump) anew() bool { return d.Repeat == 1 && d.Output != "-" }

// record writes a trace of the snapshots, and reports whether all have holes.
func (d *Dump) record(ctx context.Context, path string, single bool) (_ *Result, holed bool, _ error) {
	config := d.config()
	if single {
		config.Providers[0].Keywords |= clr.KeywordGCHeapCollect
	}
	if err := d.forgetTypes(ctx); err != nil {
		return nil, false, refused(ctx, d.Process, err)
	}
	session, err := d.patient().Collect(ctx, config)
	if err != nil {
		return nil, false, refused(ctx, d.Process, err)
	}
	out, err := create(path, d.Stdout)
	if err != nil {
		return nil, false, errors.Join(err, session.Close())
	}
	c := newCapture(d.Process, session, out)
	c.notify = d.Notify
	d.received.Store(&c.received)
	t := newTaker(d, c)
	defer t.in.close()
	reading, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	began := time.Now()
	go func() { ended <- c.run(reading) }()
	if !single {
		err = t.takeAll(ctx, ended)
	}
	stop()
	err = errors.Join(err, <-ended)
	if single && err == nil {
		d.Notify(Dumped{d.Process, 1, time.Since(began), 1})
	}
	t.update()
	result, unread := c.result()
	return result, result != nil && t.tally.all > 0 && t.tally.whole == 0, errors.Join(err, unread)
}

// config selects the events of a snapshot, and the names of modules and methods. From
// .NET 11 on, the runtime can wait for room in its buffer in place of losing events: the
// program is paused in any case, and the session is being read.
func (d *Dump) config() diag.Config {
	major, _ := majorOf(d.Process)
	return diag.Config{
		BufferMB: d.BufferMB, NoStacks: true, Rundown: diag.RundownMethods, Block: major >= 11,
		Providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: snapshotKeywords, Level: snapshotLevel}},
	}
}

// forgetTypes makes the runtime forget which types it has named, unless another session has
// the keyword Type on. It forgets them when a session of its provider begins and none has
// the keyword; not when an earlier snapshot's ends, if others go on, such as that of top.
func (d *Dump) forgetTypes(ctx context.Context) error { return Settle(ctx, d.patient()) }

// patient returns a client that waits for the answer to a request for a collection, which
// comes when that has ended.
func (d *Dump) patient() *diag.Client {
	client := d.Process.Client()
	client.Timeout = dumpLimit
	return client
}

// takeAll takes the snapshots.
func (t *taker) takeAll(ctx context.Context, ended chan error) error {
	for n := 1; ; n++ {
		began := time.Now()
		if err := t.takeWhole(ctx); err != nil {
			return err
		}
		t.Notify(Dumped{t.Process, n, time.Since(began), 2})
		if n == t.Repeat {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended: // of the process
			ended <- err
			return nil
		case <-time.After(time.Until(began.Add(t.Every))):
		}
	}
}
