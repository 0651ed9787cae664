package profiler

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

const (
	// polling is the interval of reading: the runtime writes every 100 ms, which would wake the
	// agent hundreds of times a second for tens of processes.
	polling = 250 * time.Millisecond
	// idle is how long events wait for older ones: the runtime writes every 100 ms.
	idle = 250 * time.Millisecond
	// bufferMB is the runtime's buffer: of some 600 bytes for 100 KB allocated, seconds of the
	// fastest allocation.
	bufferMB = 16
	// endTime is how long a process may take to end its session. One that hangs would keep the
	// agent from ending.
	endTime = 3 * time.Second
	// maxFrames ends an interval whose names are awaited, so that its stacks stay bounded.
	maxFrames = 1 << 15
	// leastSampled is the least time of samples that stand for a rest: the runtime writes that
	// often, and few samples prove no large sum.
	leastSampled = 100 * time.Millisecond
)

// sampled selects sampled allocations, and the dynamic methods that are unloaded, because no list
// of methods has them any more. Runtimes before .NET 10 have allocation ticks, which are events of
// level 5, and would also raise an event for each method that they load.
//
// The methods of collectible assemblies are unloaded with an event each, and named, only at level 5
// with the keyword EndEnumeration (SendMethodEvent and GetEnumerationOptionsFromRuntimeKeywords of
// eventtrace.cpp). At that level, the runtime also names every pinned object of a collection, though
// nobody asked for the event, and with that keyword it lists all methods when the program ends.
// Therefore, programs are first asked which assemblies they unload.
func sampled(version string, unloading bool) diag.Config {
	of := diag.Provider{Name: clr.RuntimeProvider, Keywords: clr.KeywordAllocationSampling | clr.KeywordJit}
	const firstSampling = 10
	number, _, _ := strings.Cut(version, ".")
	major, err := strconv.Atoi(number)
	switch {
	case err != nil || major < firstSampling:
		of.Keywords, of.Level = clr.KeywordGC, clr.LevelVerbose
	case unloading:
		of.Keywords, of.Level = of.Keywords|clr.KeywordEndEnumeration, clr.LevelVerbose
		of.Events = []uint32{clr.KindAllocationSampled.ID(), clr.KindMethodUnloadVerbose.ID()}
	default:
		of.Keywords, of.Level = of.Keywords|clr.KeywordLoader, clr.LevelInformational
		of.Events = []uint32{clr.KindAllocationSampled.ID(), clr.KindMethodUnloadVerbose.ID(), assemblyUnload}
	}
	return diag.Config{BufferMB: bufferMB, Providers: []diag.Provider{of}}
}

// A sampling is the sampled allocations of a process since the interval began.
type sampling struct {
	mu       sync.Mutex
	began    time.Time
	from     time.Time // events from then on count in the interval; of the ones before, some came after its beginning
	pass     *pass.Pass
	model    *alloc.Model
	stacks   *symbol.Stacks
	unloaded unloaded
	lost     uint64        // since the beginning
	latest   time.Time     // of the latest event, or of the session's beginning
	resting  bool          // since then
	rested   time.Duration // before that, in the interval
	window   time.Duration // after which the next session ends, unless it is zero
	ending   bool          // this is the last interval

	unloading bool // the process unloads collectible assemblies; only read and its caller use it
}

func (s *sampling) begin(now time.Time) {
	s.rested, s.from = 0, now
	s.unloaded = unloaded{table: new(symbol.Table)}
	s.stacks = symbol.NewStacks(s.unloaded.table)
	s.model = &alloc.Model{Stacks: s.stacks}
	s.pass = pass.New(s.model)
	s.began = now
}

