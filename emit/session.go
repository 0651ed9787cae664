package emit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/outfile"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// SessionOptions select the events of a session and how it is written. The zero value
// is dotnet-trace's profile gc-collect.
type SessionOptions struct {
	// Providers selects the events; nil means GCCollect().
	Providers []Wanted
	// Version of the format: 4, which zero means, or 6.
	Version int
	// BufferBytes limits the events that wait for the writer; zero means 64
	// MiB. Each of the provider's 17 shards takes 64 KiB at a time; a session
	// with Block has at least 1.1 MiB.
	BufferBytes int
	// Block makes the program wait while the buffer is full. Otherwise events
	// are dropped, and counted.
	Block bool
	// NoRundown omits the events at the end that describe the process and runtime.
	NoRundown bool

	held bool // nothing is written before the end
}

// Wanted selects the events of a provider for a session: events up to its level with one
// of the keywords, or without any.
type Wanted struct {
	Provider string // in upper or lower case
	Keywords uint64
	Level    uint8    // 1 critical … 5 verbose
	Events   []uint32 // only these ids; nil means all
	Except   []uint32 // if Events is nil, all but these ids
}

// GCCollect returns the providers of dotnet-trace's profile gc-collect: collections
// and their pauses.
func GCCollect() []Wanted {
	return []Wanted{
		{Provider: clr.RuntimeProvider, Keywords: 0x1, Level: 4},
		{Provider: clr.PrivateProvider, Keywords: 0x1, Level: 4},
	}
}

// GCVerbose returns the provider of dotnet-trace's profile gc-verbose: collections,
// handles and samples of allocations.
func GCVerbose() []Wanted {
	return []Wanted{{Provider: clr.RuntimeProvider, Keywords: clr.KeywordGC | clr.KeywordGCHandle | clr.KeywordException, Level: 5}}
}

const defaultBuffer = 64 << 20

// drainInterval is how often a session writes its events, as the runtime's streaming
// thread does.
const drainInterval = 100 * time.Millisecond

// A Session writes the events that it selects to a trace, from its start until
// Close. A separate goroutine does the writing.
type Session struct {
	p     *Provider
	bit   int
	start int64 // ticks
	block atomic.Bool
	want  []Wanted
	opt   SessionOptions
	file  *outfile.File // to be closed with the session, or nil
	etw   *etw          // nil for a session that writes a trace
	brief bool          // its end describes the process only, not the runtime

	dropped atomic.Uint64
	streams [numShards]stream // each guarded by its shard
	chunks  chunkPool
	wake    chan struct{}
	stop    chan struct{}
	done    chan struct{}
	once    sync.Once

	sink   sink
	queues [numShards]queue // of this and the next: only the goroutine uses them
	event  trace.Event      // being written

	written map[*trace.Descriptor]uint64 // this and the next are to be read once done is closed
	err     error
}

// Start starts a session that writes to w. Close ends it, and does not close w.
func (p *Provider) Start(w io.Writer, opt SessionOptions) (*Session, error) {
	return p.startSession(nil, opt, p.nettraceTo(w, opt.Version))
}

// fileMode is the mode of new files before the umask applies.
const fileMode = 0o666

// Create starts a session that writes to a new file. Once the trace has begun, it takes
// the place of an existing one.
func (p *Provider) Create(name string, opt SessionOptions) (*Session, error) {
	f, err := outfile.CreateAny(name, fileMode)
	if err != nil {
		return nil, err
	}
	return p.startSession(f, opt, p.nettraceTo(f, opt.Version))
}

// nettraceTo returns a function that opens a .nettrace.
func (p *Provider) nettraceTo(w io.Writer, version int) func(time.Time, int64) (sink, error) {
	return func(now time.Time, ticks int64) (sink, error) {
		nw, err := nettrace.NewWriter(w, nettrace.WriterOptions{
			Version: version, Start: now, SyncTicks: ticks, PID: uint64(p.process.PID), PointerSize: pointerSize, CPUs: runtime.NumCPU(),
		})
		if err != nil {
			return nil, err
		}
		// This sequence point covers all shards. For each shard, its first event reports
		// the loss before it; for a shard that lost everything, the trace's end does.
		for i := range p.shards {
			nw.Lost(0, p.shards[i].capture, 0)
		}
		return nettraceSink{nw}, nw.SequencePoint(0)
	}
}

