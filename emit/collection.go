package emit

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// A Collection is a collection in progress. Its methods raise its events. A
// method called out of order returns ErrOrder and raises nothing.
type Collection struct {
	c      *Collector
	plan   Plan
	kind   clr.GCType
	number uint32
	course course
	step   step
	outer  *Collection // the background collection in whose first pause it runs
	inner  *Collection // that runs in this one's first pause
	thread *Thread

	suspended int64 // ticks of the latest SuspendEEBegin
	started   int64
	pause     time.Duration
}

// Number returns the collection's number, 0 before it has started.
func (gc *Collection) Number() uint32 {
	gc.c.mu.Lock()
	defer gc.c.mu.Unlock()
	return gc.number
}

// Pause returns how long the program's threads have been paused for the
// collection in its completed pauses: from Begin or Suspend to Resume, without
// the time of a collection that ran inside the first pause.
func (gc *Collection) Pause() time.Duration {
	gc.c.mu.Lock()
	defer gc.c.mu.Unlock()
	return gc.pause
}

// Suspend records that the threads are being stopped for the final pause of a
// background collection.
func (gc *Collection) Suspend() error {
	return gc.act(actSuspend, func(to step) error {
		if gc.c.stopper != nil {
			return fmt.Errorf("%w: another collection has stopped the threads", ErrOrder)
		}
		gc.step = to
		helper := gc.c.backgroundThread()
		helper.Raise(&clr.BGC1stConEnd{ClrInstanceID: gc.c.opt.ClrInstance})
		gc.suspend(helper, clr.SuspendReasonSuspendForGCPrep)
		return nil
	})
}

// suspend begins a pause on a thread. Its number is that of the settings in force, as in
// the runtime (threadsuspend.cpp; gc.cpp, settings.gc_index): a collection that ran during
// a background one has restored that one's.
func (gc *Collection) suspend(on *Thread, reason clr.SuspendReason) {
	gc.c.stopper = gc
	gc.suspended = on.raise(&clr.GCSuspendEEBegin{Reason: reason, Count: gc.c.settings, ClrInstanceID: gc.c.opt.ClrInstance})
}

// Suspended records that all threads are suspended: the collection starts, or
// its final pause continues.
func (gc *Collection) Suspended() error {
	return gc.act(actSuspended, func(to step) error {
		gc.step = to
		gc.pausing().Raise(&clr.GCSuspendEEEnd{ClrInstanceID: gc.c.opt.ClrInstance})
		if gc.step == stepStoppedAgain {
			gc.pausing().Raise(&clr.BGC2ndNonConBegin{ClrInstanceID: gc.c.opt.ClrInstance})
			return nil
		}
		if gc.c.opt.Heaps == 1 {
			gc.triggered()
		}
		gc.start()
		if gc.plan.Background {
			gc.c.backgroundThread()
		}
		return nil
	})
}

func (gc *Collection) triggered() {
	gc.thread.Raise(&clr.GCTriggered{Reason: gc.plan.Reason, ClrInstanceID: gc.c.opt.ClrInstance})
}

func (gc *Collection) start() {
	gc.c.number++
	gc.number, gc.c.settings = gc.c.number, gc.c.number
	gc.started = gc.thread.raise(&clr.GCStart{
		Count: gc.number, Depth: uint32(gc.plan.Generation), Reason: gc.plan.Reason, Type: gc.kind, ClrInstanceID: gc.c.opt.ClrInstance,
	})
}

// pausing returns the thread of the pause that the collection is in, because the final
// pause of a background collection has a thread of its own.
func (gc *Collection) pausing() *Thread {
	if gc.step >= stepSuspendingAgain && gc.plan.Background {
		return gc.c.backgroundThread()
	}
	return gc.thread
}

// BeginInside begins a collection of generation 0 or 1 in the first pause of a
// background collection. Its only further step is End, which must come before
// the background collection's Resume.
func (gc *Collection) BeginInside(plan Plan) (*Collection, error) {
	if err := plan.check(); err != nil {
		return nil, err
	}
	gc.c.mu.Lock()
	defer gc.c.mu.Unlock()
	if !gc.plan.Background || gc.step != stepStopped || gc.inner != nil || plan.Generation == 2 {
		return nil, fmt.Errorf("%w: BeginInside, generation %d, of collection %d, which is %v", ErrOrder, plan.Generation, gc.number, gc.step)
	}
	gc.inner = &Collection{c: gc.c, plan: plan, course: nestedCourse, step: stepStopped, outer: gc, thread: gc.thread}
	gc.inner.start()
	return gc.inner, nil
}

