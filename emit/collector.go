package emit

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/gctrail/gctrail/clr"
)

// ErrOrder reports a step of a collection that is out of order. The collection
// is unchanged.
var ErrOrder = errors.New("emit: step out of order")

// CollectorOptions describe a collector.
type CollectorOptions struct {
	Heaps       int    // zero means 1; more than one means server GC
	ClrInstance uint16 // distinguishes the collectors of one process
}

// A Collector raises the events of collections in the same order as the runtime, and
// numbers the collections. At any time there is at most one blocking collection and one
// background collection. Its methods, and its collections' methods, may be called by
// several goroutines.
type Collector struct {
	p   *Provider
	opt CollectorOptions

	mu         sync.Mutex
	number     uint32      // of the latest collection to start
	settings   uint32      // whose settings are in force, by number
	stopper    *Collection // that has stopped the program's threads, or is about to
	background *Collection // until it ends
	helper     *Thread     // the background collections'
}

// NewCollector returns a collector that raises its events through p.
func (p *Provider) NewCollector(opt CollectorOptions) *Collector {
	opt.Heaps = cmp.Or(opt.Heaps, 1)
	return &Collector{p: p, opt: opt}
}

// A Plan describes a collection that is about to begin.
type Plan struct {
	Generation int // 0, 1 or 2; 2 includes large and pinned objects
	Background bool
	Reason     clr.GCReason
}

func (pl Plan) check() error {
	switch {
	case pl.Generation < 0 || pl.Generation > 2:
		return fmt.Errorf("emit: generation %d", pl.Generation)
	case pl.Background && pl.Generation != 2:
		return fmt.Errorf("emit: generation %d in the background", pl.Generation)
	}
	return nil
}

// Begin begins a collection: the suspension of the program's threads begins.
// The following steps are, for a blocking collection,
//
//	Suspended, End, Resume, Resumed
//
// and for a background collection
//
//	Suspended, Resume, Resumed, Suspend, Suspended, Resume, Resumed, End.
//
// A collection of generation 0 or 1 that begins while threads run during a
// background collection is a foreground collection. Otherwise, Begin returns
// ErrOrder while a collection is in progress.
func (c *Collector) Begin(plan Plan) (*Collection, error) {
	if err := plan.check(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopper != nil:
		return nil, fmt.Errorf("%w: another collection has stopped the threads", ErrOrder)
	case c.background != nil && plan.Generation == 2:
		return nil, fmt.Errorf("%w: collection %d of generation 2 runs in the background", ErrOrder, c.background.number)
	}
	gc := &Collection{c: c, plan: plan, step: stepSuspending, course: blockingCourse, thread: c.p.thread(&c.p.shards[0])}
	switch {
	case plan.Background:
		gc.kind, gc.course = clr.GCTypeBackgroundGC, backgroundCourse
		c.background = gc
	case c.background != nil:
		gc.kind = clr.GCTypeForegroundGC
	}
	if c.opt.Heaps > 1 {
		gc.triggered()
	}
	gc.suspend(gc.thread, clr.SuspendReasonSuspendForGC)
	return gc, nil
}

// backgroundThread returns the thread of background collections.
func (c *Collector) backgroundThread() *Thread {
	if c.helper == nil {
		c.helper = c.p.thread(&c.p.shards[0])
		c.helper.Raise(&clr.GCCreateConcurrentThread{ClrInstanceID: c.opt.ClrInstance})
	}
	return c.helper
}
