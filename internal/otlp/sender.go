package otlp

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gctrail/gctrail/internal/units"
)

// Signal is a kind of telemetry.
type Signal uint8

const (
	Logs Signal = iota
	Metrics
	Profiles
	numSignals
)

// Signals returns the signals of an Endpoint. Profiles have an endpoint of their own.
func Signals() []Signal { return []Signal{Logs, Metrics} }

var signalNames = [numSignals]string{Logs: "logs", Metrics: "metrics", Profiles: "profiles"}

func (s Signal) String() string { return units.Name("Signal", signalNames[:], s) }

// Options configure a Sender.
type Options struct {
	// Endpoint is the URL that v1/logs and v1/metrics are appended to. LogsEndpoint and
	// MetricsEndpoint are the complete URL of one signal, and take precedence.
	Endpoint, LogsEndpoint, MetricsEndpoint string
	// ProfilesEndpoint is the complete URL for profiles, which Endpoint does not stand for.
	ProfilesEndpoint string
	// Media is the type of the requests' contents; empty means OTLP's.
	Media string
	// Headers are added to each request.
	Headers map[string]string
	// Uncompressed sends requests without gzip.
	Uncompressed bool
	// Timeout limits a request; 0 means 10 s.
	Timeout time.Duration
	// QueueBytes bounds the queued requests, as encoded; 0 means 8 MiB. When the queue is
	// full, the Sender drops the oldest.
	QueueBytes int
	// Refused is called when the endpoint refuses items for good, with its reason. It may
	// be nil, and is called by the goroutine of Run.
	Refused func(signal Signal, items int, why error)
	// Transport sends requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
}

const (
	defaultTimeout = 10 * time.Second
	defaultQueue   = 8 << 20
	firstPause     = time.Second
	longestPause   = 30 * time.Second
	// longestAsked bounds the delay by a Retry-After header.
	longestAsked = 5 * time.Minute
	// lastTries is how long Run continues to send the queue after ctx has ended.
	lastTries = 3 * time.Second
)

// Counts are totals of a signal's items (log records or data points) since the start.
type Counts struct {
	Sent     uint64 // acknowledged
	Rejected uint64 // refused by the endpoint
	Dropped  uint64 // had no room in the queue, or were left at the end
}

// Stats describe a Sender's work.
type Stats struct {
	Signals     [numSignals]Counts
	Requests    uint64 // sent, including repeated ones
	Failures    uint64 // requests that failed and are tried again
	QueuedBytes int
	QueuedItems int
	Err         error // of the latest request; nil if it succeeded
}

// A Sender sends pushed messages in order. Several goroutines may call its methods, only
// one may call Run.
type Sender struct {
	opts   Options
	urls   [numSignals]string
	client *http.Client
	ready  chan struct{} // holds a token if there may be something to send
	// packer compresses the requests, one after the other, because a gzip.Writer takes 0.8 MB of
	// memory: a new one for each request of some kilobytes took more time than the rest of it.
	packer  *gzip.Writer
	packing sync.Mutex // of packer

	mu      sync.Mutex
	queue   []*request
	sending *request // of the queue
	stats   Stats
}

// A request waits to be sent.
type request struct {
	signal Signal
	body   []byte
	items  int
}

