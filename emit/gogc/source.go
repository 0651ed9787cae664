package gogc

import (
	"cmp"
	"errors"
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

// Wanted returns the providers that select all events of a Source.
func Wanted() []emit.Wanted {
	return []emit.Wanted{{Provider: clr.RuntimeProvider, Keywords: 1, Level: 4}, {Provider: Provider, Level: 4}}
}

const (
	// DefaultLate is how long after its first pause a cycle can be raised.
	DefaultLate = time.Second
	// interval is how often a source polls if it is not notified of a cycle.
	interval = DefaultLate / 10
)

// Options configure a Source. The zero value costs very little.
type Options struct {
	// ExactPauses adds the exact start and end of each of a cycle's pauses, from Go's
	// execution trace, which is recorded in memory (runtime/trace.FlightRecorder). A
	// program can have only one such recorder. docs/gogc.md has its cost.
	ExactPauses bool
	// Late is how long after its first pause a cycle can be raised, and how far
	// sessions lag behind the program; 0 means DefaultLate. With ExactPauses,
	// cycles that take longer are raised without exact pauses.
	Late time.Duration
}

// NewProvider returns a provider for a Source. It must not be used for anything
// else, because its events are raised after the fact.
func NewProvider(opt Options) (*emit.Provider, error) {
	return emit.NewProvider(emit.ProviderOptions{
		Late: cmp.Or(opt.Late, DefaultLate), Process: emit.Process{Flags: clr.StartupFlagsConcurrentGC},
	})
}

// A Source raises Go's cycles from Start to Stop.
type Source struct {
	p      *emit.Provider
	first  *emit.Thread // of the first pauses
	second *emit.Thread // of the fields below
	cycle  *emit.Custom
	pauses *emit.Custom
	flight *flight // nil without exact pauses

	wake chan struct{}
	stop chan struct{}
	done chan struct{}
	once sync.Once

	seen    int64     // cycles
	read    time.Time // when now was called
	metrics readings
	live    map[int64]uint64 // bytes after cycles that were not raised yet
	missed  int              // to be read once done is closed
}

// Start raises the cycles that end from now on through p, which NewProvider made with
// the same options. With ExactPauses, it fails if the program already runs a
// FlightRecorder, or if the format of Go's execution traces is unknown.
func Start(p *emit.Provider, opt Options) (*Source, error) {
	s := &Source{p: p, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), live: make(map[int64]uint64), read: time.Now()}
	var err error
	if s.cycle, err = p.Define(goCycle); err != nil {
		return nil, err
	}
	if s.pauses, err = p.Define(goPauses); err != nil {
		return nil, err
	}
	if opt.ExactPauses {
		if s.flight, err = takeOff(); err != nil {
			return nil, err
		}
	}
	s.first = p.NewThread()
	s.second = s.first.Sibling()
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	s.seen = stats.NumGC
	s.metrics = readMetrics()
	s.watch()
	go s.run()
	return s, nil
}

// Stop raises the cycles that have ended, and stops. It returns the number of
// cycles that could not be raised, because the source could not run for a
// second, or for 256 cycles.
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
			if s.flight == nil {
				s.look()
			} else { // which is too much for each cycle
				s.note()
			}
			s.watch()
		case <-s.stop:
			s.look()
			s.first.Close()
			s.second.Close()
			if s.flight != nil {
				s.flight.recorder.Stop()
			}
			return
		}
	}
}

// watch wakes the source after the next cycle, by a cleanup of an object that nothing
// refers to.
func (s *Source) watch() {
	type sentinel struct{ _ *sentinel } // with a pointer, lest it shares its memory with others
	runtime.AddCleanup(new(sentinel), func(wake chan struct{}) {
		select {
		case wake <- struct{}{}:
		default:
		}
	}, s.wake)
}

// now returns the present time by both clocks. It takes the best of three readings,
// because the system may take the processor away between reading the one and the other:
// the one whose difference changed least.
func (s *Source) now() time.Time {
	best := time.Now()
	for range 2 {
		if t := time.Now(); s.strays(t) < s.strays(best) {
			best = t
		}
	}
	s.read = best
	return best
}

// strays returns how much the clocks moved against each other since they were
// read.
func (s *Source) strays(t time.Time) time.Duration {
	return (t.Round(0).Sub(s.read.Round(0)) - t.Sub(s.read)).Abs()
}

// note records the live heap of the latest cycle, because Go does not retain it for
// earlier cycles.
func (s *Source) note() readings {
	r := readMetrics()
	s.live[int64(r.cycles)] = r.live
	return r
}

// look raises the cycles that have ended since it looked last.
func (s *Source) look() {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	n := int(stats.NumGC - s.seen)
	if n == 0 {
		return
	}
	now, before := s.now(), s.metrics
	s.metrics = s.note()
	known := min(n, len(stats.Pause)) // the latest first
	s.missed += n - known
	if s.flight != nil {
		var previous time.Time
		if len(stats.PauseEnd) > 1 {
			previous = stats.PauseEnd[1]
		}
		s.flight.find(previous, stats.PauseEnd[0])
	}
	for i, pause := range slices.Backward(stats.Pause[:known]) {
		c := cycle{number: uint32(stats.NumGC) - uint32(i), pause: pause, reason: s.metrics.reason(before)}
		// With the clock that only goes forward, as the provider's.
		monotonic := func(t time.Time) time.Time { return now.Add(-now.Round(0).Sub(t)) }
		c.end = monotonic(stats.PauseEnd[i])
		if s.flight != nil {
			c.divide(s.flight.of(stats.PauseEnd[i]), monotonic)
		}
		c.live, c.liveKnown = s.live[int64(c.number)]
		if s.raise(&c) != nil {
			s.missed++
		}
	}
	s.seen = stats.NumGC
	clear(s.live)
	if s.cycle.Enabled() && s.metrics.cycles == uint64(stats.NumGC) {
		s.raiseCustom(before)
	}
}