// read reads a session until it ends, or ctx does. If its events are too many, it returns how
// long to wait before the next session. The next one follows at once if other events are needed.
func (s *sampling) read(ctx context.Context, client *diag.Client, session *diag.Session) (rest time.Duration, again bool) {
	in := bound(ctx, session)
	defer in.close(client)
	if s.window == 0 { // a short session is read to its end without delay
		session.Poll(polling)
	}
	began, lost := time.Now(), s.lost
	s.mu.Lock()
	s.resume(began)
	s.mu.Unlock()
	r := nettrace.NewReader(in, nettrace.Options{Want: wants, Idle: idle, Stacks: true})
	in.tooMany = func() bool { return restAfter(count(r), time.Since(began)) > burst }
	if s.window > 0 {
		defer time.AfterFunc(s.window, in.fill).Stop()
	}
	for ev, err := range r.Events() {
		if err != nil {
			return 0, false // a broken session is counted, and begun again
		}
		if isCollected(ev) && !s.unloading {
			s.unloading = true
			in.fill()
		}
		s.mu.Lock()
		s.resume(began.Add(ev.Time())) // the clock of a process on another system may be wrong
		s.unloaded.feed(ev)
		s.pass.Feed(ev)
		s.lost = lost + r.Loss().Events
		s.mu.Unlock()
	}
	if !in.full.Load() {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resting = true
	took := time.Since(began)
	s.window = window(count(r), took)
	return restAfter(count(r), took), true
}

// count returns the events of all kinds so far.
func count(r *nettrace.Reader) (events uint64) {
	for _, n := range r.Counts() {
		events += n
	}
	return events
}

// wants reports whether events of a kind are read.
func wants(d *trace.Descriptor) bool {
	return clr.KindOf(d.Provider, d.ID) == clr.KindMethodUnloadVerbose || isAssemblyUnload(d) || pass.Wants(new(alloc.Model))(d)
}

// resume notes the time of an event, or of the beginning of a session, with which a rest ends.
func (s *sampling) resume(at time.Time) {
	if s.resting {
		s.rested += s.since(at)
		s.resting = false
	}
	s.latest = at
}

// since returns how much of the interval until a time came after the latest event.
func (s *sampling) since(at time.Time) time.Duration { return max(0, at.Sub(later(s.latest, s.from))) }

// until returns up to which time the interval has all events: in a session, the last ones are
// still on their way.
func (s *sampling) until(now time.Time) time.Time {
	const underway = polling + idle + 100*time.Millisecond
	if s.resting {
		return now
	}
	return later(s.from, later(s.latest, now.Add(-underway)))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// addresses yields the addresses of the interval's stacks, without the ones of methods that
// were unloaded.
func (s *sampling) addresses(yield func(uint64) bool) {
	for _, t := range s.model.Totals() {
		for a := range s.stacks.Addresses(t.PID) {
			if !s.unloaded.has(t.PID, a) && !yield(a) {
				return
			}
		}
	}
}

// unnamed notes the interval's addresses, and returns how many have no name yet, and whether
// the interval is too large to go on.
func (s *sampling) unnamed(n *names) (unknown int, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return n.note(s.addresses), s.stacks.Len() > maxFrames
}

// An interval is what a process allocated in some time.
type interval struct {
	export.Allocations
	start  time.Time
	length time.Duration
}

// take ends the interval; it is nil if nothing was sampled. An interval in which the process
// rested nearly all the time goes on, so that enough samples stand for its rest. It returns how many events were lost since
// the beginning.
func (s *sampling) take(n *names, now time.Time) (i *interval, lost uint64) {
	s.mu.Lock()
	model, stacks, gone, began, rested, lost := s.model, s.stacks, s.unloaded.table, s.began, s.rested, s.lost
	totals := model.Totals()
	if s.resting {
		rested += s.since(now)
	}
	from, until := s.from, s.until(now)
	if rested > 0 && until.Sub(from)-rested < leastSampled && !s.ending {
		s.mu.Unlock()
		return nil, lost
	}
	s.begin(now)
	s.from = until
	s.mu.Unlock()
	if len(totals) == 0 {
		return nil, lost
	}
	pid := totals[0].PID
	stacks.NameBy(gone, n.table)
	source := model.BestSource(pid)
	rows := model.Rows(pid, source, alloc.ByType|alloc.ByStack)
	extrapolate(rows, until.Sub(from), rested)
	return &interval{
		Allocations: export.Allocations{
			Process: &gc.Process{PID: pid}, Source: source, Stacks: stacks,
			Rows: rows,
		},
		start: began, length: now.Sub(began),
	}, lost
}

// extrapolate makes rows count for a rest, too.
func extrapolate(rows []alloc.Row, length, rested time.Duration) {
	factor := length.Seconds() / max(leastSampled, length-rested).Seconds()
	for i := range rows {
		r := &rows[i]
		r.Objects, r.Bytes = int64(float64(r.Objects)*factor), int64(float64(r.Bytes)*factor)
	}
}