// Resume records that the threads are being restarted.
func (gc *Collection) Resume() error {
	return gc.act(actResume, func(to step) error {
		if gc.inner != nil {
			return fmt.Errorf("%w: Resume of collection %d before End of %d", ErrOrder, gc.number, gc.inner.number)
		}
		gc.step = to
		instance := gc.c.opt.ClrInstance
		switch {
		case to == stepResuming && gc.plan.Background:
			gc.c.helper.Raise(&clr.BGCBegin{ClrInstanceID: instance})
			gc.c.helper.Raise(&clr.BGC1stNonConEnd{ClrInstanceID: instance})
		case to == stepResumingAgain:
			gc.c.helper.Raise(&clr.BGC2ndNonConEnd{ClrInstanceID: instance})
		}
		at := gc.pausing().raise(&clr.GCRestartEEBegin{ClrInstanceID: instance})
		gc.pause += time.Duration(at - gc.suspended)
		return nil
	})
}

// Resumed records that all threads run again.
func (gc *Collection) Resumed() error {
	return gc.act(actResumed, func(to step) error {
		gc.pausing().Raise(&clr.GCRestartEEEnd{ClrInstanceID: gc.c.opt.ClrInstance})
		gc.step = to
		gc.c.stopper = nil
		switch to {
		case stepSweeping:
			gc.c.helper.Raise(&clr.BGC2ndConBegin{ClrInstanceID: gc.c.opt.ClrInstance})
		case stepMarking, stepDone:
			gc.thread.Close()
		}
		return nil
	})
}

// Mark records that a heap has been marked from one kind of root, and how many
// bytes this reached.
func (gc *Collection) Mark(heap int, root clr.RootType, bytes uint64) error {
	return gc.Raise(&clr.GCMarkWithType{HeapNum: uint32(heap), ClrInstanceID: gc.c.opt.ClrInstance, Type: root, Bytes: bytes})
}

// Committed records how much memory is committed. The runtime reports it at the
// start of every collection, and again at the end of a blocking one.
func (gc *Collection) Committed(u clr.CommittedUsage) error {
	return gc.Raise(&clr.GCDynamicEvent{
		Name: clr.NewUTF16("CommittedUsage"), Data: u.Append(nil), ClrInstanceID: gc.c.opt.ClrInstance,
	})
}

// Raise raises another event on the collection's thread, between Suspended and
// End. Events that the steps raise are refused.
func (gc *Collection) Raise(e clr.Event) error {
	gc.c.mu.Lock()
	defer gc.c.mu.Unlock()
	if gc.number == 0 || gc.step == stepEnded || gc.step == stepResuming && !gc.plan.Background || gc.step == stepDone || ofSteps[e.EventKind()] {
		return fmt.Errorf("%w: %v in collection %d, which is %v", ErrOrder, e.EventKind(), gc.number, gc.step)
	}
	t := gc.thread
	if gc.plan.Background && gc.step >= stepMarking {
		t = gc.c.backgroundThread()
	}
	t.Raise(e)
	return nil
}

// ofSteps has the kinds of events that the steps raise.
var ofSteps = map[clr.Kind]bool{
	clr.KindGCSuspendEEBegin: true, clr.KindGCSuspendEEEnd: true, clr.KindGCRestartEEBegin: true, clr.KindGCRestartEEEnd: true,
	clr.KindGCTriggered: true, clr.KindGCStart: true, clr.KindGCEnd: true, clr.KindGCHeapStats: true,
	clr.KindGCGlobalHeapHistory: true, clr.KindGCPerHeapHistory: true, clr.KindGCCreateConcurrentThread: true,
	clr.KindBGCBegin: true, clr.KindBGC1stNonConEnd: true, clr.KindBGC1stConEnd: true, clr.KindBGC2ndNonConBegin: true,
	clr.KindBGC2ndNonConEnd: true, clr.KindBGC2ndConBegin: true, clr.KindBGC2ndConEnd: true,
}
