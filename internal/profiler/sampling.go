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
)

const (
	levelCritical      = 1
	levelInformational = 4
	levelVerbose       = 5
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
)

// sampled selects sampled allocations. Runtimes before .NET 10 have allocation ticks, which are
// events of level 5.
func sampled(version string) diag.Config {
	of := diag.Provider{Name: clr.RuntimeProvider, Keywords: clr.KeywordAllocationSampling, Level: levelInformational}
	if major, _, _ := strings.Cut(version, "."); !hasSampling(major) {
		of.Keywords, of.Level = clr.KeywordGC, levelVerbose
	}
	return diag.Config{BufferMB: bufferMB, Providers: []diag.Provider{of}}
}

func hasSampling(major string) bool {
	const first = 10
	n, err := strconv.Atoi(major)
	return err == nil && n >= first
}

// A sampling is the sampled allocations of a process since the interval began.
type sampling struct {
	mu      sync.Mutex
	began   time.Time
	pass    *pass.Pass
	model   *alloc.Model
	stacks  *symbol.Stacks
	methods *symbol.Table // empty
	lost    uint64
}

func (s *sampling) begin(now time.Time) {
	s.methods = new(symbol.Table)
	s.stacks = symbol.NewStacks(s.methods)
	s.model = &alloc.Model{Stacks: s.stacks}
	s.pass = pass.New(s.model)
	s.began = now
}

// read reads the session until it ends, or ctx does.
func (s *sampling) read(ctx context.Context, session *diag.Session) error {
	dismissed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(dismissed)
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		if session.Stop(ctx) != nil {
			session.Close()
		}
	})
	defer func() {
		if !stop() {
			<-dismissed
		}
		session.Close()
	}()
	r := nettrace.NewReader(session, nettrace.Options{Want: pass.Wants(new(alloc.Model)), Idle: idle, Stacks: true})
	for ev, err := range r.Events() {
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.pass.Feed(ev)
		s.lost = r.Loss().Events
		s.mu.Unlock()
	}
	return nil
}

// addresses yields the addresses of the interval's stacks.
func (s *sampling) addresses(yield func(uint64) bool) {
	for _, t := range s.model.Totals() {
		for a := range s.stacks.Addresses(t.PID) {
			if !yield(a) {
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

// take ends the interval; it is nil if nothing was sampled.
func (s *sampling) take(n *names, now time.Time) *interval {
	s.mu.Lock()
	model, stacks, began := s.model, s.stacks, s.began
	s.begin(now)
	s.mu.Unlock()
	totals := model.Totals()
	if len(totals) == 0 {
		return nil
	}
	pid := totals[0].PID
	stacks.NameBy(n.table)
	source := model.BestSource(pid)
	return &interval{
		Allocations: export.Allocations{
			Process: &gc.Process{PID: pid}, Source: source, Stacks: stacks,
			Rows: model.Rows(pid, source, alloc.ByType|alloc.ByStack),
		},
		start: began, length: now.Sub(began),
	}
}
