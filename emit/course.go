package emit

import "fmt"

// A step is the progress of a collection.
type step uint8

const (
	stepSuspending step = iota // threads are being stopped
	stepStopped                // threads are suspended
	stepEnded                  // the collection has ended
	stepResuming               // threads are being restarted
	stepMarking                // in the background
	stepSuspendingAgain
	stepStoppedAgain
	stepResumingAgain
	stepSweeping // in the background
	stepDone
)

var stepNames = [...]string{
	"stopping the threads", "running with the threads stopped", "over but for the threads", "starting the threads",
	"marking in the background", "stopping the threads again", "running with the threads stopped again",
	"starting the threads again", "sweeping in the background", "over",
}

func (s step) String() string { return stepNames[s] }

// An action is a step of a collection that a caller reports.
type action string

const (
	actSuspend   action = "Suspend"
	actSuspended action = "Suspended"
	actEnd       action = "End"
	actResume    action = "Resume"
	actResumed   action = "Resumed"
)

// A course maps an action to the step it leads to.
type course map[action]map[step]step

var (
	blockingCourse = course{
		actSuspended: {stepSuspending: stepStopped},
		actEnd:       {stepStopped: stepEnded},
		actResume:    {stepEnded: stepResuming},
		actResumed:   {stepResuming: stepDone},
	}
	// nestedCourse is the course of a collection inside the first pause of a background
	// one. It has no suspension of its own, because the background collection suspends
	// and restarts the threads.
	nestedCourse = course{
		actEnd: {stepStopped: stepDone},
	}
	backgroundCourse = course{
		actSuspended: {stepSuspending: stepStopped, stepSuspendingAgain: stepStoppedAgain},
		actResume:    {stepStopped: stepResuming, stepStoppedAgain: stepResumingAgain},
		actResumed:   {stepResuming: stepMarking, stepResumingAgain: stepSweeping},
		actSuspend:   {stepMarking: stepSuspendingAgain},
		actEnd:       {stepSweeping: stepDone},
	}
)

// act calls do with the step that an action leads to, unless it is out of order. do sets
// gc.step.
func (gc *Collection) act(a action, do func(to step) error) error {
	gc.c.mu.Lock()
	defer gc.c.mu.Unlock()
	to, ok := gc.course[a][gc.step]
	if !ok {
		return fmt.Errorf("%w: %s of collection %d, which is %v", ErrOrder, a, gc.number, gc.step)
	}
	return do(to)
}
