package profiler

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/internal/otlp"
)

// Options configure a Profiler.
type Options struct {
	// URL is where profiles go: the address of a Pyroscope, or of an endpoint of OTLP/HTTP
	// with "otlp+" before it.
	URL      string
	Interval time.Duration // of profiles
	Headers  map[string]string
	Timeout  time.Duration // of a request
	Queue    int           // bytes of profiles that wait for the receiver
	// Problem is called with the first refusal of the receiver only, because the others say the
	// same, and with the first rest of each process. It may be nil.
	Problem func(error)
}

// A Subject is a process that is profiled.
type Subject struct {
	*diag.Process
	Service    string
	Labels     []Label        // for Pyroscope
	Attributes map[string]any // for OTLP: strings and int64s
}

// A Label is a name with a value.
type Label struct{ Name, Value string }

// Stats are totals since the start.
type Stats struct {
	Sent, Rejected, Dropped uint64 // profiles
	Failures                uint64 // requests that failed and are tried again
	QueuedBytes             int
	Sampling                int    // processes
	Lists                   uint64 // of methods
	Sessions                uint64 // that could not begin, or ended early
	Rests                   uint64 // of processes that raised too many events
	Lost                    uint64 // events
}

// A Profiler profiles processes. Several goroutines may call its methods, only one may call
// Run.
type Profiler struct {
	opts   Options
	encode *encoding
	sender *otlp.Sender

	mu      sync.Mutex
	ended   bool
	ending  map[int]context.CancelFunc
	stats   Stats // Dropped are profiles that could not be encoded
	running sync.WaitGroup
	refusal sync.Once
}

const (
	// otlpScheme before a URL says that it takes OTLP.
	otlpScheme = "otlp+"
	firstPause = 5 * time.Second
	lastPause  = 5 * time.Minute
	// dearness is how many times as long as a list of methods took its successor waits, so that
	// at most 2 % of the time goes into lists.
	dearness = 50
	// longestWait bounds how long an interval goes on for its names, because an interval that
	// never ends would never be seen.
	longestWait = 5 * time.Minute
)

// New returns a Profiler that does nothing before Run. It reports URLs that are none.
func New(opts Options) (*Profiler, error) {
	p := &Profiler{opts: opts, encode: &encodings[toPyroscope], ending: make(map[int]context.CancelFunc)}
	url, isOTLP := strings.CutPrefix(opts.URL, otlpScheme)
	if isOTLP {
		p.encode = &encodings[toOTLP]
	}
	if !otlp.IsURL(url) { // before the path, which would pass for a host
		return nil, fmt.Errorf("%q is not the http or https URL of a Pyroscope, such as http://127.0.0.1:4040, or of a Collector with %[2]s before it, such as %[2]shttp://127.0.0.1:4318", opts.URL, otlpScheme)
	}
	sender, err := otlp.NewSender(otlp.Options{
		ProfilesEndpoint: strings.TrimSuffix(url, "/") + p.encode.path, Media: p.encode.media, Headers: opts.Headers,
		Timeout: opts.Timeout, QueueBytes: opts.Queue, Refused: p.refused,
	})
	p.sender = sender
	return p, err
}

func (p *Profiler) refused(_ otlp.Signal, _ int, why error) {
	p.refusal.Do(func() { p.problem(fmt.Errorf("the receiver refuses profiles: %w", why)) })
}

func (p *Profiler) problem(err error) {
	if p.opts.Problem != nil {
		p.opts.Problem(err)
	}
}

// Run sends profiles until ctx ends, and then those of the unfinished intervals.
func (p *Profiler) Run(ctx context.Context) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var sender sync.WaitGroup
	sender.Go(func() { p.sender.Run(sending) })
	<-ctx.Done()
	p.mu.Lock()
	p.ended = true
	for _, end := range p.ending {
		end()
	}
	p.mu.Unlock()
	p.running.Wait()
	cancel()
	sender.Wait()
}

// Attach profiles a process until Detach of its id, or the end of ctx.
func (p *Profiler) Attach(ctx context.Context, id int, of *Subject) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	ctx, p.ending[id] = context.WithCancel(ctx)
	p.running.Go(func() { p.follow(ctx, of) })
}

// Detach ends the profiling of a process.
func (p *Profiler) Detach(id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if end := p.ending[id]; end != nil {
		end()
		delete(p.ending, id)
	}
}