// A cycle holds Go's report on a GC cycle.
type cycle struct {
	number    uint32
	reason    clr.GCReason
	end       time.Time // of its last pause
	pause     time.Duration
	live      uint64
	liveKnown bool
	pauses    []pause // if they are known
}

// A pause is a time for which the program was paused.
type pause struct{ begin, end time.Time }

func (p pause) length() time.Duration { return p.end.Sub(p.begin) }

// divide divides the cycle's pause into the stops of the execution trace. A stop of the
// trace begins before Go counts it as a pause, as a rule by less than a microsecond. If
// it is more, because the system took the processor away in between, the longest is
// shortened by the excess of the sum.
func (c *cycle) divide(stops []stop, monotonic func(time.Time) time.Time) {
	if len(stops) < 2 {
		return
	}
	var pauses []pause
	longest, sum := 0, time.Duration(0)
	for i, st := range stops {
		p := pause{monotonic(st.begin), monotonic(st.end)}
		if i == len(stops)-1 {
			p.end = c.end
		}
		pauses = append(pauses, p)
		sum += p.length()
		if p.length() > pauses[longest].length() {
			longest = i
		}
	}
	pauses[longest].begin = pauses[longest].begin.Add(sum - c.pause)
	for i, p := range pauses {
		if p.length() <= 0 || i > 0 && p.begin.Before(pauses[i-1].end) {
			return
		}
	}
	c.pauses = pauses
}

// A timed event is one of the past.
type timed struct {
	on *emit.Thread
	at time.Time
	e  clr.Event
}

// events returns the events of a cycle. If only the sum of its pauses is known, the first
// pause has no length.
func (s *Source) events(c *cycle) []timed {
	pauses := c.pauses
	if pauses == nil {
		begin := c.end.Add(-c.pause)
		pauses = []pause{{begin, begin}, {begin, c.end}}
	}
	var events []timed
	add := func(on *emit.Thread, at time.Time, list ...clr.Event) {
		for _, e := range list {
			events = append(events, timed{on, at, e})
		}
	}
	restart := []clr.Event{&clr.GCRestartEEBegin{}, &clr.GCRestartEEEnd{}}
	add(s.first, pauses[0].begin,
		&clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC, Count: c.number - 1},
		&clr.GCStart{Count: c.number, Depth: 2, Reason: c.reason, Type: clr.GCTypeBackgroundGC})
	add(s.first, pauses[0].end, restart...)
	for _, p := range pauses[1:] {
		add(s.second, p.begin, &clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGCPrep, Count: c.number})
		add(s.second, p.end, restart...)
	}
	add(s.second, c.end, &clr.GCEnd{Count: c.number, Depth: 2})
	if c.liveKnown {
		add(s.second, c.end, &clr.GCHeapStats{GenerationSize2: c.live, TotalPromotedSize2: c.live})
	}
	return events
}

// raise raises a cycle's events: none if they are too late, and less exact ones if only
// the first pauses are too late.
func (s *Source) raise(c *cycle) error {
	events := s.events(c)
	err := events[0].raise()
	if errors.Is(err, emit.ErrLate) && c.pauses != nil {
		c.pauses = nil
		events = s.events(c)
		err = events[0].raise()
	}
	if err != nil {
		return err
	}
	for _, ev := range events[1:] {
		if err := ev.raise(); err != nil {
			return err
		}
	}
	if c.pauses != nil {
		s.raisePauses(c)
	}
	return nil
}

func (t *timed) raise() error { return t.on.RaiseAt(t.at, t.e) }

// goCycle and goPauses carry figures for which .NET has no event.
var (
	goCycle = trace.Descriptor{Provider: Provider, ID: 1, Name: "GoCycle", Level: 4, Fields: []trace.Field{
		{Name: "Number", Type: trace.Uint32},
		{Name: "HeapLiveBytes", Type: trace.Uint64},
		{Name: "HeapGoalBytes", Type: trace.Uint64},
		{Name: "AllocatedBytes", Type: trace.Uint64},
		{Name: "AssistCPUSeconds", Type: trace.Float64},
		{Name: "DedicatedCPUSeconds", Type: trace.Float64},
		{Name: "IdleCPUSeconds", Type: trace.Float64},
		{Name: "PauseCPUSeconds", Type: trace.Float64},
	}}
	goPauses = trace.Descriptor{Provider: Provider, ID: 2, Name: "GoPauses", Level: 4, Fields: []trace.Field{
		{Name: "Number", Type: trace.Uint32},
		{Name: "Nanoseconds", Type: trace.Array, Elem: &trace.Field{Type: trace.Uint64}},
	}}
)

func (s *Source) raiseCustom(before readings) {
	m := &s.metrics
	// The error is always nil, because the values match the fields in number and type.
	_ = s.cycle.Raise(uint32(m.cycles), m.live, m.goal, m.allocated,
		m.assist-before.assist, m.dedicated-before.dedicated, m.idle-before.idle, m.pause-before.pause)
}

// raisePauses raises the event for a cycle whose pauses are exact.
func (s *Source) raisePauses(c *cycle) {
	var ns []uint64
	for _, p := range c.pauses {
		ns = append(ns, uint64(p.length()))
	}
	_ = s.pauses.Raise(c.number, ns) // as above
}
