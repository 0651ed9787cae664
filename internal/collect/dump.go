package collect

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/proc"
)

const (
	// snapshotKeywords have a collection that a session asks for list the objects, with
	// their types and generations.
	snapshotKeywords = clr.KeywordGC | clr.KeywordType | clr.KeywordGCHeapDump | clr.KeywordGCHeapSurvivalAndMovement | clr.KeywordGCHeapAndTypeNames
	// snapshotLevel is informational: the higher ones add events of allocations.
	snapshotLevel = 4
	// DumpBufferMB is the usual size of the buffer in the process. A heap is listed at up to
	// 400 MB a second, and on a busy machine nearly nothing of it is sent meanwhile.
	DumpBufferMB = 128
	// dumpSilence is how long a process may send nothing before its first object: a
	// background collection may be running, which is not interrupted.
	dumpSilence = time.Minute
	// dumpArrival is how long the end of a snapshot may take to arrive. It arrives within a
	// tenth of a second, but on a busy machine.
	dumpArrival = 3 * time.Second
	// dumpLimit is how long a snapshot may take.
	dumpLimit = time.Hour
)

// Bytes of the heap for each object, of the snapshot for each object with its references,
// and the time that the program is paused for it: what programs of .NET 8 to 10 showed.
const (
	heapPerObject     = 50
	snapshotPerObject = 48
	pausePerObject    = 750 * time.Nanosecond
)

// ErrSilent reports a process that does not begin a snapshot.
var ErrSilent = errors.New("it has sent nothing for a minute")

// A DumpCost is the expected cost of a snapshot.
type DumpCost struct {
	Bytes int64         // of the trace
	Pause time.Duration // of the program
}

// CostOf returns the cost for a heap of a size, with objects of usual sizes.
func CostOf(heap int64) DumpCost {
	objects := heap / heapPerObject
	return DumpCost{objects * snapshotPerObject, time.Duration(objects) * pausePerObject}
}

// ExpectedCost returns the most that a snapshot of a process may cost: as if all of its
// memory that is not of files were heap. It is unknown where that cannot be read.
func ExpectedCost(p *diag.Process) gc.Opt[DumpCost] {
	memory, err := proc.NewMemoryReader(p.PID).Read(false)
	anon, known := memory.Anon.Get()
	if err != nil || !known || p.PID == 0 {
		return gc.Opt[DumpCost]{}
	}
	return gc.Some(CostOf(anon + memory.Swap.Or(0)))
}

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
	BufferMB uint32 // of the runtime's buffer
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

// CollectsTwice reports whether a runtime collects a second time for each snapshot.
func CollectsTwice(p *diag.Process) bool {
	major, known := majorOf(p)
	return known && major < 10
}

// majorOf returns the major version of a process's runtime, if that is known.
func majorOf(p *diag.Process) (major int, known bool) {
	if p.Info == nil {
		return 0, false
	}
	text, _, _ := strings.Cut(p.Info.RuntimeVersion, ".")
	major, err := strconv.Atoi(text)
	return major, err == nil
}

// single reports whether one session is the better choice: the second collection of a
// runtime that collects twice is then not listed, which only helps if the buffer has room
// for all of the first. It needs half of the buffer, because collections of young generations
// may list the heap before it.
func (d *Dump) single(cost gc.Opt[DumpCost]) bool {
	c, known := cost.Get()
	return known && d.Repeat == 1 && CollectsTwice(d.Process) && c.Bytes < int64(d.BufferMB)<<20/2
}

// Run takes the snapshots, until ctx is done. The result is nil if there is no trace.
func (d *Dump) Run(ctx context.Context) (*Result, error) {
	paths := NewPaths(d.Output)
	path := paths.Next(d.Process, time.Now())
	if err := paths.makeFolder(); err != nil {
		return nil, err
	}
	config, single := d.config(), d.single(ExpectedCost(d.Process))
	if single {
		config.Providers[0].Keywords |= clr.KeywordGCHeapCollect
	}
	if err := d.forgetTypes(ctx); err != nil {
		return nil, refused(ctx, d.Process, err)
	}
	session, err := d.patient().Collect(ctx, config)
	if err != nil {
		return nil, refused(ctx, d.Process, err)
	}
	out, err := create(path, d.Stdout)
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	c := newCapture(d.Process, session, out)
	c.notify = d.Notify
	d.received.Store(&c.received)
	reading, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- c.run(reading) }()
	if !single {
		err = d.takeAll(ctx, c, ended)
	}
	stop()
	err = errors.Join(err, <-ended)
	result, unread := c.result()
	return result, errors.Join(err, unread)
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
func (d *Dump) forgetTypes(ctx context.Context) error {
	session, err := d.patient().Collect(ctx, diag.Config{
		BufferMB: 1, NoStacks: true, Providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: 1}},
	})
	if err != nil {
		return err
	}
	return session.Close()
}

// patient returns a client that waits for the answer to a request for a collection, which
// comes when that has ended.
func (d *Dump) patient() *diag.Client {
	client := d.Process.Client()
	client.Timeout = dumpLimit
	return client
}

// takeAll takes the snapshots of a session that is being read.
func (d *Dump) takeAll(ctx context.Context, c *capture, ended chan error) error {
	for n := 1; ; n++ {
		began := time.Now()
		if err := d.take(ctx, c); err != nil {
			return err
		}
		d.Notify(Dumped{d.Process, n, time.Since(began)})
		if n == d.Repeat {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended: // of the process
			ended <- err
			return nil
		case <-time.After(time.Until(began.Add(d.Every))):
		}
	}
}

// take takes one snapshot. It does not leave the session that asks for it to the process:
// while that is open, every other session that begins causes a full collection.
func (d *Dump) take(ctx context.Context, c *capture) error {
	asking, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	go c.watchSilence(asking, giveUp)
	session, err := d.patient().Collect(asking, diag.Config{
		BufferMB: 1, NoStacks: true,
		Providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: clr.KeywordGCHeapCollect, Level: snapshotLevel}},
	})
	if err == nil {
		if CollectsTwice(d.Process) {
			c.awaitListed()
		}
		err = session.Close()
	}
	if cause := context.Cause(asking); cause != nil {
		err = cause
	}
	if err != nil {
		return &ProcessError{Title(d.Process), err}
	}
	return nil
}

// awaitListed waits until a collection that lists the heap has arrived: the runtime lists it
// again when the session that asked ends, and has no room in its buffer for both.
func (c *capture) awaitListed() {
	select {
	case <-c.listed:
	case <-time.After(dumpArrival):
	}
}

// watchSilence gives up with ErrSilent when nothing has been received for a while.
func (c *capture) watchSilence(ctx context.Context, giveUp context.CancelCauseFunc) {
	received, since := c.received.Load(), time.Now()
	for tick := time.NewTicker(time.Second); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		if n := c.received.Load(); n > received {
			received, since = n, time.Now()
		} else if time.Since(since) > dumpSilence {
			giveUp(ErrSilent)
		}
	}
}
