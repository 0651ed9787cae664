package gogc

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/trace"
)

// Provider is the name of the provider that raises GoCycle.
const Provider = "Go.GC"

// Wanted are the providers that a session asks for to get all that a Source
// raises.
var Wanted = []emit.Wanted{{Provider: clr.RuntimeProvider, Keywords: 1, Level: 4}, {Provider: Provider, Level: 4}}

const (
	// late is how long after its end a cycle can be raised; sessions are as far
	// behind.
	late = time.Second
	// interval is how often a source looks, if nothing tells it of a cycle.
	interval = late / 10
)

// NewProvider returns a provider for a Source, for this process. It is to be used
// for nothing else, since its events are raised after the fact.
func NewProvider() (*emit.Provider, error) {
	return emit.NewProvider(emit.ProviderOptions{Late: late, Process: emit.Process{Flags: clr.StartupFlagsConcurrentGC}})
}

// A Source raises Go's cycles from Start to Stop.
type Source struct {
	p      *emit.Provider
	first  *emit.Thread // of the first pauses
	second *emit.Thread // of what follows
	cycle  *emit.Custom

	wake chan struct{}
	stop chan struct{}
	done chan struct{}
	once sync.Once

	seen    int64 // cycles
	metrics readings
	missed  int // to be read once done is closed
}

// Start raises the cycles that end from now on through p, which NewProvider
// made.
func Start(p *emit.Provider) (*Source, error) {
	cycle, err := p.Define(trace.Descriptor{Provider: Provider, ID: 1, Name: "GoCycle", Level: 4, Fields: []trace.Field{
		{Name: "Number", Type: trace.Uint32},
		{Name: "HeapLiveBytes", Type: trace.Uint64},
		{Name: "HeapGoalBytes", Type: trace.Uint64},
		{Name: "AllocatedBytes", Type: trace.Uint64},
		{Name: "AssistCPUSeconds", Type: trace.Float64},
		{Name: "DedicatedCPUSeconds", Type: trace.Float64},
		{Name: "IdleCPUSeconds", Type: trace.Float64},
		{Name: "PauseCPUSeconds", Type: trace.Float64},
	}})
	if err != nil {
		return nil, err
	}
	first := p.NewThread()
	s := &Source{
		p: p, first: first, second: first.Beside(), cycle: cycle,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	s.seen = stats.NumGC
	s.metrics = readMetrics()
	s.watch()
	go s.run()
	return s, nil
}

// Stop raises the cycles that have ended, and stops. It returns the number of
// cycles that could not be raised, because the source was kept from running for
// a second, or for 256 cycles.
func (s *Source) Stop() (missed int) {
	s.once.Do(func() { close(s.stop) })
	<-s.done
	return s.missed
}

func (s *Source) run() {
	defer close(s.done)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.look()
		case <-s.wake:
			s.look()
			s.watch()
		case <-s.stop:
			s.look()
			s.first.Close()
			s.second.Close()
			return
		}
	}
}

// watch has the source woken after the next cycle, which finds an object that
// nothing refers to.
func (s *Source) watch() {
	type sentinel struct{ _ *sentinel } // with a pointer, lest it shares its memory with others
	runtime.AddCleanup(new(sentinel), func(wake chan struct{}) {
		select {
		case wake <- struct{}{}:
		default:
		}
	}, s.wake)
}

// look raises the cycles that have ended since it looked last.
func (s *Source) look() {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	n := int(stats.NumGC - s.seen)
	if n == 0 {
		return
	}
	now, before := time.Now(), s.metrics
	s.metrics = readMetrics()
	known := min(n, len(stats.Pause)) // the latest first
	s.missed += n - known
	for i, pause := range slices.Backward(stats.Pause[:known]) {
		c := cycle{number: uint32(stats.NumGC) - uint32(i), pause: pause, reason: s.metrics.reason(before)}
		// With the clock that only goes forward, as the provider's.
		c.end = now.Add(-now.Round(0).Sub(stats.PauseEnd[i]))
		if i == 0 && s.metrics.cycles == uint64(stats.NumGC) {
			c.live, c.liveKnown = s.metrics.live, true
		}
		if s.raise(&c) != nil {
			s.missed++
		}
	}
	s.seen = stats.NumGC
	if s.cycle.Enabled() && s.metrics.cycles == uint64(stats.NumGC) {
		s.raiseCustom(before)
	}
}

// A cycle is what Go tells of one.
type cycle struct {
	number    uint32
	reason    clr.GCReason
	end       time.Time // of its second pause
	pause     time.Duration
	live      uint64
	liveKnown bool
}

// raise raises a cycle's events. It raises none of them if they are too late.
func (s *Source) raise(c *cycle) error {
	start := c.end.Add(-c.pause)
	last := c.number - 1
	events := []struct {
		on *emit.Thread
		at time.Time
		e  clr.Event
	}{
		{s.first, start, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC, Count: last}},
		{s.first, start, &clr.GCStart{Count: c.number, Depth: 2, Reason: c.reason, Type: clr.GCTypeBackgroundGC}},
		{s.first, start, &clr.GCRestartEEBegin{}},
		{s.first, start, &clr.GCRestartEEEnd{}},
		{s.second, start, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGCPrep, Count: c.number}},
		{s.second, c.end, &clr.GCRestartEEBegin{}},
		{s.second, c.end, &clr.GCRestartEEEnd{}},
		{s.second, c.end, &clr.GCEnd{Count: c.number, Depth: 2}},
		{s.second, c.end, &clr.GCHeapStats{GenerationSize2: c.live, TotalPromotedSize2: c.live}},
	}
	if !c.liveKnown {
		events = events[:len(events)-1]
	}
	for _, ev := range events {
		if err := ev.on.RaiseAt(ev.at, ev.e); err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) raiseCustom(before readings) {
	m := &s.metrics
	// Number and types of the values are those of Start: there is no error.
	_ = s.cycle.Raise(uint32(m.cycles), m.live, m.goal, m.allocated,
		m.assist-before.assist, m.dedicated-before.dedicated, m.idle-before.idle, m.pause-before.pause)
}