// NewSender returns a Sender that sends nothing before Run. It reports endpoints
// that are not http or https URLs.
func NewSender(opts Options) (*Sender, error) {
	urls, err := endpoints(&opts)
	if err != nil {
		return nil, err
	}
	opts.Media = cmp.Or(opts.Media, mediaProtobuf)
	if opts.Timeout <= 0 {
		opts.Timeout = defaultTimeout
	}
	if opts.QueueBytes <= 0 {
		opts.QueueBytes = defaultQueue
	}
	return &Sender{
		opts: opts, urls: urls, ready: make(chan struct{}, 1),
		client: &http.Client{
			Transport:     opts.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Sends reports whether the signal has an endpoint.
func (s *Sender) Sends(signal Signal) bool { return s.urls[signal] != "" }

// check returns an error if the signal has no endpoint.
func (s *Sender) check(signal Signal) error {
	if s.Sends(signal) {
		return nil
	}
	return fmt.Errorf("no endpoint for %v", signal)
}

// Push queues a message with a number of items. It never waits for the endpoint,
// and fails if the signal has none.
func (s *Sender) Push(signal Signal, message proto.Message, items int) error {
	if err := s.check(signal); err != nil {
		return err
	}
	plain, err := proto.Marshal(message)
	if err != nil {
		return fmt.Errorf("otlp: %w", err)
	}
	return s.PushEncoded(signal, plain, items)
}

// PushEncoded does the same with a message that is encoded.
func (s *Sender) PushEncoded(signal Signal, plain []byte, items int) error {
	if err := s.check(signal); err != nil {
		return err
	}
	body, err := s.pack(plain)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, &request{signal, body, items})
	s.stats.QueuedBytes += len(body)
	s.stats.QueuedItems += items
	for s.stats.QueuedBytes > s.opts.QueueBytes && s.drop() {
	}
	s.wake()
	return nil
}

// drop drops the oldest request that is not being sent, if there is one.
func (s *Sender) drop() bool {
	for _, r := range s.queue {
		if r != s.sending {
			s.remove(r)
			s.stats.Signals[r.signal].Dropped += uint64(r.items)
			return true
		}
	}
	return false
}

func (s *Sender) pack(plain []byte) ([]byte, error) {
	if s.opts.Uncompressed {
		return plain, nil
	}
	var packed bytes.Buffer
	s.packing.Lock()
	defer s.packing.Unlock()
	if s.packer == nil {
		s.packer, _ = gzip.NewWriterLevel(&packed, gzip.BestSpeed) // the level is valid
	} else {
		s.packer.Reset(&packed)
	}
	_, err := s.packer.Write(plain)
	if err == nil {
		err = s.packer.Close()
	}
	return packed.Bytes(), err
}

// Stats returns the totals so far.
func (s *Sender) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Run sends the queue until ctx ends, and then the rest for at most three seconds. The
// remainder is counted as dropped.
func (s *Sender) Run(ctx context.Context) {
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastTries, cancel) })
	defer stop()
	for pause := firstPause; ; {
		r := s.next(ctx)
		if r == nil || last.Err() != nil {
			break
		}
		verdict := s.send(last, r)
		if n := s.note(r, &verdict); n > 0 && s.opts.Refused != nil {
			s.opts.Refused(r.signal, n, verdict.err)
		}
		if !verdict.again {
			pause = firstPause
			continue
		}
		if ctx.Err() != nil {
			break // failures at the end are not tried again
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(pause, min(verdict.after, longestAsked))):
		}
		pause = min(2*pause, longestPause)
	}
	s.giveUp()
}

// next waits for a request; it is nil when ctx has ended and none is left.
func (s *Sender) next(ctx context.Context) *request {
	for {
		s.mu.Lock()
		if len(s.queue) > 0 {
			defer s.mu.Unlock()
			s.sending = s.queue[0]
			return s.sending
		}
		s.mu.Unlock()
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *Sender) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// note counts the outcome of a request, and returns how many of its items were refused.
func (s *Sender) note(r *request, v *verdict) (rejected int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending = nil
	s.stats.Requests++
	s.stats.Err = v.err
	if v.again {
		s.stats.Failures++
		return 0
	}
	s.remove(r)
	rejected = min(v.rejected, r.items)
	s.stats.Signals[r.signal].Rejected += uint64(rejected)
	s.stats.Signals[r.signal].Sent += uint64(r.items - rejected)
	return rejected
}

// remove takes a request from the queue.
func (s *Sender) remove(r *request) {
	i := slices.Index(s.queue, r)
	s.queue = slices.Delete(s.queue, i, i+1)
	s.stats.QueuedBytes -= len(r.body)
	s.stats.QueuedItems -= r.items
}

// giveUp drops the remaining queue.
func (s *Sender) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending = nil
	for s.drop() {
	}
}