// startSession starts a session on the trace that open returns, given the time and the
// clock's reading at its start. It closes the file, if there is one, with the session or
// on failure.
func (p *Provider) startSession(file *outfile.File, opt SessionOptions, open func(time.Time, int64) (sink, error)) (*Session, error) {
	s, err := p.newSession(file, opt, open)
	if err == nil {
		err = s.begin()
	}
	if err != nil {
		if file != nil {
			file.Close()
		}
		return nil, err
	}
	return s, nil
}

// begin replaces an existing file, if the trace can be read while it is written, and
// starts writing.
func (s *Session) begin() error {
	_, zip := s.sink.(ctfSink)
	if s.file != nil && !zip && !s.opt.held {
		if err := s.file.Publish(); err != nil {
			s.leave()
			return errors.Join(err, s.sink.Close())
		}
	}
	go s.run()
	return nil
}

// newSession is startSession, but leaves begin to the caller.
func (p *Provider) newSession(file *outfile.File, opt SessionOptions, open func(time.Time, int64) (sink, error)) (*Session, error) {
	buffer := cmp.Or(opt.BufferBytes, defaultBuffer)
	s := &Session{
		p:       p,
		written: make(map[*trace.Descriptor]uint64),
		want:    slices.Clone(opt.Providers),
		opt:     opt,
		file:    file,
		wake:    make(chan struct{}, 1),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
	}
	if s.want == nil {
		s.want = GCCollect()
	}
	s.block.Store(opt.Block)
	s.chunks.limit = max(buffer/chunkSize, 1)
	if opt.Block { // a chunk may be reserved in each shard while another session is waited for
		s.chunks.limit = max(s.chunks.limit, numShards+1)
	}
	s.chunks.room.L = &s.chunks.mu

	// The clock is read before there can be events, because no event may be older than the
	// start.
	now := time.Now()
	s.start = p.clock.at(now)
	var err error
	if s.sink, err = open(now, s.start); err != nil {
		return nil, err
	}
	if err := p.attach(s); err != nil {
		return nil, errors.Join(err, s.sink.Close())
	}
	return s, nil
}

// wants reports whether an event is for the session (ep_session_provider_filter and
// provider_compute_event_enable_mask in the runtime).
func (s *Session) wants(d *trace.Descriptor) bool {
	if s.etw != nil {
		return s.etw.wants(d)
	}
	return s.sink.carries(d) && slices.ContainsFunc(s.want, func(w Wanted) bool { return w.has(d) })
}

func (w *Wanted) has(d *trace.Descriptor) bool {
	switch {
	case !strings.EqualFold(w.Provider, d.Provider), d.Keywords != 0 && d.Keywords&w.Keywords == 0, d.Level > w.Level:
		return false
	case w.Events != nil:
		return slices.Contains(w.Events, d.ID)
	default:
		return !slices.Contains(w.Except, d.ID)
	}
}

// Dropped returns the number of events that did not fit in the buffer, or were
// larger than 64 KiB.
func (s *Session) Dropped() uint64 { return s.dropped.Load() }

// Written yields the kinds of events that the session has written, with the
// number of events of each. It waits for the session's end.
func (s *Session) Written() iter.Seq2[*trace.Descriptor, uint64] {
	<-s.done
	return maps.All(s.written)
}

// Close ends the session: it writes the events still held, the description of
// the process, and the end mark of the trace. It waits for the writer, and
// returns its first error, also if it is called again.
func (s *Session) Close() error {
	s.end()
	<-s.done
	return s.err
}