// Stats returns the totals so far.
func (p *Profiler) Stats() Stats {
	sent := p.sender.Stats()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	of := sent.Signals[otlp.Profiles]
	s.Sent, s.Rejected, s.Dropped = of.Sent, of.Rejected, s.Dropped+of.Dropped
	s.Failures, s.QueuedBytes = sent.Failures, sent.QueuedBytes
	return s
}

func (p *Profiler) count(f func(*Stats)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.stats)
}

// follow samples a process until ctx ends. Sessions that cannot begin, or end soon, begin again
// after growing pauses, because each of them costs the process.
func (p *Profiler) follow(ctx context.Context, of *Subject) {
	w := work{profiler: p, subject: of, client: of.Client(), names: newNames()}
	w.sampling.begin(time.Now())
	var sends sync.WaitGroup
	sends.Go(func() { w.run(ctx) })
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		began := time.Now()
		w.sample(ctx)
		if ctx.Err() == nil {
			p.count(func(s *Stats) { s.Sessions++ })
		}
		if time.Since(began) > lastPause {
			pause = firstPause
		}
		if !wait(ctx, pause) {
			break
		}
	}
	sends.Wait()
	w.sampling.ending = true
	w.send(time.Now())
}

// A work samples a process, and names and sends its intervals.
type work struct {
	profiler *Profiler
	subject  *Subject
	client   *diag.Client
	sampling sampling
	names    *names
	next     time.Time // not before it is a list of methods asked for
	// pause is the time between lists. It doubles at first, because programs come to call
	// other methods soon after their start.
	pause   time.Duration
	lost    uint64
	limited sync.Once
}

// sample reads sessions until one cannot begin or breaks off. Between them, the process rests.
func (w *work) sample(ctx context.Context) {
	version := ""
	if w.subject.Info != nil {
		version = w.subject.Info.RuntimeVersion
	}
	for {
		session, err := w.client.Collect(ctx, sampled(version, w.sampling.unloading))
		if err != nil {
			return
		}
		w.profiler.count(func(s *Stats) { s.Sampling++ })
		rest, again := w.sampling.read(ctx, w.client, session)
		w.profiler.count(func(s *Stats) { s.Sampling-- })
		switch {
		case !again:
			return
		case rest == 0:
			continue
		}
		w.profiler.count(func(s *Stats) { s.Rests++ })
		w.limited.Do(func() {
			w.profiler.problem(fmt.Errorf("%s (%d) is sampled part of the time, because it raises more than %d events a second for its profile", w.subject.Name, w.subject.PID, maxEvents))
		})
		if !wait(ctx, rest) {
			return
		}
	}
}

// run ends intervals until ctx ends. Processes do so at different times, because the lists of
// methods of all at once would stop them all at once.
func (w *work) run(ctx context.Context) {
	interval := w.profiler.opts.Interval
	first := time.Duration(rand.Int64N(int64(interval)/2)) + interval/2
	for at := first; wait(ctx, at); at = interval {
		now := time.Now()
		if w.named(ctx, now) {
			w.send(now)
		}
	}
}

// named names the interval's addresses, and reports whether the interval can be sent.
func (w *work) named(ctx context.Context, now time.Time) bool {
	unknown, full := w.sampling.unnamed(w.names)
	if unknown == 0 {
		return true
	}
	if now.Before(w.next) {
		return full
	}
	_ = w.names.list(ctx, w.subject.Client()) // without it, frames have no names
	w.profiler.count(func(s *Stats) { s.Lists++ })
	w.pause = min(longestWait, dearness*time.Since(now), 2*max(w.pause, w.profiler.opts.Interval))
	w.next = now.Add(w.pause)
	return true
}

// send ends the interval and queues its profile.
func (w *work) send(now time.Time) {
	i, lost := w.sampling.take(w.names, now)
	w.profiler.count(func(s *Stats) { s.Lost += lost - w.lost })
	w.lost = lost
	if i == nil {
		return
	}
	i.Process.Name = w.subject.Name
	body, err := w.profiler.encode.encode(w.subject, profile.Allocations([]*export.Allocations{&i.Allocations}), i.start, i.length)
	if err == nil {
		err = w.profiler.sender.PushEncoded(otlp.Profiles, body, 1)
	}
	if err != nil {
		w.profiler.count(func(s *Stats) { s.Dropped++ })
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