// end asks the session to end.
func (s *Session) end() { s.once.Do(func() { close(s.stop) }) }

func (s *Session) run() {
	defer close(s.done)
	tick := time.NewTicker(drainInterval)
	defer tick.Stop()
	due, wake := tick.C, s.wake
	if s.opt.held {
		due, wake = nil, nil
	}
	for s.err == nil {
		select {
		case <-due:
		case <-wake:
		case <-s.stop:
			s.err = s.finish()
			return
		}
		s.err = s.drain(s.p.clock.now() - s.p.late)
	}
	s.leave()
	s.err = s.closeFile(cmp.Or(s.err, s.sink.Close()))
}

// finish writes the remaining events, and the end.
func (s *Session) finish() error {
	s.leave()
	err := s.drain(math.MaxInt64)
	for i := range s.streams {
		if n := s.streams[i].dropped; n > 0 {
			s.sink.Lost(s.p.shards[i].capture, n)
		}
	}
	if err == nil && !s.opt.NoRundown {
		err = s.rundown()
	}
	return s.closeFile(cmp.Or(err, s.sink.Close()))
}

// leave removes the session from the provider, so that nobody waits for it any more.
func (s *Session) leave() {
	s.block.Store(false)
	s.chunks.close()
	s.p.detach(s)
}

// closeFile closes the file, if there is one. One that was not published is discarded
// because of err.
func (s *Session) closeFile(err error) error {
	if s.file == nil {
		return err
	}
	if err == nil {
		err = s.file.Publish()
	}
	return errors.Join(err, s.file.Close())
}

// drain writes the events up to a time, in time order, and flushes.
func (s *Session) drain(until int64) error {
	for i := range s.queues {
		s.queues[i].fill(&s.p.shards[i], &s.streams[i])
	}
	for {
		q, ahead := s.oldest(until)
		if q == nil {
			break
		}
		for q.any && q.ticks <= ahead {
			if err := s.write(q); err != nil {
				return err
			}
			if chunk := q.advance(); chunk != nil {
				s.chunks.put(chunk)
			}
		}
	}
	return s.sink.Flush()
}

// oldest returns the queue with the oldest event up to a time, and the time up to which
// it has the oldest ones.
func (s *Session) oldest(until int64) (best *queue, ahead int64) {
	ahead = until
	for i := range s.queues {
		q := &s.queues[i]
		switch {
		case !q.any || q.ticks > ahead:
		case best == nil || q.ticks < best.ticks:
			if best != nil {
				ahead = best.ticks
			}
			best = q
		default:
			ahead = q.ticks
		}
	}
	return best, ahead
}

func (s *Session) write(q *queue) error {
	if q.lost > 0 {
		s.sink.Lost(q.capture, q.lost)
	}
	s.event = trace.Event{
		Desc: s.p.descriptor(q.kind), Ticks: q.ticks - s.start, TID: q.thread, CPU: trace.UnknownCPU, Payload: q.payload,
	}
	return s.writeEvent(q.capture, &s.event)
}

// writeEvent writes an event. An event that RaiseAt placed in the past, and that then had
// to wait for room, can be too late: readers find it lost.
func (s *Session) writeEvent(capture uint64, ev *trace.Event) error {
	switch err := s.sink.Write(capture, ev); {
	case errors.Is(err, trace.ErrLate):
		s.dropped.Add(1)
	case err != nil:
		return fmt.Errorf("emit: %w", err)
	default:
		s.written[ev.Desc]++
	}
	return nil
}

// chunk takes a chunk from the pool, nil if it is empty. It wakes the goroutine when half
// of the pool is used.
func (s *Session) chunk() []byte {
	b, half := s.chunks.get()
	if half {
		s.drainSoon()
	}
	return b
}

// waitForRoom waits until there is a chunk, or the session ends.
func (s *Session) waitForRoom() {
	s.drainSoon()
	s.chunks.wait()
}

// drainSoon wakes the goroutine.
func (s *Session) drainSoon() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
